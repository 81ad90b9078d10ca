"""Differences of answers: against the ticked one in a line, and every figure side by side."""

from collections.abc import Callable
from html import escape
from typing import Any

import pandas as pd
import streamlit as st

from calc.catalogs.load import Catalogs
from calc.charts.result_tables import COMPONENT_LABELS
from calc.columns import COMPONENTS
from calc.cost.job import ends_of
from calc.cost.markets import MARKETS
from calc.evaluate import Row
from calc.memory.moments import components_of
from calc.plan.figures import needed_parts, released_cache_bytes
from calc.say.answer_name import other_work
from calc.say.cases import Money
from calc.say.change import cause_in_words
from calc.say.differences import choices
from calc.say.numbers import (
    duration,
    gib_of,
    is_missing,
    percent_with_sign,
    span,
    three_digits,
    usd,
    with_sign,
)
from calc.say.paid import gpu_hours_of, month_words, time_of_cost
from calc.say.setting import name_of
from calc.say.speed import (
    pace_ratio,
    pace_seconds,
    pace_unit,
    per_unit,
    rate_unit,
    rate_words,
    service_pace,
)
from calc.studies.differences import (
    MOST,
    Difference,
    differences,
    pace_change,
    speed_ratio,
)
from views.shared.markdown import plain
from views.shared.row_words import own_terms
from views.shared.tables import text_table
from views.shared.theme import COMPONENT_COLORS

SAME_RATIO = 1e-4  # smaller differences do not show
HOW = """Differences in memory are those of the components. Differences in cost and time are divided
among their factors by the logarithmic mean (Ang 2005), so that the parts sum to the whole; the
largest is named. All answers are estimated with today's catalogs."""


def in_a_line(first: Row, other: Row, money: Money, catalogs: Catalogs) -> str:
    """HTML: +$5, 26 min less: trains adapters only, 2.4 times the tokens a second."""
    result = differences(first, other)
    cost = result.get("usd")
    longer = 0.0 if bool(ends_of(first)) != bool(ends_of(other)) else pace_change(first, other)
    changes = (
        []
        if cost is None or is_missing(cost.change) or abs(cost.ratio) < SAME_RATIO
        else [_change_words(money.change(first["usd"], other["usd"]), money)]
    )
    changes += (
        [_time(longer, first, catalogs)] if abs(longer) > SAME_RATIO * first["seconds"] else []
    )
    work = [f"<b>{escape(words)}</b>" for words in other_work(first, other, catalogs)]
    causes = [*work, escape(_cause_of_money(result, first, other, catalogs))] if changes else work
    return ": ".join(
        filter(
            None, (", ".join(changes) or "the same cost and time", ", ".join(filter(None, causes)))
        )
    )


def _change_words(change_usd: float, money: Money) -> str:
    """The difference of two costs as they are written: −$8; the same cost."""
    return with_sign(change_usd, money) if change_usd else "the same cost"


def _time(longer_seconds: float, first: Row, catalogs: Catalogs) -> str:
    """The difference of two times: 26 min less; 12 ms a token more; 2 s for 30 s of sound less."""
    longer = duration(abs(longer_seconds) * pace_ratio(first, catalogs))
    unit = "" if ends_of(first) else f"{per_unit(first, catalogs)} "
    return f"{longer} {unit}{'more' if longer_seconds > 0 else 'less'}"


def _cause_of_money(
    result: dict[str, Difference], first: Row, other: Row, catalogs: Catalogs
) -> str:
    """Speed and price where both differ, else what mostly makes the difference."""
    hourly = result["usd_per_hour"].ratio
    speed = speed_ratio(first, other)
    if "hours" in result and abs(hourly) > SAME_RATIO and abs(speed - 1) > SAME_RATIO:
        market = ""
        if first["market"] != other["market"]:
            market = f"{MARKETS[other['market']].phrase}, "
        words = rate_unit(first, catalogs).words
        return (
            f"{market}{speed:.2g} times the {words} at {1 + hourly:.2g} times the price of an hour"
        )
    cause = result["usd"].cause if "usd" in result else ""
    return _cause(cause, first, other, catalogs) if cause else ""


