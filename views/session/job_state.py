"""The state of the job: the only file that knows its keys in the session.

A choice that the job leaves free is None or an empty list until the user sets it: it is then the
answer's own.
"""

from collections.abc import Callable
from functools import partial
from types import SimpleNamespace
from typing import Any, NamedTuple

import streamlit as st

from calc.catalogs.load import Catalogs
from calc.evaluate import Row
from calc.job.fields import (
    BY_HAND,
    COMPARED,
    JOB,
    MAY_BE_EMPTY,
    SEVERAL,
    UNSHOWN,
    is_offline,
    is_read,
    job_fields_of,
    job_for,
    job_of,
    method_of,
    tokens_of_run,
    work_of,
)
from calc.job.lengths import fitted_lengths
from calc.job.measure import takes_images
from calc.job.resolve import usable_choices
from calc.job.rollouts import OF_ROLLOUTS, rolls_out
from calc.job.software import generates
from calc.mappings import Cells
from calc.say.gave_way import LENGTHS, model_instead, no_images, not_possible, shortened_lengths
from calc.scenarios.inputs import ASSUMED
from calc.table import is_missing
from views.session import extra_state

LISTS = (*SEVERAL, *COMPARED)
# As number fields hold them, which mix no int and float.
HELD_AS = {
    "count": int,
    "number": float,
    "amount": float,
}
FIRST_VISIT = {
    name: str(field.default).split("+") if name in SEVERAL else field.default
    for name, field in JOB.items()
}
AUTO: Row = {name: [] if name in COMPARED else None for name in BY_HAND}
# Where the session holds each value, and its widget's key.
KEYS = SimpleNamespace(**{name: name for name in (*JOB, *BY_HAND)})


class Note(NamedTuple):
    """A sentence on a value that gave way, and the fields that asked for another one."""

    sentence: str
    fields: tuple[str, ...]


class CurrentJob(NamedTuple):
    """The fields of the job, the columns fixed by hand as lists, and both for `options`."""

    fields: dict
    by_hand: dict
    job: dict


def current() -> CurrentJob:
    """The job of this run, as it was read before any widget was drawn."""
    return st.session_state["current_job"]


def job_fields() -> Row:
    """The fields of the job as this session has them now."""
    return {name: st.session_state[name] for name in JOB}


def set_by_hand() -> Row:
    """The columns that this session has set by hand, those that its goal does not read too."""
    return {name: value for name in AUTO if (value := st.session_state.get(name)) not in (None, [])}


def job_of_goal(goal: str) -> Row:
    """The job of this session for a goal: its own, or the same fields for another one."""
    fields, _, job = current()
    if fields["goal"] == goal and not is_offline(fields):
        return job
    by_hand = {
        name: value if name in LISTS else [value]
        for name, value in (set_by_hand() | extra_state.own_assumptions()).items()
    }
    return job_for(goal, fields, by_hand)


def read(fields: Row, by_hand: Row, assumptions: dict[str, float]) -> None:
    """Once per run: the job from its fields, the columns fixed by hand and the assumptions."""
    fixed = {
        name: values if name in LISTS else [values]
        for name, values in by_hand.items()
        if is_read(name, fields)
    }
    fixed = {
        name: list(values) for name, values in fixed.items() if values not in ([], [None], [""])
    }
    fixed |= {name: [value] for name, value in assumptions.items()}
    st.session_state["current_job"] = CurrentJob(fields, fixed, job_of(fields, fixed))


def first_visit() -> Row:
    """The fields of the job of a visitor who has set nothing."""
    return {name: _widget_value(name, value) for name, value in FIRST_VISIT.items()}


def is_first_visit(asks: Cells) -> bool:
    """Return whether a ready job is the one that a visitor finds."""
    first = first_visit()
    return all(
        name in first and _widget_value(name, value) == first[name] for name, value in asks.items()
    )


def start(choices: Row) -> None:
    """Set the widgets of the first visit, with these choices over its defaults."""
    for name, value in FIRST_VISIT.items():
        st.session_state[name] = _widget_value(name, choices.get(name, value))
    for name, value in AUTO.items():
        extra_state.put(name, _widget_value(name, choices.get(name, value)))
    for name in choices.keys() & ASSUMED.keys():
        extra_state.put(name, _widget_value(name, choices[name]))
    st.session_state["started"] = (st.session_state[KEYS.model], frozenset(choices))


