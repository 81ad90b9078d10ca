"""A run from its files: the fields to fill, its memory, its way into the plan, its lines."""

from typing import Any

import pandas as pd
import streamlit as st

from calc.catalogs.load import Catalogs
from calc.columns import GLOSSARY
from calc.files.configs.documents import names_of_tools
from calc.files.configs.field_report import Line
from calc.files.configs.fields import tools
from calc.files.configs.problem import MOST_DOCUMENTS
from calc.files.door import REFUSALS
from calc.files.imported_run import Documents, ImportedRun, import_run, sorted_documents
from calc.files.request import PASTED, Request, request_of
from calc.files.request_answer import row_of_request
from calc.job.fields import job_of
from calc.mappings import Arguments
from calc.say.differences import in_words
from calc.say.job import job_sentence, short_job
from calc.say.numbers import gib, with_noun
from calc.say.setting import name_of, setting
from calc.say.verdict import memory_of
from views.plan.memory import contents
from views.session import SESSION, job_state, kept_answers, reading
from views.session import catalogs as session_catalogs
from views.shared.elements import button, show_error
from views.shared.markdown import plain
from views.shared.row_words import figures, on_screen
from views.shared.tables import TEXT, grid
from views.shared.theme import Ink
from views.your_files import field, simulate

TITLE = "Paste or upload what you have"
READS = (
    "Read as text, never run. Configs and launch commands of {}. Logs, which correct the "
    "estimate: {}."
)
LOGS = "trainers, vLLM, SGLang, serving benchmarks, nvidia-smi, memory_summary"
WHICH_MODEL = "Which model does it run?"
QUESTION = "This is the memory of your run as its files set it. What to rent for it is on Plan: "
STANDINGS = {  # of a line, in the order of the table -> what became of it
    "unused": "not used by the estimate",
    "read": "read",
    "open": "left to the plan",
    "assumed": "the tool's default",
    "idle": "without effect on memory or cost",
    "aside": "another command",
}
OUTSIDE = {"assumed": "settled by the tool's default", "open": STANDINGS["open"]}
WIDTHS: Arguments = {
    "Field": "medium",
    "In the file": "medium",
    "What became of it": "small",
    "In the plan": "large",
    "File": "small",
}
CHOSEN = {"instance": "the instance", "gpus": "how many GPUs", "batch": "the micro-batch"}


def documents_and_logs() -> tuple[list[tuple[Any, ...]], list[bytes]]:
    """The documents of one run, and the messages and logs of its failure."""
    field.field(field.FILES, height=150)
    field.outcome()
    files = st.file_uploader(
        "Or upload files, several at once", key="brought_files", accept_multiple_files=True
    )
    texts = field.texts()
    if texts:
        button(
            "Clear what was pasted", field.clear, icon="close", type="tertiary", key="clear_pasted"
        )
    else:
        st.caption(READS.format(names_of_tools(), LOGS))
    documents = [(file.name, file.getvalue()) for file in files[:MOST_DOCUMENTS]]
    configs, logs = _sort_uploads(documents, session_catalogs.catalogs()) if documents else ([], [])
    configs += [(PASTED, texts[name]) for name in ("run", "model") if name in texts]
    return configs, [content for _, content in logs] + ([texts["log"]] if "log" in texts else [])


def _sort_uploads(documents: Documents, catalogs: Catalogs) -> tuple[Documents, Documents]:
    """Uploads as configs and logs; none of either, and a sentence, where they cannot be read."""
    try:
        configs, logs = reading.read(sorted_documents, documents, catalogs=catalogs)
    except REFUSALS as error:
        show_error(error)
        return [], []
    return list(configs), list(logs)


def read(documents: list[tuple[str, bytes]], catalogs: Catalogs) -> ImportedRun | None:
    """The run of the documents, read once; its model is asked for where they name none."""
    if not documents:
        return None
    try:
        request = reading.read(request_of, documents, catalogs, catalogs=catalogs)
        if request.run is None:
            button(
                "Use in Plan",
                _take_model,
                request,
                icon="arrow_forward",
                type="primary",
                key="take_model",
            )
            st.markdown(
                plain(
                    f"The config of {', '.join(request.models)}: it becomes the model of the plan."
                )
            )
            simulate.panel(documents, row_of_request(request), request.models, catalogs)
            return None
        result = _read(documents, "", catalogs)
        if result.lacks_model and (model := which_model(result.catalogs, result.row["problem"])):
            result = _read(documents, model, catalogs)
    except REFUSALS as error:
        show_error(error)
        return None
    return result


def which_model(catalogs: Catalogs, why: str = "") -> str:
    """The model that the visitor names for a run whose files do not; empty until then."""
    names = catalogs.models["name"].to_dict()
    if why:
        st.markdown(plain(why))
    look = {"format_func": names.__getitem__, "placeholder": "Choose or type a name"}
    return (
        st.selectbox(WHICH_MODEL, list(names), index=None, key="brought_model", **look, **SESSION)
        or ""
    )


def _read(documents: list[tuple[str, bytes]], model: str, catalogs: Catalogs) -> ImportedRun:
    return reading.read(import_run, documents, catalogs, model, catalogs=catalogs)


