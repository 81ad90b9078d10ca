"""Kept scenarios as columns: a card each, the table of choices, the table of figures."""

import pandas as pd
import streamlit as st

from calc.catalogs.load import Catalogs
from calc.charts.tables import COMPONENT_LABELS
from calc.columns import COMPONENTS
from calc.evaluate import Row
from calc.plan.aged import then_of
from calc.say.numbers import is_missing
from calc.say.verdict import FITS_MEANING, memory_of
from calc.search.compare import MOST, tank_scale
from views.charts.tank import tank_svg
from views.compare_and_bill import compare_words
from views.session import kept
from views.session.present_plan import Present
from views.shared import aged_words as aged
from views.shared.elements import button
from views.shared.markdown import plain
from views.shared.tables import text_table
from views.shared.theme import Ink

TANK = (300, 26)
KEEP_HELP = "They stay here, in the link and in the CSV, whatever the plan becomes."
NARROWEST = 195  # pixels of a card before the row of cards wraps
LEFT, RIGHT, AGAIN, AWAY = "Move left", "Move right", "Duplicate", "Remove"
ICONS = {LEFT: "arrow_back", RIGHT: "arrow_forward", AGAIN: "content_copy", AWAY: "delete"}


def keep_answers(plan: Present) -> None:
    """A button that keeps the present answers."""
    rows = [row for row in plan.options.rows if not is_missing(row["memory_bytes"]) and not kept.is_kept(row)]
    many = f"Keep the {len(rows)} present answers" if len(rows) > 1 else "Keep the present answer"
    look = {"type": "secondary" if kept.kept() else "primary", "disabled": not rows or kept.is_full(), "help": KEEP_HELP}
    button(many, kept.keep_all, rows, icon="bookmark_add", key="keep_answers", **look)


def shown(rows: list[Row]) -> list[int]:
    """The places of the rows that stand side by side: all of them, or the chosen six at most."""
    if len(rows) <= MOST:
        return list(range(len(rows)))
    names = [row["scenario"] for row in rows]
    state = st.session_state
    state["side_by_side"] = [name for name in state.get("side_by_side", []) if name in names] or names[:MOST]
    chosen = st.multiselect(f"Side by side, {MOST} at most", names, key="side_by_side", max_selections=MOST, persist_state="session")
    return sorted(names.index(name) for name in chosen) or list(range(MOST))


def since_kept(rows: list[Row], places: list[int], catalogs: Catalogs) -> None:
    """What has changed of each scenario since it was kept; nothing where all is as it was."""
    changes = {row["scenario"]: aged.changed(row | then_of(kept.kept()[index]), catalogs) for row, index in zip(rows, places, strict=True)}
    lines = [f"- **{name}**: {' '.join(sentences)}" for name, sentences in changes.items() if sentences]
    if lines:
        st.info(plain("\n".join(["Since they were kept:", "", *lines])), icon=":material/history:")


def cards(rows: list[Row], places: list[int], ink: Ink) -> None:
    """A card per scenario; the others say how they differ from the first."""
    most = tank_scale([row for row in rows if not row["problem"]])
    with st.grid(len(rows), min_column_width=NARROWEST, border=True, key="compared"):
        for row, index in zip(rows, places, strict=True):
            with st.container():
                _card(row, index, rows[0], most, ink)


def _card(row: Row, index: int, first: Row, most: float, ink: Ink) -> None:
    st.text_input("Name", value=row["scenario"], key=_name_key(index, row["scenario"]), on_change=_rename, args=(index,), max_chars=60)
    if row["problem"]:
        st.error(plain(row["problem"]), icon=":material/block:")
    else:
        largest = max(COMPONENTS, key=lambda name: row[name])
        alt = f"{row['scenario']}: {memory_of(row)}; largest part {COMPONENT_LABELS[largest].lower()}"[:200]
        st.image(tank_svg(row, ink, *TANK, most_bytes=most), width="stretch", alt=alt)
        st.markdown(plain(f"**{compare_words.money(row)}**{compare_words.mark(row)}"))
        verdict_help = FITS_MEANING.get(row["fits"], "no card is named, so nothing is said about fitting").capitalize() + "."
        st.caption(plain(f"{compare_words.hourly(row)}  \n{memory_of(row)}"), help=verdict_help)
        if row is not first and not first["problem"]:
            st.markdown(plain("  \n".join(compare_words.against(first, row))))
        elif row is first:
            st.caption("The others are compared with this one.")
    with st.container(horizontal=True, vertical_alignment="bottom"):
        button("Use in plan", kept.take, index, icon="input", key=f"take_{index}", disabled=bool(row["problem"]))
        st.menu_button("More", _possible(index), format_func=_action, on_click=_more, args=(index,), key=f"more_{index}")


def _name_key(index: int, name: str) -> str:
    """Another place or name is another field, which begins with that name."""
    return f"name_{index}_{name}"


def _possible(index: int) -> list[str]:
    left, right = [LEFT] * (index > 0), [RIGHT] * (index < len(kept.kept()) - 1)
    return [*left, *right, *[AGAIN] * (not kept.is_full()), AWAY]


def _action(name: str) -> str:
    """An entry of a card's menu: its icon and its name."""
    return f":material/{ICONS[name]}: {name}"


def _more(index: int) -> None:
    """Callback: what was chosen in a card's menu."""
    what = st.session_state[f"more_{index}"]
    if what in (LEFT, RIGHT):
        kept.move(index, 1 if what == RIGHT else -1)
    elif what == AGAIN:
        kept.duplicate(index)
    else:
        kept.remove(index)


def _rename(index: int) -> None:
    """Callback: another name; where the row is one of six chosen, it stays chosen."""
    before, state = kept.kept()[index]["name"], st.session_state
    kept.rename(index, state[_name_key(index, before)])
    after = kept.kept()[index]["name"]
    state["side_by_side"] = [after if name == before else name for name in state.get("side_by_side", [])]


def words_table(choices: pd.DataFrame, names: list[str], alt: str) -> None:
    """A row per choice, a column per scenario."""
    if not len(choices):
        st.caption("Nothing.")
        return
    lines = [
        {"": label, **dict(zip(_headers(names), map(plain, cells), strict=False))}
        for label, *cells in choices[["label", *range(len(names))]].itertuples(index=False)
    ]
    text_table(lines, alt)


def figures_table(rows: list[Row], names: list[str]) -> None:
    """Memory by component, money and time, a column per scenario."""
    lines = [{"": label, **dict(zip(_headers(names), cells, strict=True))} for label, cells in compare_words.figures(rows)]
    text_table(lines, "Memory by component, money and time of each scenario")


def _headers(names: list[str]) -> list[str]:
    """Names as column heads."""
    return [plain(name) for name in names]
