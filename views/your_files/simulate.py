"""A visitor's model simulated on the server's machine, one at a time in the background."""

import tempfile
from collections.abc import Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

import streamlit as st

from calc.catalogs.load import Catalogs
from calc.commands.simulate import interpreter, read_off
from calc.evaluate import Row
from calc.files.imported_run import Documents, is_model
from calc.files.simulated_models import simulated_id
from calc.mappings import Json
from calc.models.huggingface.not_covered import read_documents
from calc.scenarios.problems import TableError
from views.shared.elements import button, show_error
from views.shared.markdown import plain

BOUNDED = ("extrapolated: ", "lower bound: ")
SIMULATES = " Its memory is a bound: Your files can simulate it here."
WHY = (
    "Its memory is a bound. Its own class of transformers can run here on fake tensors, without "
    "a GPU or weights: some minutes."
)
MISSING = (
    "Its memory is a bound. To run its own class of transformers here instead, install what that "
    "takes with: make simulate"
)
BUTTON, AGAIN = "Simulate it here", "Simulate it again"
LOOK_SECONDS = 2


class Simulation(NamedTuple):
    """One model on its way: the share that is done is in a file."""

    future: Future[Any]
    progress: Path

    def share(self) -> float:
        """Return the progress of the simulation, from 0 to 1."""
        with suppress(OSError, ValueError):
            return min(float(self.progress.read_text(encoding="utf-8")), 1.0)
        return 0.0


@st.cache_resource(show_spinner=False)
def _queue() -> tuple[ThreadPoolExecutor, dict[str, Simulation]]:
    """The one worker of the server, and every simulation by the id of its model."""
    return ThreadPoolExecutor(1, thread_name_prefix="simulate"), {}


def is_bounded(row: Row) -> bool:
    """Return whether a row's memory rests on other models' blocks, or leaves parts out."""
    return row["memory_basis"].startswith(BOUNDED)


def panel(documents: Documents, row: Row, models: Mapping[str, Row], catalogs: Catalogs) -> None:
    """The button beside a model whose memory is a bound, its progress, and what came of it."""
    configs = [content for _, content in documents if is_model(content)]
    entry = models.get(row["model"], {})
    if entry.get("simulated_here"):
        st.markdown(plain(entry["remark"]))
    if not configs or not is_bounded(row):
        return
    try:
        interpreter()
    except TableError:
        st.caption(MISSING)
        return
    config = read_documents(configs[0].decode("utf-8-sig"))[0]
    simulation = _queue()[1].get(simulated_id(config))
    if simulation and not simulation.future.done():
        _watch(simulation)
        return
    problem = simulation.future.exception() if simulation else None
    if problem:
        show_error(f"The simulation failed: {problem}")
    button(
        AGAIN if problem else BUTTON, _begin, config, catalogs, icon="science", key="simulate_here"
    )
    st.caption(WHY)


@st.fragment(run_every=LOOK_SECONDS)
def _watch(simulation: Simulation) -> None:
    """Draw the progress, and the page anew when it is done."""
    if simulation.future.done():
        st.rerun()
    share = simulation.share()
    text = (
        f"Simulating it here: {share:.0%} done".replace("%", " %")
        if simulation.future.running()
        else "Waits for another simulation"
    )
    st.progress(share, text)


def _begin(config: Json, catalogs: Catalogs) -> None:
    """Callback: the model waits for its turn, or is on its way already."""
    worker, simulations = _queue()
    model = simulated_id(config)
    if model in simulations and not simulations[model].future.done():
        return
    progress = Path(tempfile.mkdtemp(prefix="headroom-")) / "share"
    simulations[model] = Simulation(
        worker.submit(read_off, config, model, catalogs, str(progress)), progress
    )
