"""The lines of one answer's bill, and how certain each is."""

from datetime import date

import pandas as pd

from calc.catalogs.load import Catalogs
from calc.cost import offers
from calc.cost.job import ends_of
from calc.cost.markets import MARKETS
from calc.evaluate import Row
from calc.plan.bill import month_generated_tokens, working_instances
from calc.plan.figures import figures
from calc.say.numbers import (
    billed_usd,
    is_missing,
    percent,
    span,
    span_between,
    three_digits,
    usd,
    with_noun,
)
from calc.say.speed import rate_unit, rate_words, run_amount, work_amount
from calc.say.verdict import fit_words
from views.shared import row_words
from views.shared.markdown import plain
from views.shared.tables import text_table
from views.shared.texts import texts_beside

TEXTS = texts_beside(__file__)


def line_by_line(row: Row, table: pd.DataFrame, catalogs: Catalogs) -> None:
    """Draw the lines of a bill: what is paid, for how long, GPU hours, USD. `table`: bill.lines."""
    heads = ("What is paid", "For", "Time", "GPU-hours", "$ an hour", "$")
    rows = [
        dict(zip(heads, map(plain, line), strict=True))
        for line in _bill_table(row, table, catalogs)
    ]
    text_table(rows, "The lines of the bill")


def place(row: Row, catalogs: Catalogs) -> str:
    """The working machines of a bill: 2 × p5.48xlarge in N. Virginia, or its cards by name."""
    return row_words.where(
        {**row, "instances_needed": working_instances(row), "market": ""},
        catalogs,
        with_region=True,
    )


def summary(row: Row, market_line: Row) -> str:
    """Between which ends the bill lies; `own` is the row's market of bill.on_markets."""
    if not ends_of(row):
        working = working_instances(row)
        load = ""
        if row["resting_instances"]:
            load = (
                f"{working - row['resting_instances']:,.0f} of {working:,.0f} instances on average"
            )
        return f"For {row['hours']:,.0f} hours of the month, {load or 'whatever the load'}."
    if market_line["low_usd"] == market_line["high_usd"]:
        return (
            "The same wherever the run ends in the range of its time, since whole days are billed."
        )
    return f"Expect {billed_usd(market_line['low_usd'])} to {billed_usd(market_line['high_usd'])}."


def _bill_table(row: Row, table: pd.DataFrame, catalogs: Catalogs) -> list[tuple[str, ...]]:
    """Lines of the bill: what, what for, how long, GPU-hours, USD per hour, USD; their sum."""
    lines: list[tuple[str, ...]] = []
    for line in table.to_dict("records"):
        hours = line["hours"]
        timed = (
            (time(row, hours), three_digits(line["gpu_hours"]), usd(line["usd"] / hours))
            if hours
            else ("", "", row_words.own_share(row))
        )
        lines.append((*_line(row, line["line"], catalogs), *timed, usd(line["usd"])))
    if len(lines) == 1:
        return lines
    total = time(row, table.loc[table["line"] != "spare", "hours"].sum())
    gpu_hours = f"**{three_digits(table['gpu_hours'].sum())}**"
    return [
        *lines,
        ("**Together**", "", f"**{total}**", gpu_hours, "", f"**{usd(row['usd'])}**"),
    ]


def time(row: Row, hours: float) -> str:
    """The time of a line of the bill: 18.5 min of a run; 730 h of a month."""
    return span(hours) if ends_of(row) else f"{hours:,.0f} h"


def _line(row: Row, line: str, catalogs: Catalogs) -> tuple[str, str]:
    """Return what is rented, and what for."""
    if line != "work":
        return "", TEXTS["lines"][
            "first_token" if line == "start" and row["work"] == "inference" else line
        ]
    machines = f"{place(row, catalogs)}, {MARKETS[row['market']].label}"
    if ends_of(row):
        rate = rate_words(row["run_tokens_per_second"], row, catalogs)
        return machines, f"{run_amount(row, catalogs)} at {rate}"
    return (
        machines,
        (
            f"up to {work_amount(month_generated_tokens(row), row, catalogs)}, "
            f"{rate_words(row['tokens_per_second'], row, catalogs)}"
        ),
    )


