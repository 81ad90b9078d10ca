"""An out-of-memory text explained: its parts beside the estimate, and what would fit."""

import pandas as pd
import streamlit as st

from calc.catalogs.load import Catalogs
from calc.files.brought import Brought
from calc.files.oom.explain import LogProblem, OomExplanation, explained, text_of
from calc.say.numbers import counted
from calc.say.place import card_name
from calc.say.setting import setting
from calc.say.verdict import memory_of
from views.plan import changes as advice
from views.session.present_plan import Present
from views.session.remembered import remembered
from views.shared.markdown import plain
from views.shared.tables import columns_of, grid


def explanation(logs: list[bytes], brought: Brought | None, plan: Present, catalogs: Catalogs) -> None:
    """The texts explained beside the run that was brought with them, else beside the plan."""
    row, run_catalogs = (brought.row, brought.catalogs) if brought else (plan.row, catalogs)
    if row["memory_bytes"] != row["memory_bytes"]:
        st.info("There is no estimate to stand beside it yet: give the run's config, or make a plan.", icon=":material/info:")
        return
    try:
        text = "\n".join(text_of(content) for content in logs)
        result = remembered("explained", (text, row, run_catalogs.version), lambda: explained(text, row, run_catalogs))
    except LogProblem as error:
        st.error(plain(str(error)), icon=":material/block:")
        return
    st.subheader("Why it ran out" if result.failure else "What it tells", anchor=False)
    st.markdown(plain("\n".join(f"- {sentence}" for sentence in [_read(result, run_catalogs), *result.sentences])))
    if result.parts:
        whose = "the run above" if brought else "the plan"
        st.caption(plain(f"Beside {whose}: {memory_of(result.row)} · {setting(result.row, run_catalogs)}"))
        table = pd.DataFrame([part.in_gib() for part in result.parts])
        grid(table, columns_of("measured_parts"), "What was measured beside the estimate", "oom_parts")
    advice.panel(result.row, plan.market, plan.job, run_catalogs)


def _read(result: OomExplanation, catalogs: Catalogs) -> str:
    """From GPU 0, by its capacity A10G or L4; written by PyTorch 2.2 to 2.9."""
    card = f", by its capacity {' or '.join(card_name(card, catalogs) for card in result.cards[:2])}" if result.cards else ""
    if result.failure is None:
        return f"A log{card}." if card else "A log that names no card."
    gpu = "one GPU" if result.failure.gpu is None else f"GPU {result.failure.gpu}"
    several = f"{counted(result.messages, 'message')}, here the fullest card's: from " if result.messages > 1 else "From "
    release = f"; written by PyTorch {result.failure.release}" if result.failure.release else ""
    return f"{several}{gpu}{card}{release}."
