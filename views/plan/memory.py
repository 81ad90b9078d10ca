"""The memory of the row on view: its tank, the meaning of its components, its phases."""

import pandas as pd
import streamlit as st

from calc import phases_table
from calc.catalogs.load import Catalogs
from calc.charts import tables as chart_tables
from calc.columns import GLOSSARY
from calc.evaluate import Row
from calc.memory.moments import components_of
from calc.plan.figures import parts_of
from calc.say.numbers import percent, three
from calc.say.setting import setting
from calc.say.verdict import memory_of
from views.charts import memory as memory_charts
from views.charts.tank import tank_svg
from views.session.remembered import remembered
from views.shared import row_words
from views.shared.elements import draw
from views.shared.markdown import plain
from views.shared.theme import COMPONENT_COLOURS, Ink


def memory(row: Row, scenario: Row, ink: Ink, catalogs: Catalogs) -> None:
    """The row in the middle of the page."""
    st.subheader(plain(f"What is in the memory: {row_words.where(row, catalogs)}"), anchor=False)
    st.markdown(plain(f"{memory_of(row)} · {setting(row, catalogs)}"))
    left, right = st.columns([4, 3], gap="medium")
    with left:
        st.image(tank_svg(row, ink, 720, 44), width="stretch", alt=row_words.tank_alt(row))
        st.markdown(components(row))
        rests = row_words.time_rests_on(row)
        st.caption(
            "Pale: the card's usable memory, which ends at the upright line. Whisker: the range of the estimate, "
            f"which is {row['memory_basis']}." + (plain(f" Its time: {rests}.") if rests else "")
        )
    with right:
        _phases(row, scenario, ink, catalogs)


def components(row: Row) -> str:
    """A line for each component: colour, name, GiB, share, what it is."""
    lines = []
    for name, gib, share in parts_of(row).itertuples(index=False):
        mark = f':color[■]{{foreground="{COMPONENT_COLOURS[name]}"}}'
        lines.append(f"{mark} **{GLOSSARY[name].label}** {three(gib)} GiB, {percent(share)} :small[{GLOSSARY[name].meaning}]")
    return "  \n".join(lines)


def _phases(row: Row, scenario: Row, ink: Ink, catalogs: Catalogs) -> None:
    """What is alive in each phase, and which of them the estimate is."""
    allocated = tuple(name for name in components_of(row["work"]) if name != "overhead_bytes")
    table = remembered("phases", (scenario, catalogs.version), lambda: phase_table(scenario, allocated, catalogs))
    draw(memory_charts.phases(ink, allocated, has_legend=False), table, f"The peak is in the {row['peak_phase']} phase", "phases")
    st.caption(f"The largest phase, {row['peak_phase']}, is the estimate; context and allocator slack come on top.")


def phase_table(scenario: Row, allocated: tuple[str, ...], catalogs: Catalogs) -> pd.DataFrame:
    """The phases of a scenario as their chart draws them."""
    table = chart_tables.by_phase(phases_table(scenario, catalogs), allocated)
    return table.assign(phase_text=[three(total) for total in table["phase_gib"]])
