"""The job on one screen, in order of thought: in the sidebar, on a phone under Edit job."""

from collections.abc import Callable
from typing import Any

import streamlit as st

from calc.catalogs.caches import cached_per_catalogs
from calc.catalogs.load import Catalogs
from calc.evaluate import Row
from calc.files.configs.model_names import model_id
from calc.job.columns import STEP_TOKENS, USUAL_GPUS, USUAL_INSTANCES
from calc.job.fields import is_offline, work_of
from calc.job.rollouts import rolls_out
from calc.say.numbers import count
from calc.say.setting import model_size, phrase_of
from calc.scenarios.inputs import BY_NAME
from calc.scenarios.join_objectives import SUPERVISED
from views.session import SESSION, address, extra_state, is_phone, job_state, questions
from views.session.job_state import KEYS
from views.session.present_plan import present
from views.shared.elements import button, select
from views.shared.markdown import plain
from views.sidebar import assumptions, by_hand, my_gpus, served, where
from views.sidebar.by_hand_fields import field as field_by_hand
from views.sidebar.fields import (
    choice,
    count_field,
    large_count,
    number,
    row,
    written_count,
)
from views.your_files import field

GOALS = {"train": "Train", "tune": "Fine-tune", "serve": "Serve"}
WORKS = GOALS | {questions.MY_GPUS: "My GPUs"}
EDITED = "job_is_open"  # on a phone
ANSWER_FIELDS = (KEYS.generations, KEYS.completion_tokens)
USUAL_MOST = f"{USUAL_GPUS} GPUs"
MOST_HELP = f"At most. Without a limit: {USUAL_INSTANCES}, or as many as have {USUAL_GPUS} GPUs."
METHODS = {"full": "Full", "lora": "LoRA", "qlora": "QLoRA"}


def sidebar(catalogs: Catalogs) -> None:
    """The job in the sidebar; a phone has the pages there."""
    if not is_phone():
        _draw_in(st.sidebar, catalogs)


def edit_job(control: Callable[[], None], catalogs: Catalogs) -> None:
    """On a phone a button and another `control`, the job below while open; elsewhere nothing."""
    state = st.session_state
    if not is_phone():
        return
    with st.container(horizontal=True, gap="small"):
        label, icon = ("Close the job", "close") if state.get(EDITED) else ("Edit job", "edit")
        button(
            label,
            lambda: state.update({EDITED: not state.get(EDITED)}),
            icon=icon,
            type="primary",
            key="edit_job",
        )
        control()
    if state.get(EDITED):
        _draw_in(st.container(border=True), catalogs)


def _draw_in(place: Any, catalogs: Catalogs) -> None:
    """The job in a container, then what is set by hand and what is counted beside the work."""
    fields, by_hand_now, _ = job_state.current()
    with place, st.container(gap="xxsmall"):
        choice(
            "Work",
            words=WORKS,
            **questions.widget_of("work", questions.work(), questions.take_work),
            persist_state=None,
        )
        if fields["have"]:
            my_gpus.machines(catalogs)
            choice("What to do with them", KEYS.goal, GOALS)
        if fields["goal"] == "tune":
            with row():
                select("Method", METHODS, KEYS.method)
                _objective(by_hand_now)
            _rollouts(by_hand_now, catalogs)
        _model(fields["model"], catalogs)
        if fields["goal"] == "serve":
            served.load(fields, catalogs)
        else:
            _training_length(fields, by_hand_now, catalogs)
        if not fields["have"]:  # for which nothing is paid
            where.place_and_markets(fields, catalogs)
            with row():
                number(
                    "Budget, $"
                    if work_of(fields) == "training" or is_offline(fields)
                    else "$ a month",
                    KEYS.usd_most,
                )
                number("$ an hour", KEYS.usd_per_hour_most)
                number("GPU-hours", KEYS.gpu_hours_most)
                count_field("Instances", KEYS.instances_most, USUAL_MOST, help=MOST_HELP)
        by_hand.group(fields, by_hand_now, catalogs)
        assumptions.start_time(present(catalogs).row, catalogs)


def complaints() -> None:
    """Faults of the link until they are dismissed, and values that gave way in this run."""
    link = address.address()
    for sentence in link.notes:
        if sentence not in link.complaints:
            st.info(plain(sentence), icon=":material/info:")
    if link.complaints:
        st.warning(
            plain("\n".join(f"- {sentence}" for sentence in link.complaints)),
            title="Not all of the link was used as it is",
            icon=":material/link_off:",
        )
        button("Dismiss", link.complaints.clear, key="dismiss", type="tertiary")