def estimate(result: ImportedRun, ink: Ink) -> None:
    """The memory of the run as it stands, and the two ways on: into the plan, or beside it."""
    row = result.row
    if row["problem"] and not result.lacks_model:
        st.warning(plain(on_screen(row["problem"])), icon=":material/rule:")
    if row["memory_bytes"] != row["memory_bytes"]:
        return
    st.markdown(plain(f"{memory_of(row)} · {setting(row, result.catalogs)}"))
    contents(row, ink)
    with st.container(horizontal=True, vertical_alignment="center"):
        is_pressed = button(
            "Use in Plan", _take, result, icon="arrow_forward", type="primary", key="take_brought"
        )
        button(
            "Keep",
            _keep,
            result,
            icon="bookmark_add",
            disabled=kept_answers.is_full(),
            key="keep_brought",
        )
        st.markdown(plain(QUESTION + _becomes(result)), width="stretch")
    if is_pressed:
        st.switch_page("views/plan/page.py")


def lines(result: ImportedRun) -> None:
    """Every field of the files and what became of it; what is not used comes first."""
    st.header("Line by line", anchor=False)
    st.markdown(plain(_summary(result.lines)))
    order = list(STANDINGS)
    table = pd.DataFrame(
        [
            _line(field, result)
            for field in sorted(result.lines, key=lambda line: order.index(line.standing))
        ]
    )
    columns = {name: TEXT(name, width=width) for name, width in WIDTHS.items()}
    grid(table, columns, "Every field and what became of it", "brought_lines")


def _take(result: ImportedRun) -> None:
    """Callback: the run becomes the plan; what its files leave open is the answer's choice."""
    adopt(result, result.scenario, "", result.catalogs)


def _take_model(request: Request) -> None:
    """Callback: a config alone is the model of the plan."""
    field.make_plan(request)


def _keep(result: ImportedRun) -> None:
    """Callback: kept as the files have it."""
    _add_models(result)
    kept_answers.keep(result.row, _name(result), short_job(result.row, result.catalogs))


def adopt(result: ImportedRun, *plan: Any) -> None:
    """Callback: the plan becomes a scenario of the run, whose models the session then has."""
    _add_models(result)
    job_state.adopt(*plan)


def _add_models(result: ImportedRun) -> None:
    for model, entry in result.models.items():
        session_catalogs.add_model(model, entry)


def heading(run: ImportedRun | None) -> str:
    """Return a run in a line: TRL: training Llama 3.1 8B takes 23.1 GiB on each GPU."""
    if run is None:
        return TITLE
    row = run.row
    if run.lacks_model:
        return f"{_name(run)}: {WHICH_MODEL[0].lower()}{WHICH_MODEL[1:]}"
    work = (
        f"{'serving' if row['work'] == 'inference' else 'training'} "
        f"{name_of('model', row['model'], run.catalogs)}"
    )
    memory = row["memory_bytes"]
    return f"{_name(run)}: {work} " + (
        f"takes {gib(figures(row).memory_gib)} on each GPU"
        if memory == memory
        else "needs a change"
    )


def _name(run: ImportedRun) -> str:
    """Return the tools whose files were given: TRL with accelerate config."""
    return " with ".join(
        tools()[tool].name for tool in dict.fromkeys(run.source_tool.split("+")) if tool
    )


def _becomes(run: ImportedRun) -> str:
    """The job that Plan would have with this run, and what the plan chooses by itself."""
    fields, by_hand = job_state.fields_of_scenario(run.scenario, "", run.catalogs)
    left = [name for column, name in CHOSEN.items() if column not in run.scenario]
    return job_sentence(job_of(fields, by_hand), run.catalogs) + (
        f" Plan chooses {' and '.join(left)}." if left else ""
    )


def _summary(lines: list[Line]) -> str:
    """Count what the files say: 8 fields in the files: 6 read, 2 not used by the estimate ..."""
    inside, outside = [
        [line.standing for line in lines if bool(line.file) is in_file] for in_file in (True, False)
    ]
    parts = [f"{inside.count(name)} {words}" for name, words in STANDINGS.items() if name in inside]
    more = [f"{outside.count(name)} {words}" for name, words in OUTSIDE.items() if name in outside]
    return f"{with_noun(len(inside), 'field')} in the files: {', '.join(parts)}." + (
        f" Not in them: {', '.join(more)}." if more else ""
    )


def _line(line: Line, run: ImportedRun) -> dict[str, str]:
    """Return one field as a row of the table."""
    column_texts = [_column_words(column, value, run) for column, value in line.columns.items()]
    default = line.standing == "open" and not line.file
    cells = (
        line.field if line.file else "",
        line.text,
        STANDINGS[line.standing],
        ", ".join(column_texts),
        line.file or ("" if default else line.field),
    )
    return dict(zip(WIDTHS, cells, strict=True))


def _column_words(column: str, value: str, run: ImportedRun) -> str:
    """A field in words (Precision: BF16 mixed); if it is left open, what the estimate assumes."""
    text = in_words(column, run.row, run.catalogs) or value
    return f"{GLOSSARY[column].label}: {text or 'as usual'}"