def choose(**choices: Any) -> None:
    """Callback: set fields of the job, or columns by hand, from outside their widgets."""
    for name, value in choices.items():
        key = getattr(KEYS, name)
        st.session_state[key] = _widget_value(name, value)


def put(fields: Cells) -> None:
    """Callback: set fields of the job and assumptions; an empty column is the answer's own."""
    for name, value in fields.items():
        if name in AUTO and not value:
            to_auto(name)
        elif name in vars(KEYS):
            choose(**{name: [value] if name == "batch" else value})
        else:
            extra_state.put(name, value)


def to_auto(*names: Any) -> None:
    """Callback: these columns, or all of them, are the answer's own choice again."""
    for name in names or (*BY_HAND, *ASSUMED):
        extra_state.put(name, [] if name in COMPARED else None)
        st.session_state.get("parked", {}).pop(name, None)


def release(*names: str) -> None:
    """Callback: empty these fields of the job, and leave these columns to the answer."""
    for name in names:
        if name in AUTO:
            to_auto(name)
        elif name in MAY_BE_EMPTY:
            choose(**{name: None})


def adopt(scenario: Row, market: str, catalogs: Catalogs) -> None:
    """Callback: a scenario becomes the plan, all its choices fixed; the limits stay."""
    job, by_hand = fields_of_scenario(scenario, market, catalogs)
    to_auto(*(name for name in BY_HAND if name not in UNSHOWN))
    choose(
        **job, **{name: values if name in LISTS else values[0] for name, values in by_hand.items()}
    )


def fields_of_scenario(
    scenario: Row, market: str, catalogs: Catalogs
) -> tuple[Row, dict[str, list]]:
    """The job fields and the columns by hand that a scenario makes of this session's job."""
    fields, by_hand = job_fields_of(scenario, catalogs, st.session_state[KEYS.goal])
    job = {**job_fields(), **fields}
    if "train_tokens" in by_hand and by_hand["train_tokens"] == [
        tokens_of_run({**job, "goal": "tune"})
    ]:
        del by_hand["train_tokens"]
    if market in JOB["markets"].choices:
        job["markets"] = [market]
    return job, by_hand


def job_of_scenario(scenario: Row, market: str, catalogs: Catalogs) -> Row:
    """The job that a scenario alone asks for, all its choices fixed, without this session's."""
    fields, by_hand = job_fields_of(scenario, catalogs, st.session_state[KEYS.goal])
    markets = {"markets": [market]} if market in JOB["markets"].choices else {}
    return job_of(first_visit() | fields | markets, by_hand)


def reset() -> None:
    """Callback: return to the job of the first visit; added models and kept answers stay."""
    start({})
    extra_state.forget()


def _widget_value(name: str, value: Any) -> Any:
    """A value as its widget holds it: a list, a number of one type, None for empty."""
    column = JOB.get(name) or BY_HAND.get(name) or ASSUMED[name]
    values = [
        _of_kind(column.kind, entry)
        for entry in (value if isinstance(value, (list, tuple)) else [value])
    ]
    entries = [entry for entry in values if entry is not None and entry != ""]
    empty = "" if name in JOB and "" in column.choices else None  # an empty choice of a job is one
    if name in LISTS:
        return entries
    if entries:
        return entries[0]
    return empty


def _of_kind(kind: str, value: Any) -> Any:
    if is_missing(value):
        return None
    return HELD_AS[kind](value) if kind in HELD_AS else value


def possible_precisions(catalogs: Catalogs) -> list[str]:
    """The number formats that the work of this session can use."""
    table = catalogs.precisions
    fields = job_fields()
    method = method_of(fields)
    if work_of(fields) == "inference":
        return list(table.index[table["serves"]])
    if method == "full":
        able = table["trains"]
    elif method == "qlora":
        able = table["adapts"] & ~table["trains"]
    else:
        able = table["adapts"]
    return list(table.index[able])


