"""The words of the board: its orders, its columns, what its marks mean."""

from typing import Any

from calc.catalogs.load import Catalogs
from calc.columns import GLOSSARY
from calc.cost.markets import MARKETS
from calc.evaluate import Row
from calc.say.numbers import about, is_missing
from calc.say.place import card_name
from calc.say.setting import name_of
from calc.say.verdict import FITS_MEANING
from views.theme import FITS

COLUMNS = {
    "training": ["usd", "hours", "usd_per_hour_on_demand", "usd_per_hour_spot", "tokens_per_second"],
    "inference": [
        *("usd", "time_to_first_token_seconds", "time_per_output_token_ms", "usd_per_hour_on_demand", "usd_per_hour_spot"),
        "tokens_per_second",
    ],
}
USD_HELP = "Of the whole job on its market: the run with its interruptions, or a month."
TANK_HELP = "Pale: the card's usable memory. Whisker: the range of the estimate. Hollow: it does not fit, and runs over the card's end."
VERDICT_HELP = "  \n".join(f"{FITS[each][1]} {FITS[each][0]}: {meaning}." for each, meaning in FITS_MEANING.items())


def orders(work: str) -> dict[str, str]:
    """The orders in words."""
    return {
        "money": "Money in all" if work == "training" else "Money a month",
        "hour": "Per hour",
        "fastest": "Fastest",
        "headroom": "Most headroom",
    }


def compared(job: dict[str, Any]) -> list[str]:
    """The choices of which several values are set by hand: columns of their own."""
    return [name for name, value in job.items() if isinstance(value, list) and name in GLOSSARY and name != "instance"]


def value(name: str, value: float | str, catalogs: Catalogs) -> str:
    """One value that is compared: bf16 mixed, 8."""
    return f"{value:g}" if isinstance(value, float) else name_of(name, value, catalogs)


def market(row: Row) -> str:
    """on demand, spot."""
    return MARKETS[row["market"]].label


def gpus(row: Row, catalogs: Catalogs) -> str:
    """8 × H100 SXM5 80GB; 4 of 8 × A100 where the others stay idle."""
    idle = "" if row["gpus"] == row["gpus_paid"] else f" of {row['gpus_paid']:.0f}"
    return f"{row['gpus']:.0f}{idle} × {card_name(row['gpu'], catalogs)}"


def alt(rows: list[Row]) -> str:
    """The takeaway of the table in under 120 characters."""
    priced = [row for row in rows if not is_missing(row["usd"])]
    least = f"; least money {about(priced[0]['usd'])} on {priced[0]['instance']}" if priced else ""
    return f"{len(rows)} arrangements, {sum(row['fits'] == 'yes' and not row['misses'] for row in rows)} possible{least}"


def caption(rows: list[Row]) -> str:
    """How to read and use the table."""
    below = " Below them, what is tight, emulated or outside a limit." if any(row["misses"] or row["fits"] != "yes" for row in rows) else ""
    return f"One row per instance type, at its least money.{below} Click a cell to look at a row; tick rows to keep them."