def side_by_side(rows: pd.DataFrame, records: list[Row], money: Money, catalogs: Catalogs) -> None:
    """Six answers at most: what differs, the causes, every figure, and what is the same in all."""
    places = _places_to_show(records)
    rows_to_show = [records[place] for place in places]
    names = [plain(records[place]["scenario"]) for place in places]
    table = choices(rows.iloc[places], catalogs)
    differing, shared = table[table["differs"]], table[~table["differs"]]
    columns = dict(zip(range(len(names)), names, strict=True))
    _choices(differing, columns, "The choices in which the answers differ")
    first = rows_to_show[0]
    for row in rows_to_show[1:]:
        if lines := [] if first["problem"] or row["problem"] else _against(first, row, catalogs):
            st.markdown(
                plain(f"**{row['scenario']}** against {first['scenario']}: {'; '.join(lines)}.")
            )
    figures = [
        {"": label, **dict(zip(names, cells, strict=True))}
        for label, cells in _figures(rows_to_show, money, catalogs)
    ]
    text_table(figures, "Memory by component, money and time of each answer")
    st.markdown("The same in all of them, where it applies")
    _choices(shared, {"shared": "Value"}, "The choices that the answers share")
    st.caption(HOW)


def _places_to_show(rows: list[Row]) -> list[int]:
    """The places of all, or of the chosen six at most."""
    names = [row["scenario"] for row in rows]
    state = st.session_state
    if len(rows) <= MOST:
        return list(range(len(rows)))
    state["side_by_side"] = [
        name for name in state.get("side_by_side", []) if name in names
    ] or names[:MOST]
    chosen_names = st.multiselect(
        f"Side by side, {MOST} at most",
        names,
        key="side_by_side",
        max_selections=MOST,
        persist_state="session",
    )
    return sorted(names.index(name) for name in chosen_names) or list(range(MOST))


def _choices(table: pd.DataFrame, heads: dict[Any, str], alt: str) -> None:
    """A row per choice, and a column for each head, by the table's column."""
    cells = table[["label", *heads]].itertuples(index=False)
    lines = [
        {"": label, **dict(zip(heads.values(), map(plain, words), strict=True))}
        for label, *words in cells
    ]
    if lines:
        text_table(lines, alt)
    else:
        st.caption("Nothing.")


def _against(first: Row, other: Row, catalogs: Catalogs) -> list[str]:
    """Return how a row differs from the first: memory, $ per hour, time, cost, and each cause."""
    result = differences(first, other)
    period = month_words(first)

    # How each figure is written, its unit, and the words for no difference.
    writers: dict[str, tuple[Callable[[float], str], str, str]] = {
        "needed_bytes": (gib_of, " per GPU", "the same memory per GPU"),
        "usd_per_hour": (usd, " an hour", "the same price of an hour"),
        "hours": (span, "", "the same time"),
        "usd": (usd, period, f"the same cost{period}"),
    }
    lines = []
    for name, how in writers.items():
        if name in result:
            line = _line(result[name], *how, (first, other), catalogs)
            if line:
                lines.append(line)
    if "usd" not in result:
        lines.append("a run and a month: their cost is not compared")
    return lines


def _line(
    difference: Difference,
    say: Callable[[float], str],
    unit: str,
    same: str,
    pair: tuple[Row, Row],
    catalogs: Catalogs,
) -> str:
    """Return a difference and its main cause: −18 GiB per GPU, −23 %: optimizer state."""
    if is_missing(difference.change) or not difference.parts:
        return ""
    if abs(difference.ratio) < SAME_RATIO or not difference.cause:
        return same
    ratio = difference.ratio
    times = f"{three_digits(1 + ratio)} × as much" if ratio >= 2 else percent_with_sign(ratio)
    head = (
        f"**{with_sign(difference.change, say)}**{unit}, {times}: "
        f"{_cause(difference.cause, *pair, catalogs)}"
    )
    if not difference.against:
        return head
    more, less = (
        with_sign(difference.parts[name], say) for name in (difference.cause, difference.against)
    )
    return f"{head} ({more}), against {cause_in_words(difference.against)} ({less})"