def idle(row: Row) -> str:
    """A warning where GPUs are paid and not used."""
    if not row["idle_gpus"] > 0:
        return ""
    one = row["idle_gpus"] == 1
    return (
        f"{row['idle_gpus']:.0f} of {row['gpus_paid']:.0f} GPUs {'is' if one else 'are'} paid "
        f"and stay{'s' if one else ''} idle."
    )


def how_sure(row: Row, market_line: Row, today: date, catalogs: Catalogs) -> list[str]:
    """Sentences on time, price, memory, spot and what the estimate assumes of this row."""
    return [
        *filter(
            None,
            (
                _time(row, catalogs),
                _price(row, market_line, today),
                _memory(row),
                _spot(row),
                row.get("note"),
            ),
        )
    ]


def _time(row: Row, catalogs: Catalogs) -> str:
    """Return how far time, or the load that a service carries, may be off."""
    if ends_of(row):
        if is_missing(row["run_hours"]):
            return (
                "**Time**: the speed of this card with this number format is not known, so there "
                "is no time and no cost of the run."
            )
        ends = span_between(row["run_low_hours"], row["run_high_hours"])
        return (
            f"**Time**: {ends} without interruption; the middle is "
            f"{row_words.time_rests_on(row)} (Accuracy, on Catalog). "
            "The bill moves in step with it."
        )
    size = rate_unit(row, catalogs).tokens_per_second
    slow = three_digits(row["low_tokens_per_second"] / size)
    fast = rate_words(row["high_tokens_per_second"], row, catalogs)
    rests = f"; the middle is {row_words.time_rests_on(row)}" if row["time_basis"] else ""
    return f"**Load**: {slow} to {fast}{rests}. The bill is for hours and does not move with it."


def _price(row: Row, market_line: Row, today: date) -> str:
    """Return what the price rests on, and how old it is."""
    share = row_words.own_share(row)
    share = f" All prices are paid {share} (Your discount)." if share else ""
    if market_line["basis"] == "private":
        return (
            f"**Price**: of your own contract, {usd(row['private_usd_per_hour'])} an hour for an "
            f"instance.{share}"
        )
    if not market_line["basis"]:
        return f"**Price**: none is known {MARKETS[row['market']].phrase} in this region."
    days, check = _age(market_line["as_of"], row["market"], today)
    age = f"{with_noun(days, 'day')} old" + (": check it before you sign" if check else "")
    basis = (
        f"{market_line['basis']} ({TEXTS['basis'].get(market_line['basis'], market_line['basis'])})"
    )
    return f"**Price**: {basis}, of {market_line['as_of']}, {age}.{share}"


def price_day_words(day: str, market: str, today: date) -> str:
    """Return the day of a price and its age, as in 2026-07-20, 125 days: old."""
    if not day:
        return ""
    days, old = _age(day, market, today)
    return f"{day}, {with_noun(days, 'day')}{': old' if old else ''}"


def _age(day: str, market: str, today: date) -> tuple[int, bool]:
    """Days since a price's day, and whether that is old on its market."""
    days = offers.days_since(day[:10], today)
    return days, days > MARKETS[market].old_days


def _memory(row: Row) -> str:
    """Return how certain it is that the memory fits."""
    used_percent = percent(figures(row).used_ratio)
    return {
        "yes": f"**Memory**: {fit_words(row)}, {used_percent} of the card.",
        "tight": (
            f"**Memory**: tight, {used_percent} of the card: the job may run out of memory. Try it "
            f"before you book."
        ),
        "no": "**Memory**: does not fit its card. The bill is of a job that would fail.",
    }.get(row["fits"], "")


def _spot(row: Row) -> str:
    """Return how often Spot instances are taken back, and what that costs."""
    if not MARKETS[row["market"]].interrupted:
        return ""
    band = (
        f"AWS's band {row['interruption_band']}"
        if row["interruption_band"]
        else "no band is published for it"
    )
    return (
        f"**Interruptions**: {percent(row['interruption_ratio'])} of such instances are "
        f"taken back in a month ({band}). "
    ) + (
        TEXTS["sober"].format(usd(row["sober_run_usd"]), span(row["sober_run_hours"]))
        if ends_of(row)
        else TEXTS["spare"]
    )