def settle(catalogs: Catalogs) -> list[Note]:
    """Before any widget: impossible values give way; returns the reasons."""
    state = st.session_state
    _restore()
    notes = []
    if state["model"] not in catalogs.models.index:
        sentence = model_instead(state["model"], str(FIRST_VISIT["model"]))
        notes.append(Note(sentence, (KEYS.model,)))
        state["model"] = FIRST_VISIT["model"]
    notes += [*_fit_lengths(catalogs), *_fit_images(catalogs)]
    _drop_rollouts(catalogs)
    fields = job_fields()
    able: dict[str, Callable[[], list[str]]] = {
        "precision": partial(possible_precisions, catalogs),
        "implementation": partial(usable_choices, "implementation", work_of(fields), catalogs),
        "optimizer": partial(list, catalogs.optimizers.index),
        "instance": partial(list, catalogs.instances.index),
    }
    for name, values in able.items():
        if state.get(name) or state.get("parked", {}).get(name):
            notes += _keep_possible(name, values())
    return notes


def _drop_rollouts(catalogs: Catalogs) -> None:
    """A training that generates no answers has none of another objective's either."""
    objective = st.session_state.get(KEYS.objective)
    if not rolls_out({"objective": [objective]} if objective else {}, catalogs):
        for name in OF_ROLLOUTS:
            extra_state.put(name, None)


def _restore() -> None:
    """A field that may not be empty takes the value that it had last."""
    state = st.session_state
    last = state.setdefault("last_values", {})
    for name, first in FIRST_VISIT.items():
        if name in MAY_BE_EMPTY or name == "regions" or "" in JOB[name].choices:
            continue
        if state.get(name) in (None, "", []):
            state[name] = last.get(name, first)
        last[name] = state[name]


def _fit_lengths(catalogs: Catalogs) -> list[Note]:
    """Cut a sequence to a model's learned positions; the next model gets the request back."""
    state, entry = st.session_state, catalogs.models.loc[st.session_state["model"]]
    longest = entry["longest_sequence_tokens"]
    served = list(LENGTHS)[: 1 + generates(state["model"], catalogs)]
    names = served if state["goal"] == "serve" else [KEYS.sequence_tokens]
    before = state.get("shortened", {})
    asked_for = [
        before[name][0] if before.get(name, (0, 0))[1] == state[name] else state[name]
        for name in names
    ]
    result = dict(
        zip(names, zip(asked_for, fitted_lengths(asked_for, longest), strict=True), strict=True)
    )
    state["shortened"] = {name: pair for name, pair in result.items() if pair[1] < pair[0]}
    for name, (_, length) in result.items():
        state[name] = length
    notices = {
        name: pair for name, pair in state["shortened"].items() if not _is_assumed(name, pair[0])
    }
    if not notices:
        return []
    return [Note(shortened_lengths(entry["name"], longest, notices), tuple(notices))]


def _is_assumed(name: str, value: Any) -> bool:
    """Return whether nobody has asked for a length: it is the default, since the job began."""
    state = st.session_state
    model, defaults = state.get("started", (None, ()))
    return state["model"] == model and name not in defaults and value == FIRST_VISIT[name]


def _fit_images(catalogs: Catalogs) -> list[Note]:
    """A model without a tower gets no images or sounds."""
    state = st.session_state
    if takes_images(state["model"], catalogs):
        return []
    asked_for = state.get(KEYS.images_per_sequence)
    to_auto(KEYS.images_per_sequence, KEYS.image_tokens)
    if asked_for:
        sentence = no_images(catalogs.models["name"][state["model"]])
        return [Note(sentence, (KEYS.images_per_sequence,))]
    return []


def _keep_possible(name: str, values: list[str]) -> list[Note]:
    """Keep the possible values of a column; the rest waits for a work that can use them."""
    state = st.session_state
    parked_values = state.setdefault("parked", {})
    back = [value for value in parked_values.get(name, []) if value in values]
    if back and not state.get(name):
        state[name] = back
        del parked_values[name]
    impossible = [value for value in state.get(name) or [] if value not in values]
    if not impossible:
        return []
    parked_values[name] = impossible
    state[name] = [value for value in state[name] if value in values]
    return [Note(not_possible(name, value, state[name]), (name,)) for value in impossible]