def _cause(name: str, first: Row, other: Row, catalogs: Catalogs) -> str:
    """Return the main cause of a difference, in words."""
    before, after = first["instances"], other["instances"]
    if name == "instances":
        if (before, after) == (1, 2):
            return "a second instance"
        return f"{after:.0f} instance{'s' * (after > 1)} instead of {before:.0f}"
    if name == "speed":
        return (
            f"{rate_words(other['tokens_per_second'], other, catalogs)} instead of "
            f"{rate_words(first['tokens_per_second'], first, catalogs)}"
        )
    if name != "price":
        return cause_in_words(name)
    for column in ("instance", "market", "region"):
        words = [
            MARKETS[row[column]].phrase
            if column == "market"
            else name_of(column, row[column], catalogs)
            for row in (other, first)
        ]
        if words[0] != words[1]:
            return " instead of ".join(words)
    return "another price"


def _figures(rows: list[Row], money: Money, catalogs: Catalogs) -> list[tuple[str, list[str]]]:
    """Label and a cell per row: memory by component, cost, speed; no empty lines."""
    table = [
        ("What must fit, per GPU", [gib_of(row["needed_bytes"]) for row in rows]),
        *[_component_line(name, rows) for name in _components_of_any(rows)],
        ("Allocator's cache beside it", [_gib(released_cache_bytes(row)) for row in rows]),
        ("$ an hour", [usd(row["usd_per_hour"]) for row in rows]),
        ("Cost", [_cost(row, money) for row in rows]),
        ("GPU-hours", [gpu_hours_of(row) or "–" for row in rows]),
        ("Speed", [_speed(row, catalogs) for row in rows]),
        ("First token", [_first_token(row, catalogs) for row in rows]),
        ("Pace", [_pace(row, catalogs) for row in rows]),
    ]
    lines = []
    for label, cells in table:
        if any(cell != "–" for cell in cells):
            lines.append((label, [plain(cell) for cell in cells]))
    return lines


def _components_of_any(rows: list[Row]) -> list[str]:
    """The components of memory that the work of some row has, in the order of the charts."""
    components: set[str] = set()
    for row in rows:
        components |= {*components_of(row["work"])}
    return [name for name in COMPONENTS if name in components]


def _component_line(name: str, rows: list[Row]) -> tuple[str, list[str]]:
    """The label of a component in its color, and its memory in each row."""
    mark = f':color[■]{{foreground="{COMPONENT_COLORS[name]}"}}'
    cells = [_gib(needed_parts(row).get(name, 0.0)) for row in rows]
    return f"{mark} {COMPONENT_LABELS[name]}", cells


def _gib(size_bytes: float) -> str:
    """Memory in GiB; a dash where there is none, or the answer is refused."""
    return gib_of(size_bytes) if size_bytes > 0 else "–"


def _cost(row: Row, money: Money) -> str:
    """Return what it costs, and over what time."""
    if is_missing(row["usd"]):
        return "no price"
    return f"{money(row['usd'])}{own_terms(row)}" + time_of_cost(row)


def _first_token(row: Row, catalogs: Catalogs) -> str:
    """Return the time to the first token of a service that answers token by token, or a dash."""
    seconds = row["time_to_first_token_seconds"]
    is_per_token = row["work"] == "inference" and pace_unit(row, catalogs) == "token"
    return duration(seconds) if is_per_token and not is_missing(seconds) else "–"


def _pace(row: Row, catalogs: Catalogs) -> str:
    """Return the pace of a served model in its own unit, or a dash."""
    is_served = row["work"] == "inference" and not is_missing(pace_seconds(row, catalogs))
    return service_pace(row, catalogs) if is_served else "–"


def _speed(row: Row, catalogs: Catalogs) -> str:
    """Say how much a row computes in the unit of its job; a dash where that is not known."""
    rate = row["tokens_per_second"]
    return "–" if is_missing(rate) else rate_words(rate, row, catalogs)
