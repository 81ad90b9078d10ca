"""The table behind the picture of a step: the surfaces of its moments, the lines of cards."""

import re
from collections.abc import Sequence

import pandas as pd

from calc.catalogs.load import Catalogs
from calc.charts.result_tables import COMPONENT_LABELS, word_column
from calc.columns import COMPONENTS
from calc.say.place import short_card
from calc.units import GIB

OF_CARD = ("card_gib", "safe_gib", "sure_ratio")
VOWELS = "AEFHILMNORSX"  # letters whose names begin with a vowel: an H100, an L4


def walk_table(
    rows: pd.DataFrame, cards: pd.DataFrame, dials: Sequence[str], card: str, catalogs: Catalogs
) -> pd.DataFrame:
    """The components of each moment (kind part), and below them the cards (kind card).

    `rows` and `cards` are those of a `Walk`. Every part also has card_gib, safe_gib and sure_ratio
    of the plan's `card`. The picture knows the dials by number: dial_0, dial_1 ...
    """
    columns = {name: f"dial_{place}" for place, name in enumerate(dials)}
    dial_columns = list(columns.values())
    card_lines = cards.rename(columns=columns)[[*dial_columns, "card", *OF_CARD]]
    of_plan = card_lines[card_lines["card"] == card].drop(columns="card")
    parts = rows.rename(columns=columns).merge(of_plan, on=dial_columns)
    parts = parts.assign(
        kind="part",
        order=parts["component"].map(list(COMPONENTS).index),
        stop=parts["stop"] + 1,
        component=word_column(parts["component"].map(COMPONENT_LABELS)),
    )
    names = word_column([line_name(name, catalogs) for name in card_lines["card"]])
    return pd.concat([parts, card_lines.assign(kind="card", card=names)], ignore_index=True)


def by_moment(rows: pd.DataFrame, stops: Sequence[str]) -> pd.DataFrame:
    """The GiB of each component at each stop, and their total; a row for each component."""
    parts = {
        COMPONENT_LABELS[name]: rows[rows["component"] == name].groupby("stop")["gib"].sum()
        for name in COMPONENTS
    }
    table = (
        pd.DataFrame({label: sizes for label, sizes in parts.items() if len(sizes)})
        .reindex(range(len(stops)))
        .T
    )
    totals = rows.groupby("stop")["gib"].sum().reindex(range(len(stops))).rename("In all")
    return (
        pd.concat([table, totals.to_frame().T])
        .set_axis(list(stops), axis=1)
        .rename_axis("GiB per GPU")
        .reset_index()
    )


def line_name(card: str, catalogs: Catalogs) -> str:
    """The card with the memory that its driver reports: H100 · 80."""
    name = re.sub(r" \d+GB$", "", short_card(card, catalogs))
    return f"{name} · {catalogs.gpus['memory_bytes'][card] / GIB:.0f}"


def with_article(name: str) -> str:
    """Return a card's name after its article: an H100, a B200."""
    return f"{'an' if name[0] in VOWELS else 'a'} {name}"
