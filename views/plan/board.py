"""The board: a row for each arrangement; a cell shows its row, ticks keep rows."""

from typing import NamedTuple

import pandas as pd
import streamlit as st

from calc.answers.full_answer import Answer
from calc.catalogs.load import Catalogs
from calc.charts.result_tables import for_screen, pace_ms, word_column
from calc.columns import GLOSSARY
from calc.cost.job import ends_of
from calc.cost.markets import MARKETS
from calc.evaluate import Row
from calc.mappings import Arguments
from calc.plan.figures import records
from calc.say.numbers import about, is_missing
from calc.say.place import card_name, place, region_name
from calc.say.setting import name_of, setting
from calc.say.speed import one_unit, pace_unit, rate_unit
from calc.say.verdict import FITS_MEANING
from calc.search.board import ORDERS, RANKED, sort_board
from views.charts.tank import data_uri, tank_svg
from views.session import SESSION, kept_answers
from views.session.present_plan import look_at
from views.session.recent_results import recent_result
from views.shared import row_words
from views.shared.elements import button, segments
from views.shared.tables import NUMBER, TEXT, chosen_in, column, grid, of_rows
from views.shared.theme import FITS, Ink

# Pixels of a row and of the head; rows before the table scrolls.
ROW = 34
HEADER = 36
ROWS_IN_VIEW = 12
TANK = (150, 28)  # as high as a cell draws it
# Pixels of columns: all but how it is set stand side by side on a wide screen.
NARROW, CARD = 62, 150
MONEY: Arguments = {"format": "$%,.2f", "width": 84}
KEY = "board"
COLUMNS = {
    "training": [
        "usd",
        "hours",
        "usd_per_hour",
        "usd_per_hour_spot",
        "tokens_per_second",
        "carbon_kg",
    ],
    "inference": [
        "usd",
        "time_to_first_token_seconds",
        "usd_per_hour",
        "usd_per_hour_spot",
        "tokens_per_second",
        "carbon_kg",
    ],
}
ORDER_WORDS = {
    "money": "Cost",
    "hour": "Per hour",
    "fastest": "Fastest",
    "headroom": "Most free memory",
    "carbon": "Least CO2e",
}
USD_HELP = "Of the whole job on its market: the run with its interruptions, or a month."
TANK_HELP = (
    "Pale: the card's usable memory. Whisker: the range of the estimate. Hollow: it does not "
    "fit, and runs over the card's end."
)
VERDICT_HELP = "  \n".join(
    f"{FITS[fits][1]} {FITS[fits][0]}: {meaning}." for fits, meaning in FITS_MEANING.items()
)
COLUMN_LOOKS: Arguments = {  # of the columns that every job has; _columns adds the others
    "name": TEXT("Arrangement", pinned=True, width=155),
    "tank": st.column_config.ImageColumn(
        "Memory in its own card", width=TANK[0] + 16, alignment="left", help=TANK_HELP
    ),
    "verdict": TEXT("Verdict", width=195, help=VERDICT_HELP),
    "region": TEXT("Region"),
    "market": TEXT("Price", help="The market of USD in all."),
    "hours": NUMBER(
        "Hours",
        format="%,.2f",
        width=NARROW,
        help="Of the whole run on its market, interruptions counted.",
    ),
    "time_to_first_token_seconds": column(
        "time_to_first_token_seconds", "First token, s", format="%.3g"
    ),
    "usd_per_hour": NUMBER(
        "USD/h", help="All instances of the job, at the price of USD in all.", **MONEY
    ),
    "usd_per_hour_spot": column("usd_per_hour_spot", "On spot", **MONEY),
    "carbon_kg": column("carbon_kg", "CO2e, kg", format="%,.3g", width=NARROW),
    "card": TEXT("GPUs", width=CARD, help="Those used; of whole instances all are paid."),
    "setting": TEXT("How set", width="large", help="Typed in again, it gives the same figures."),
    "misses": TEXT(
        "Exceeds", width="large", help="Which limit of the job it exceeds, and by how much."
    ),
}


class Units(NamedTuple):
    """The unit of the throughput, and what a service's pace is the time of."""

    rate: str
    pace: str


def board(options: Answer, ink: Ink, catalogs: Catalogs) -> None:
    """The table, its order, and what to do with ticked rows."""
    with st.container(horizontal=True, vertical_alignment="center", key="board_head"):
        by = _order(options.job)
        of_rows(KEY, (options.job, by))
        frame = sort_board(options.board, by)
        rows = records(frame)
        _keep_button(rows)
    table = recent_result(
        "board",
        (options.job, by, ink, catalogs.version),
        lambda: _cells(frame, rows, options.job, ink, catalogs),
    )
    grid(
        table,
        _columns(options.job, list(table), _units(rows[0], catalogs)),
        _alt(rows),
        KEY,
        row_height=ROW,
        height=HEADER + ROW * min(len(rows), ROWS_IN_VIEW) + 2,
        on_select=lambda: _look_at_cell(rows),
        selection_mode=["multi-row", "single-cell"],
    )
    st.caption(_caption(rows, bool(options.job.get("have"))))


def _look_at_cell(rows: list[Row]) -> None:
    """Callback: a cell was clicked, or a row ticked; the cell's row is looked at."""
    cells = chosen_in(KEY, "cells")
    if cells and cells[0][0] < len(rows):
        look_at(rows[cells[0][0]])


