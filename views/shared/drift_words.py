"""The wording of what has changed since a plan was written down, and why."""

from collections.abc import Callable

from calc.catalogs.load import Catalogs
from calc.cost.markets import MARKETS
from calc.evaluate import Row
from calc.plan.drift import FigureChange, causes, changes, price_day
from calc.say.numbers import (
    about,
    changed_by,
    day_text,
    gib,
    is_missing,
    span,
    usd,
    with_capital,
    with_noun,
)
from calc.say.paid import month_words
from calc.say.place import region_name
from calc.say.verdict import fit_word
from calc.scenarios.problems import quote_cell

LISTED = 5
SAID: dict[str, tuple[str, Callable[[float], str]]] = {
    "usd": ("The total cost", usd),
    "hours": ("The time", span),
    "memory_gib": ("The memory per GPU", gib),
}
ESTIMATED = ("memory_gib", "hours")  # in which prices have no part
CAUSES = {"facts": "facts of the catalogs", "formulas": "formulas"}


def change_sentences(row: Row, catalogs: Catalogs) -> list[str]:
    """A sentence for each change of a row since it was written down."""
    if row["problem"]:
        return [f"Today it cannot be estimated: {row['problem']}", *_because([row], catalogs)]
    figure_changes = changes(row)
    sentences = [
        _price(change, row, catalogs)
        for change in figure_changes
        if change.figure == "usd_per_hour"
    ]
    sentences += [
        f"{SAID[change.figure][0]}: {_figure(change)}."
        for change in figure_changes
        if change.figure in SAID
    ]
    if not is_missing(row.get("then_usd_per_hour")) and is_missing(row["usd_per_hour"]):
        sentences.append(f"No price is known today for {place(row, catalogs)}.")
    sentences += [_verdict("The verdict", row)] if _verdict_change(row) else []
    return sentences + (_because([row], catalogs) if _is_estimated(row, figure_changes) else [])


def among(rows: list[Row], catalogs: Catalogs) -> list[str]:
    """Return what has changed among rows: prices, the largest moves, verdicts and causes."""
    rows_and_changes = [(row, changes(row)) for row in rows if not row["problem"]]
    every = [(row, change) for row, changes_of_row in rows_and_changes for change in changes_of_row]
    prices = {}
    for row, change in every:
        if change.figure == "usd_per_hour":
            prices[place(row, catalogs), change.then] = _price(change, row, catalogs)
    sentences = _first(list(prices.values()), "prices")
    for figure, (label, _) in SAID.items():
        matches = [(row, change) for row, change in every if change.figure == figure]
        if matches:
            row, most = max(matches, key=lambda match: abs(match[1].ratio))
            sentences.append(
                f"{label} has moved in {with_noun(len(matches), 'scenario')}, most in "
                f"{_name(row, catalogs)}: {_figure(most)}."
            )
    verdicts = [
        _verdict(f"The verdict of {_name(row, catalogs)}", row)
        for row, _ in rows_and_changes
        if _verdict_change(row)
    ]
    estimated_rows = [
        row for row, changes_of_row in rows_and_changes if _is_estimated(row, changes_of_row)
    ]
    return [*sentences, *_first(verdicts, "verdicts"), *_because(estimated_rows, catalogs)]


def link_lines(row: Row, catalogs: Catalogs, is_still_first: bool) -> str:
    """The lines about the answer that a link brought; empty where it is today's."""
    sentences = change_sentences(row, catalogs) + (
        [] if is_still_first else ["Another answer comes first today: the heading has it."]
    )
    if not sentences:
        return ""
    lines = [f"- {sentence}" for sentence in sentences]
    day = day_text(row["then_made_on"] or "an unknown day")
    return "\n".join([f"Made on {day}: {_answer_then(row, catalogs)}. Since then:", "", *lines])


def place(row: Row, catalogs: Catalogs) -> str:
    """Return the place of a row: p5.48xlarge on demand in N. Virginia."""
    return (
        f"{row['instance'] or row['gpu'] or row['model']} {MARKETS[row['market']].phrase} in "
        f"{region_name(row['region'], catalogs)}"
    )


def _answer_then(row: Row, catalogs: Catalogs) -> str:
    """The answer as it was recorded: cost, machines and price."""
    money, hourly, count = "no price", "", ""
    if not is_missing(row["then_usd"]):
        period = month_words(row)
        money = f"about {about(row['then_usd'])}{period}"
    if not is_missing(row["then_usd_per_hour"]):
        hourly = f", {usd(row['then_usd_per_hour'])} an hour"
    if not is_missing(row["instances_needed"]):
        count = f"{row['instances_needed']:.0f} × "
    return f"{money} on {count}{place(row, catalogs)}{hourly}"


def _price(change: FigureChange, row: Row, catalogs: Catalogs) -> str:
    """Return the change of a price in a sentence."""
    day = price_day(row, catalogs)
    return (
        f"{place(row, catalogs)}: {usd(change.then)} → {usd(change.today)} an hour "
        f"({changed_by(change.ratio)})"
    ) + (f", its price of {day_text(day)}." if day else ".")


def _figure(change: FigureChange) -> str:
    write = SAID[change.figure][1]
    return f"{write(change.then)} → {write(change.today)} ({changed_by(change.ratio)})"


def _verdict(whose: str, row: Row) -> str:
    return f"{whose} was '{fit_word(row['then_fits'])}' and is '{fit_word(row['fits'])}' today."


def _verdict_change(row: Row) -> bool:
    return not is_missing(row.get("then_fits")) and row["fits"] != row["then_fits"]


def _is_estimated(row: Row, figure_changes: list[FigureChange]) -> bool:
    return _verdict_change(row) or any(change.figure in ESTIMATED for change in figure_changes)


def _because(rows: list[Row], catalogs: Catalogs) -> list[str]:
    """The causes of the changes, if the recorded versions show them."""
    result = {name for row in rows for name in causes(row, catalogs)}
    if not result:
        return []
    is_certain = not any(is_missing(row.get("then_facts_version")) for row in rows)
    words = (" and " if is_certain else " or ").join(
        words for name, words in CAUSES.items() if name in result
    )
    return [f"{with_capital(words)} have changed."]


def _first(sentences: list[str], what: str) -> list[str]:
    """Return the first sentences, and how many more there are."""
    return [
        *sentences[:LISTED],
        *([f"And {len(sentences) - LISTED:,} more {what}."] if len(sentences) > LISTED else []),
    ]


def _name(row: Row, catalogs: Catalogs) -> str:
    return quote_cell(row["scenario"]) or place(row, catalogs)
