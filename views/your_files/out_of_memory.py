"""An out-of-memory text explained: its parts beside the estimate, and what would fit."""

from collections.abc import Callable
from functools import partial

import pandas as pd
import streamlit as st

from calc import estimate
from calc.catalogs.load import Catalogs
from calc.evaluate import Row
from calc.files.door import REFUSALS
from calc.files.imported_run import ImportedRun
from calc.files.oom.explain import OomExplanation, explained_logs, origin
from calc.say.change import MACHINES, NOTHING_FITS, WHAT_HELPS
from calc.say.numbers import is_missing
from calc.say.place import short_card
from calc.say.setting import setting
from calc.say.verdict import memory_of
from calc.search.row_status import scenario_of
from views.plan import changes
from views.session import SESSION, job_state, reading
from views.session.present_plan import Present
from views.shared.elements import points, show_error
from views.shared.markdown import plain
from views.shared.row_words import on_screen, where
from views.shared.tables import columns_of, grid
from views.your_files.imported_run import adopt, which_model

LAYOUT = (
    "instance",
    "tensor_parallel",
    "pipeline_parallel",
    "context_parallel",
    "expert_parallel",
    "accumulation_steps",
)
PRESS = "Press a change to use it in Plan. Each is estimated by itself; the rest of the run stays."
MOST_SHOWN = 4  # changes under each heading
NO_ESTIMATE = (
    "Nothing can be compared yet: paste the config of the run, or answer a job on Plan first."
)


def explanation(
    logs: list[bytes], imported_run: ImportedRun | None, plan: Present, catalogs: Catalogs
) -> None:
    """The texts explained beside the run that was brought with them, else beside the plan."""
    row, run_catalogs = (
        (imported_run.row, imported_run.catalogs) if imported_run else (plan.row, catalogs)
    )
    if is_missing(row["memory_bytes"]):
        st.info(NO_ESTIMATE, icon=":material/info:")
        return
    try:
        result = _explain(logs, row, run_catalogs)
        st.header("Why it ran out" if result.failed else "What the log says", anchor=False)
        is_other = not imported_run and bool(result.cards) and plan.row["gpu"] not in result.cards
        if is_other:
            st.markdown(plain(origin(result, run_catalogs)))
            if not (on := _on_its_card(result, plan.row, run_catalogs)):
                return
            result = _explain(logs, on, run_catalogs)
    except REFUSALS as error:
        show_error(error)
        return
    sentences = [*([] if is_other else [origin(result, run_catalogs)]), *result.sentences]
    points(sentences)
    is_of_plan = not imported_run and not is_other
    _parts(result, "the plan" if is_of_plan else "your run", run_catalogs)
    if result.cures:
        st.header(WHAT_HELPS, anchor=False)
        points(result.cures)
    if result.is_off_card:
        return
    limits = plan.job if is_of_plan else {}
    take = partial(adopt, imported_run) if imported_run else job_state.adopt
    if _remedies(result, plan.market, limits, run_catalogs, take):
        st.switch_page("views/plan/page.py")


def _parts(result: OomExplanation, whose: str, catalogs: Catalogs) -> None:
    """Draw the measured parts of the memory beside the estimate; nothing if none was measured."""
    if not result.parts:
        return
    estimate_words = f"{memory_of(result.row)} · {setting(result.row, catalogs)}"
    st.caption(plain(f"Estimate of {whose}: {estimate_words}"))
    table = pd.DataFrame([part.in_gib() for part in result.parts])
    grid(table, columns_of("measured_parts"), "What was measured, and the estimate", "oom_parts")


def _explain(logs: list[bytes], row: Row, catalogs: Catalogs) -> OomExplanation:
    return reading.read(explained_logs, logs, row, catalogs, catalogs=catalogs)


def _on_its_card(result: OomExplanation, plan_row: Row, catalogs: Catalogs) -> Row | None:
    """The run of a message from another card than the plan's, once its model is named."""
    card = result.cards[0]
    other = (
        f"The plan is on {where(plan_row, catalogs)}, so this is another run. Paste its config "
        f"above, or say what it runs."
    )
    st.markdown(plain(other))
    with st.container(horizontal=True, vertical_alignment="bottom"):
        model = which_model(catalogs)
        least = (result.failure.gpu or 0) + 1 if result.failure else 1
        name = f"How many {short_card(card, catalogs)}?"
        gpus = st.number_input(
            name, least, value=least, step=1, key="brought_gpus", width=200, **SESSION
        )
    if not model:
        return None
    scenario = {name: value for name, value in scenario_of(plan_row).items() if name not in LAYOUT}
    row = estimate(
        {**scenario, "model": model, "gpu": card, "gpus": float(gpus)}, catalogs, solve=False
    )
    if row["problem"]:
        st.warning(plain(on_screen(row["problem"])), icon=":material/rule:")
    return None if is_missing(row["memory_bytes"]) else row


def _remedies(
    result: OomExplanation, market: str, limits: dict, catalogs: Catalogs, take: Callable
) -> bool:
    """Draw the changes that make it fit; return whether one was taken."""
    every_change = changes.changes(result.row, market, limits, catalogs, result.lacking_bytes)
    is_taken, mends = False, result.lacking_bytes > 0
    if not result.wants_a_machine:
        every_change = every_change[every_change["same_machine"]]
    if not len(every_change) and not result.cures:
        st.markdown(NOTHING_FITS)
    first = every_change.groupby("same_machine", sort=False).head(MOST_SHOWN)
    for stays, title in MACHINES.items():
        part = first[first["same_machine"] == stays]
        if len(part):
            st.header(title, anchor=False)
            is_taken |= changes.lines(part, result.row, market, catalogs, mends, take)
    is_taken |= changes.others(
        every_change.drop(first.index), result.row, market, catalogs, mends, take
    )
    if len(every_change):
        st.caption(PRESS)
    return is_taken
