"""The answer on screen: the ranked options of the job and the row on view."""

from typing import Any, NamedTuple

import streamlit as st

from calc import estimate
from calc.answers.full_answer import Answer
from calc.catalogs.load import Catalogs
from calc.evaluate import Row
from calc.job.columns import PUBLISHED
from calc.job.resolve import published_bits
from calc.job.rollouts import rolls_out
from calc.job.software import usual_software
from calc.plan.figures import records
from calc.scenarios.inputs import inputs_by_name
from calc.search.first_rows import first_row
from calc.search.row_status import scenario_of
from views.session import job_state
from views.session.owners import owners
from views.session.recent_results import recent_result
from views.session.worker import in_worker, options

PLACES = ("instance", "gpu")
LOOKED_IN = "looked_in"  # the job in which a row of the board was chosen
OTHER_CHOICES = ("fewest_bits", "method", "users", "batch", "have")  # of a card beside the answers


class Present(NamedTuple):
    """All options of the resolved job, and the row on view with its inputs and market.

    The row's `problem` says that it cannot be estimated; which limit the nearest row misses stands
    in `options.problem`.
    """

    options: Answer
    job: dict
    row: dict
    scenario: dict
    market: str


def present(catalogs: Catalogs) -> Present:
    """Return the present plan."""
    result = options(job_state.current().job, catalogs)
    row = _with_other_choices(result, catalogs) or _looked_at(result)
    row |= owners()
    if row["memory_bytes"] == row["memory_bytes"]:
        row["problem"] = ""
    return Present(result, result.job, row, scenario_of(row), row.get("market") or "on-demand")


def as_set(plan: Present, catalogs: Catalogs) -> Present:
    """The scenario as it is set, with its memory, where nothing can be rented for the job."""
    if plan.row["memory_bytes"] == plan.row["memory_bytes"]:
        return plan
    objective = plan.job.get("objective")
    usual = {
        "implementation": usual_software(
            plan.job.get("work", "training"),
            plan.job["model"],
            catalogs,
            plan.job.get("goal", ""),
            rolls_out({"objective": [objective]} if objective else {}, catalogs),
        )
    }
    inputs = inputs_by_name()
    one = {
        name: value
        for name, value in plan.job.items()
        if name in inputs and not isinstance(value, list) and value not in (None, "")
    }
    row = estimate({**usual, **one}, catalogs, solve=False)
    if row["memory_bytes"] != row["memory_bytes"]:
        return plan
    return plan._replace(row={**plan.row, **row}, scenario=scenario_of(row))


def look_at(row: Row | None, **changes: Any) -> None:
    """Callback: choose the row that every page starts from; None: the first answer.

    An answer is chosen by its role (least-money, knee, easiest) and a variant by its `changes`;
    both survive a change of the job. A row of the board is chosen by its machines, until the job
    changes.
    """
    state = st.session_state
    state.pop(LOOKED_IN, None)
    variant = {name: value for name, value in changes.items() if name in OTHER_CHOICES}
    if row is None:
        state.pop("looked", None)
    elif variant or row.get("answer"):
        state["looked"] = variant or {"answer": row["answer"]}
    else:
        names = ["instance", "market", *_named_by_row()]
        values = {name: _plain(row[name]) for name in names if row.get(name) not in (None, "")}
        state["looked"] = values


def _named_by_row() -> list[str]:
    """Return what tells rows on one instance apart: the GPUs, and the compared choices."""
    columns = [
        name
        for name, values in job_state.current().by_hand.items()
        if len(values) > 1 and name != "instance"
    ]
    return list(dict.fromkeys(["gpus", *columns]))


def _with_other_choices(result: Answer, catalogs: Catalogs) -> Row | None:
    """The row on view if it has the other width of weights, or is a variant on your machines."""
    row_on_view = st.session_state.get("looked") or {}
    job = job_state.current().job
    changes = {
        name: row_on_view[name]
        for name in OTHER_CHOICES
        if name in row_on_view and name not in _named_by_row()
    }
    if not changes or not (
        result.job.get("have") or _other_bits(result, catalogs) == changes.get("fewest_bits")
    ):
        return None
    row = options(
        {**job, **changes, **({"people": None} if "users" in changes else {})}, catalogs
    ).rows[0]
    return dict(row) if row["answer"] else None


def _looked_at(result: Answer) -> Row:
    """The answer of the chosen role, or the chosen row of the board; else the first answer."""
    row_on_view = st.session_state.get("looked") or {}
    for role in str(row_on_view.get("answer", "")).split("+"):
        for row in result.rows:
            if role and role in row["answer"].split("+"):
                return dict(row)
    if not row_on_view or "answer" in row_on_view:
        return dict(result.rows[0])
    on_same_place = []
    for row in [*result.rows, *records(result.board)]:
        if all(row.get(name) == row_on_view.get(name) for name in ("instance", "market")):
            on_same_place.append(row)
    if not on_same_place:
        return dict(result.rows[0])

    def equal_columns(row: Row) -> int:
        return sum(row.get(name) == value for name, value in row_on_view.items())

    return max(on_same_place, key=equal_columns)


def forget_row_of_other_job() -> None:
    """Before the page is drawn: forget a row of the board that was chosen for another job."""
    state = st.session_state
    job = job_state.current().job
    if "instance" in (state.get("looked") or {}) and state.setdefault(LOOKED_IN, job) != job:
        look_at(None)


def _plain(value: float | str) -> float | str:
    return value.item() if hasattr(value, "item") else value


def over_all(catalogs: Catalogs) -> Answer | None:
    """The options of the job on every instance; None where none was set by hand."""
    job = job_state.current().job
    if not any(job.get(name) for name in PLACES):
        return None
    return options({name: value for name, value in job.items() if name not in PLACES}, catalogs)


def in_other_bits(catalogs: Catalogs) -> tuple[int, Row] | None:
    """The bits of weights that the first answer does not take, and the answer with them."""
    job = job_state.current().job
    bits = _other_bits(options(job, catalogs), catalogs)
    if not bits:
        return None
    other = {**job, "fewest_bits": bits}
    row = recent_result(
        "other bits", (other, catalogs.version), lambda: in_worker(job, catalogs, first_row, other)
    )
    return (int(bits), dict(row)) if row else None


def _other_bits(result: Answer, catalogs: Catalogs) -> str:
    """Return the widths of weights that the first answer does not use; empty without a choice."""
    job = job_state.current().job
    row = result.rows[0]
    bits = published_bits(job, catalogs)
    if (
        not bits
        and row["answer"]
        and row["work"] == "inference"
        and job["fewest_bits"] == PUBLISHED
    ):
        # Nobody publishes the weights in more bits.
        as_made = catalogs.models["published_precision"].get(row["model"])
        is_narrow = catalogs.precisions["matrix_bytes_each"][row["precision"]] < 2
        bits = 16 if is_narrow and row["precision"] not in (as_made, job.get("precision")) else 0
    return str(bits) if bits else ""
