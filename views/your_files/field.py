"""One field for any text: a job in words, an address, a config, a launch script, an error.

What changes the plan alone does so at once; a run and its errors are read on Your files.
"""

from typing import Any

import streamlit as st

from calc.files.door import REFUSALS, one_sentence
from calc.files.link.address import link_query
from calc.files.request import KINDS, PASTED, Request, request_of
from calc.files.request_answer import check_open, row_of_request, with_model
from calc.files.request_job import assumption_sentence, job_choices, job_of_columns
from calc.files.words.request_reading import Question, without_words
from calc.job.resolve import resolve
from calc.mappings import Arguments, Cells
from calc.say.numbers import with_capital
from views.session import address, extra_state, job_state, owners, reading
from views.session import catalogs as session_catalogs
from views.shared.elements import show_error
from views.shared.markdown import plain
from views.your_files.simulate import SIMULATES, is_bounded

LABEL = "Paste or say anything"
# The field in the sidebar, which must leave room for the whole job.
SMALL: Arguments = {
    "height": 68,
    "width": 226,
    "label_visibility": "collapsed",
}
EXAMPLES = "Paste anything, or say:\nqwen3 32b for 20 people"
CANCELED = "The last text was not read to its end; put it into the field again."
PLAN, FILES = "views/plan/page.py", "views/your_files/page.py"


def field(page: str, **look: Any) -> None:
    """The field of a page; another page opens where the text belongs there."""
    state = st.session_state
    st.text_area(LABEL, key="pasted", placeholder=EXAMPLES, on_change=_take, **look)
    if (opens := state.pop("pasted_opens", page)) != page:
        st.switch_page(opens)


def outcome() -> None:
    """Draw what the last text was, what was read and assumed; or why it cannot be read."""
    is_fault, sentence = st.session_state.get("pasted_outcome", (False, ""))
    if questions := st.session_state.get("pasted_questions", ()):
        _ask(questions)
    elif is_fault:
        show_error(sentence)
    elif sentence:
        st.caption(plain(sentence))


def _ask(questions: tuple[Question, ...]) -> None:
    """Show the questions that the last text leaves open, with a button for each choice.

    Words of which no meaning is offered can be left out of the text.
    """
    for place, question in enumerate(questions):
        st.warning(plain(question.text), icon=":material/help:")
        for number, choice in enumerate(question.choices):
            st.button(choice, key=f"answer_{place}_{number}", on_click=_answer, args=(choice,))
        shorter = without_words(st.session_state["pasted"], question.words)
        if not question.choices and shorter:
            label = plain(f"Leave out '{question.words}'")
            st.button(label, key=f"leave_{place}", on_click=_take_text, args=(shorter,))


def _answer(choice: str) -> None:
    """Callback: a choice joins the text, which is read again."""
    _take_text(f"{st.session_state['pasted'].rstrip()}\n{choice}")


def _take_text(text: str) -> None:
    """Callback: another text stands in the field, and is read."""
    st.session_state["pasted"] = text
    _take()


def texts() -> dict[str, bytes]:
    """The pasted texts of a run, by what they are."""
    return st.session_state.setdefault("pasted_texts", {})


def clear() -> None:
    """Callback: nothing is pasted."""
    st.session_state.update(pasted_texts={}, pasted_outcome=(False, ""), pasted_questions=())


def _take() -> None:
    """Callback: the text becomes the plan, or part of the run on Your files."""
    state, text = st.session_state, st.session_state["pasted"]
    if not text.strip():
        return
    state["pasted_questions"] = ()
    state["pasted_outcome"] = (True, CANCELED)  # unless the reading comes to its end
    try:
        catalogs = session_catalogs.catalogs()
        request = reading.read(
            request_of, [(PASTED, text.encode(errors="replace"))], catalogs, catalogs=catalogs
        )
        kind = request.kinds[-1]
        if kind in ("run", "log") or ("run" in texts() and kind == "model"):
            if kind == "run" and "run" not in texts():
                texts().pop("model", None)  # which came alone, so it is not the run's
            texts()[kind] = text.encode()
            state["pasted_opens"], sentence = FILES, f"{with_capital(KINDS[kind])}."
        else:
            sentence, state["pasted_opens"] = one_sentence(make_plan)(request, text), PLAN
            if request.kinds == ("model",):
                texts()["model"] = text.encode()
                sentence += SIMULATES if is_bounded(row_of_request(request)) else ""
    except REFUSALS as error:
        state["pasted_questions"] = getattr(error, "questions", ())
        state["pasted_outcome"] = (True, str(error))
        return
    state["pasted"], state["pasted_outcome"] = "", (False, sentence)


def make_plan(request: Request, text: str = "") -> str:
    """The request becomes the plan; returns what it was, what was read and what is assumed."""
    if query := link_query(text):
        answers = st.session_state["kept"]
        address.open_link(query, session_catalogs.catalogs())
        st.session_state["kept"] = st.session_state["kept"] or answers
        return f"{with_capital(KINDS['link'])}."
    if request.columns.keys() != {"model"}:  # of a model alone nothing else is asked
        check_open(request)
    columns = with_model(request)
    for model, entry in request.models.items():
        session_catalogs.add_model(model, entry)
    if columns.keys() != {"model"}:
        choices = job_choices(columns, request.catalogs) | _own_context(request, columns)
        job_state.start(choices)
        names = [name for name in extra_state.assumptions() if name in choices]
        extra_state.take_assumptions(choices, names)
    job_state.choose(model=columns["model"], **_as_stored(request, columns))
    owners.take(dict(request.owners))
    st.session_state["introduced"] = True
    st.session_state.pop("looked", None)
    if columns.keys() == {"model"}:  # all else of the plan stays
        name = request.catalogs.models["name"][columns["model"]]
        return f"The model {name}. {request.remark}".strip()
    usual = assumption_sentence(job_of_columns(columns, request.catalogs), request)
    return " ".join(
        filter(
            None,
            (
                f"{with_capital(KINDS['words'])}. Read: {', '.join(_phrases(request))}.",
                usual,
                request.remark,
            ),
        )
    )


def _phrases(request: Request) -> list[str]:
    """The phrases that were read; where no phrase names a column, the column with its value."""
    return [
        meaning if phrase in request.columns else phrase for phrase, meaning in request.read.items()
    ]


def _own_context(request: Request, columns: Cells) -> dict[str, int]:
    """The context of a training whose text names none: what its examples and answers need."""
    if "sequence_tokens" in columns or columns["model"] not in request.catalogs.models.index:
        return {}
    job = resolve(job_of_columns(columns, request.catalogs), request.catalogs)
    return {"sequence_tokens": job.sequence_tokens} if job.trains else {}


def _as_stored(request: Request, columns: Arguments) -> dict[str, str]:
    """The precision of an added model whose weights are quantized, where the work can use it."""
    stored_form = request.models.get(columns["model"], {}).get("stored_precision", "")
    able = stored_form in job_state.possible_precisions(request.catalogs)
    return {"precision": stored_form} if able and "precision" not in columns else {}
