"""Near ties of the first answer in words: their heading, and how far they can be ranked."""

from calc.catalogs.load import Catalogs
from calc.cost.job import ends_of
from calc.evaluate import Row
from calc.plan.figures import figures
from calc.say.numbers import about, is_missing, percent, with_capital
from calc.say.other_ways import tuned_words, untimed_words
from calc.say.place import place
from calc.search.options import Options
from calc.studies.alternatives import Alternatives
from calc.studies.near_ties import NearTies
from calc.studies.stricter_limits import LoadLimit

COUNTS = (
    "No",
    "One",
    "Two",
    "Three",
    "Four",
    "Five",
    "Six",
    "Seven",
    "Eight",
    "Nine",
    "Ten",
    "Eleven",
    "Twelve",
)
TIED = "Costs within {} are a tie: the easiest to get comes first, then the fastest."
ENDINGS = {1: "st", 2: "nd", 3: "rd"}


def near_ties_heading(types: NearTies, options: Options) -> str:
    """The heading: Four types within 10 %: any will do."""
    if options.job.get("have"):
        return "On each of your machines"
    if not types.close:
        return "The nearest types"
    if types.close == 1:
        return "No other type within 10 %"
    count = COUNTS[types.close] if types.close < len(COUNTS) else f"{types.close}"
    return f"{count} types within 10 %: any will do"


def how_sure(
    types: NearTies, load: LoadLimit | None, ways: Alternatives, catalogs: Catalogs
) -> str:
    """Return why they cannot be ranked, what the next one costs, and up to which load it holds.

    Where several are close, the table of all types has the next one.
    """
    if not types.close:
        return ""
    first = types.rows[0]
    parts = []
    if types.close > 1 and ends_of(first):
        parts = [f"Time is known to ± {_known_to(first)}."]
    if types.close > len(types.rows):
        parts.insert(0, f"{COUNTS[len(types.rows)]} of them are here.")
    if cheaper := [row for row in types.rows[1:] if row["usd"] < first["usd"]]:
        parts += dict.fromkeys(_why_behind(row, first, types.tie_ratio) for row in cheaper)
    if types.next is not None and types.close == 1:
        parts.append(
            f"The next type, {place(types.next)}, costs "
            f"{percent(types.next['usd'] / first['usd'] - 1)} more."
        )
    if load is not None:
        requests = f"{load.users:,} requests in flight"
        limit = f"takes up to {requests}; from the {_ordinal(load.users + 1)} on, {about(load.usd)}"
        parts.append(f"The answer {f'also takes {requests}' if is_missing(load.usd) else limit}.")
    parts += (
        [f"With a 1-year commitment it costs {about(ways.commitment_usd)} a month: Compare & bill."]
        if ways.commitment_usd is not None
        else []
    )
    if ways.tuned_row is not None:
        words = tuned_words(ways.tuned_row, first, catalogs)
        parts.append(f"{with_capital(words)}.")
    return " ".join(parts) + untimed_words(types.cheapest_without_time)


def _why_behind(cheaper: Row, first: Row, tie_ratio: float) -> str:
    """Return why a type that costs less than the first answer is behind it."""
    if first["usd"] <= tie_ratio * cheaper["usd"]:
        return TIED.format(f"{100 * (tie_ratio - 1):.2g} %")
    is_by_agreement = cheaper["obtainable"] == "by-agreement" != first["obtainable"]
    why = "AWS rents this many only by agreement" if is_by_agreement else "its price is older"
    return f"{place(cheaper)} costs less, but {why}."


def _ordinal(number: int) -> str:
    """A number as a place in an order: 1st, 7th, 12th, 22nd."""
    return f"{number:,}{'th' if number % 100 in (11, 12, 13) else ENDINGS.get(number % 10, 'th')}"


def _known_to(row: Row) -> str:
    """Half the range of a run's time, over its middle."""
    numbers = figures(row)
    return percent((numbers.high_hours - numbers.low_hours) / 2 / row["hours"])
