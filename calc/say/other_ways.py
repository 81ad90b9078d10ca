"""Alternatives to an answer in words: other ways to pay, other speeds."""

from collections.abc import Iterator

from calc.catalogs.load import Catalogs
from calc.cost.job import ends_of
from calc.evaluate import Row
from calc.say.limits import region_words
from calc.say.numbers import about, count, duration, percent
from calc.say.paid import month_words
from calc.say.place import place
from calc.say.speed import one_unit, pace_seconds, rate_unit
from calc.studies.alternatives import Alternatives


def other_ways(ways: Alternatives, row: Row, catalogs: Catalogs) -> str:
    """Say the alternatives: For comparison, a one-year commitment costs $1,560 a month."""
    ways_text = "; ".join(_ways(ways, row, catalogs))
    return f" For comparison, {ways_text}." if ways_text else ""


def _ways(ways: Alternatives, row: Row, catalogs: Catalogs) -> Iterator[str]:
    """Yield each other way to pay or to place the work, in words."""
    period = month_words(row)
    if ways.commitment_usd is not None:
        yield f"a commitment of one year costs {about(ways.commitment_usd)} a month"
    if ways.endpoint_usd is not None:
        name = "Amazon Bedrock" if ways.is_bedrock else "the endpoint at its set price"
        tokens = "the same tokens"
        if ways.answers_per_day is not None:
            assumption = "an assumed " if ways.assumes_answers else ""
            tokens = f"{assumption}{count(ways.answers_per_day)} answers a person and working day"
        yield f"{name} charges {about(ways.endpoint_usd)}{period} for {tokens}"
    there = ways.region_row
    if there is not None:
        less = percent(1 - there["usd"] / row["usd"])
        yield (
            f"in {region_words(there['region'], catalogs)} the job costs {less} less on "
            f"{place(there)}"
        )
    if ways.tuned_row is not None:
        yield tuned_words(ways.tuned_row, row, catalogs)


def tuned_words(tuned_row: Row, row: Row, catalogs: Catalogs) -> str:
    """Return what tuned engine flags bring: a token takes 31 ms instead of 41 ms."""
    if ends_of(row):
        faster = tuned_row["tokens_per_second"] / row["tokens_per_second"] - 1
        return f"tuned engine flags give {percent(faster)} more {rate_unit(row, catalogs).words}"
    times = [duration(pace_seconds(one, catalogs)) for one in (tuned_row, row)]
    unit = one_unit(row, catalogs)
    return f"with tuned engine flags {unit} takes {times[0]} instead of {times[1]}"


def untimed_words(row: Row | None) -> str:
    """Cheaper, speed not known: 1 × g7.2xlarge, $1,650 a month."""
    if row is None:
        return ""
    period = month_words(row)
    return f" Cheaper, speed not known: {place(row)}, {about(row['usd'])}{period}."