def _order(job: Row) -> str:
    """Draw the choice of an order, and return the chosen one."""
    words = {name: ORDER_WORDS[name] for name in ORDERS}
    words[RANKED] += " in all" if ends_of(job) else " a month"
    return str(segments("Sort by", words, "sort", label_visibility="collapsed", **SESSION))


def _keep_button(rows: list[Row]) -> None:
    """Draw the button that keeps the ticked rows."""
    ticked_rows = [rows[index] for index in chosen_in(KEY) if index < len(rows)]
    button(
        f"Keep ticked ({len(ticked_rows)})" if ticked_rows else "Keep ticked",
        kept_answers.keep_all,
        ticked_rows,
        icon="bookmark_add",
        disabled=not ticked_rows,
        key="keep_ticked",
    )


def _alt(rows: list[Row]) -> str:
    """Return the table in a sentence, for readers who do not see it."""
    rows_with_price = [row for row in rows if not is_missing(row["usd"])]
    least = (
        f"; lowest cost {about(rows_with_price[0]['usd'])} on {rows_with_price[0]['instance']}"
        if rows_with_price
        else ""
    )
    possible = sum(row["fits"] == "yes" and not row["misses"] for row in rows)
    return f"{len(rows)} arrangements, {possible} possible{least}"


def _cells(
    frame: pd.DataFrame, rows: list[Row], job: Row, ink: Ink, catalogs: Catalogs
) -> pd.DataFrame:
    """Return the cells of the table."""
    names = COLUMNS["training" if ends_of(job) else "inference"]
    if not ends_of(job) and pace_unit(rows[0], catalogs) != "token":
        names = [name for name in names if name != "time_to_first_token_seconds"]
    table = for_screen(frame, names)
    if not ends_of(job):
        table.insert(names.index("usd_per_hour"), "pace_ms", pace_ms(frame, catalogs))
    table["tokens_per_second"] /= rate_unit(rows[0], catalogs).tokens_per_second
    table.insert(0, "name", word_column([place({**row, "market": ""}) for row in rows]))
    # After the cost, so that a phone shows both.
    table.insert(2, "verdict", word_column([row_words.verdict(row) for row in rows]))
    table.insert(3, "tank", word_column([data_uri(tank_svg(row, ink, *TANK)) for row in rows]))
    for name in reversed(_compared_columns(job)):
        table.insert(1, name, word_column([_value(name, row[name], catalogs) for row in rows]))
    if len({row["market"] for row in rows}) > 1:
        table.insert(1, "market", word_column([MARKETS[row["market"]].label for row in rows]))
    if len({row["region"] for row in rows}) > 1:
        table.insert(
            1, "region", word_column([region_name(row["region"], catalogs) for row in rows])
        )
    table["card"] = word_column([_gpus(row, catalogs) for row in rows])
    table["setting"] = word_column([setting(row, catalogs) for row in rows])
    if any(row["misses"] for row in rows):
        table["misses"] = word_column([row["misses"] for row in rows])
    return table


def _units(row: Row, catalogs: Catalogs) -> Units:
    """The units of a row; the pace of work that ends is not shown."""
    pace = "" if ends_of(row) else one_unit(row, catalogs)
    return Units(rate_unit(row, catalogs).words, pace)


def _columns(job: Row, names: list[str], units: Units) -> Row:
    """Return the format of each shown column."""
    looks = COLUMN_LOOKS | {
        "usd": NUMBER("USD in all" if ends_of(job) else "USD a month", help=USD_HELP, **MONEY),
        "pace_ms": NUMBER(
            f"{row_words.capital(units.pace)}, ms",
            format="%.3g",
            help=f"Milliseconds for {units.pace}, for one of the requests in flight.",
        ),
        "tokens_per_second": NUMBER(
            row_words.capital(units.rate),
            format="%,.0f",
            help="Throughput of all machines of the row.",
        ),
    }
    looks |= {name: column(name, kind=TEXT) for name in _compared_columns(job)}
    return {name: looks[name] for name in names}


def _compared_columns(job: Row) -> list[str]:
    """The choices of which several values are set by hand: columns of their own."""
    return [
        name
        for name, value in job.items()
        if isinstance(value, list) and name in GLOSSARY and name != "instance"
    ]


def _value(name: str, value: float | str, catalogs: Catalogs) -> str:
    """One value that is compared: bf16 mixed, 8."""
    return f"{value:g}" if isinstance(value, float) else name_of(name, value, catalogs)


def _gpus(row: Row, catalogs: Catalogs) -> str:
    """The GPUs of a row: 8 × H100 SXM5 80GB; 4 of 8 × A100 if the others stay idle."""
    idle = "" if row["gpus"] == row["gpus_paid"] else f" of {row['gpus_paid']:.0f}"
    return f"{row['gpus']:.0f}{idle} × {card_name(row['gpu'], catalogs)}"


def _caption(rows: list[Row], is_owned: bool) -> str:
    """Return how to read and use the table."""
    below = ""
    if any(row["misses"] or row["fits"] != "yes" for row in rows):
        below = " Below them, what is tight, emulated or outside a limit."
    best = "fastest" if is_owned else "lowest cost"
    return (
        f"One row per instance type, at its {best}.{below} Click a cell to look at a row; tick "
        f"rows to keep them."
    )