def _objective(by_hand_now: Row) -> None:
    """Draw the training objective; prediction of the next token is the default."""

    def take(name: str) -> None:
        extra_state.put(KEYS.objective, None if name == SUPERVISED else name)

    state = questions.widget_of(
        "objective_asked", by_hand_now.get(KEYS.objective, [SUPERVISED])[0], take
    )
    words = {name: phrase_of(KEYS.objective, name) for name in BY_NAME[KEYS.objective].choices}
    st.selectbox("Objective", list(words), format_func=words.__getitem__, **state)


def _rollouts(by_hand_now: Row, catalogs: Catalogs) -> None:
    """Draw how many answers a training generates, their length, and the engine's share."""
    if rolls_out(by_hand_now, catalogs):
        row_now = present(catalogs).row
        with row():
            for name in ANSWER_FIELDS:
                field_by_hand(name, row_now, catalogs)
        field_by_hand(KEYS.rollout_share, row_now, catalogs)


def _model(model: str, catalogs: Catalogs) -> None:
    """Draw the choice of a model, and the field for a config or files."""
    names = _model_names(catalogs)
    st.selectbox(
        "Model",
        list(names),
        format_func=lambda model: names.get(model, model),
        key=KEYS.model,
        on_change=lambda: _take_model(catalogs),
        **SESSION,
    )
    if model in catalogs.models.index:
        st.caption(model_size(model, catalogs))
    with row():
        field.field(field.PLAN, **field.SMALL)
        st.page_link(field.FILES, label="Files", icon=":material/upload_file:", width="content")
    field.outcome()


def _take_model(catalogs: Catalogs) -> None:
    """Callback: the model of a repository that was chosen by its name."""
    st.session_state[KEYS.model] = model_id(st.session_state[KEYS.model], catalogs)


@cached_per_catalogs("models")
def _model_names(catalogs: Catalogs) -> dict[str, str]:
    """The names by id, those with the longest context first: the models of today.

    Behind them are the names of their repositories, for people who type hyphens.
    The browser's search prefers short names to that order. Spaces, which are neither shown nor
    read aloud, make each name longer than those before it. Streamlit's other search, `contains`,
    keeps the order but finds nothing for "llama 8b".
    """
    models = catalogs.models.sort_values(
        "max_position", ascending=False, kind="stable", na_position="last"
    )
    rows = zip(models.index, models["name"], models["refused"], strict=True)
    names = {
        model: f"{name} (not estimated)" if is_refused else name for model, name, is_refused in rows
    }
    names |= {name: name for name in models["hf_repo"] if name and name not in names}
    longest = max(map(len, names.values()))
    rank = models["max_position"].rank(method="dense", ascending=False, na_option="bottom")
    lengths = [longest + int(place) for place in rank]
    lengths += [longest + int(rank.max()) + 1] * (len(names) - len(models))
    pairs = zip(names.items(), lengths, strict=True)
    return {model: name.ljust(length) for (model, name), length in pairs}


def _training_length(fields: Row, by_hand_now: Row, catalogs: Catalogs) -> None:
    """The tokens of a run, and how they are cut into sequences and steps.

    The examples of a training that generates its answers are prompts.
    """
    answers = rolls_out(by_hand_now, catalogs)
    if train_tokens := by_hand_now.get(KEYS.train_tokens):
        _named_tokens(train_tokens[0])
    elif fields["goal"] == "train":
        large_count("Tokens of the run", KEYS.run_tokens)
    else:
        with row():
            large_count("Prompts" if answers else "Examples", KEYS.examples)
            large_count("Tokens each", KEYS.example_tokens)
            number("Epochs", KEYS.epochs, "", step=1.0)
    with row():
        large_count("Context, tokens", KEYS.sequence_tokens)
        is_usual = fields["goal"] == "tune" and not answers
        usual_step = STEP_TOKENS if is_usual else present(catalogs).job.get("step_tokens")
        large_count("Tokens per step", KEYS.step_tokens, count(usual_step))
        number("Days at most", KEYS.days_most)


def _named_tokens(tokens: float) -> None:
    """The tokens of a run that are named as such; without them examples are asked for again."""

    def take(new: int | None) -> None:
        extra_state.put(KEYS.train_tokens, new)

    written_count("Tokens of the run", tokens, take, KEYS.train_tokens, "from examples")
