"""The speed of serving in words, in the unit of what is served: tokens, images or sound."""

from typing import NamedTuple

from calc.catalogs.load import Catalogs
from calc.cost.job import ends_of
from calc.evaluate import Row
from calc.job.measure import SOUND, Measure, measure_of, sound_seconds
from calc.say.numbers import count, duration, is_missing, three_digits
from calc.units import HOUR_SECONDS


def serving_speed(row: Row, catalogs: Catalogs) -> str:
    """Return the speed of a service or of offline work; empty for a run.

    Examples: 2.6 s, then 64 ms a token; 20 ms a batch; 6.1 s for 30 s of sound; 192 images a
    second.
    """
    if row["work"] != "inference":
        return ""
    if ends_of(row):
        return rate_words(row["run_tokens_per_second"], row, catalogs)
    first_seconds = row["time_to_first_token_seconds"]
    is_per_token = not (is_missing(first_seconds) or _is_encoder(row) or _hears(row, catalogs))
    first = f"{three_digits(first_seconds)} s, then " if is_per_token else ""
    return first + service_pace(row, catalogs)


def service_pace(row: Row, catalogs: Catalogs) -> str:
    """Return the pace of a service: 58 ms a token; 20 ms a batch; 6.1 s for 30 s of sound."""
    seconds = pace_seconds(row, catalogs)
    if is_missing(seconds) and _is_encoder(row):
        return ""
    return f"{duration(seconds)} {per_unit(row, catalogs)}"


def per_unit(row: Row, catalogs: Catalogs) -> str:
    """Return what a service's pace is for: a token; a batch; for 30 s of sound."""
    unit = one_unit(row, catalogs)
    return f"for {unit}" if _hears(row, catalogs) else unit


def one_unit(row: Row, catalogs: Catalogs) -> str:
    """Return one unit of a service's pace: a token; a batch; 30 s of sound."""
    unit = paced_by(row, catalogs)
    return unit if _hears(row, catalogs) else f"a {unit}"


def paced_by(row: Row, catalogs: Catalogs) -> str:
    """Return the unit of a service's pace: token; batch of an encoder; 30 s of sound."""
    unit = pace_unit(row, catalogs)
    if unit == "sound":
        return f"{duration(sound_seconds(row['model'], catalogs))} of sound"
    return unit


def pace_unit(row: Row, catalogs: Catalogs) -> str:
    """Return the code of the unit of a service's pace: token, batch or sound."""
    if _is_encoder(row):
        return "batch"
    return "sound" if _hears(row, catalogs) else "token"


def pace_seconds(row: Row, catalogs: Catalogs) -> float:
    """Return the time of a service for the unit of its pace. [s]"""
    if _is_encoder(row):
        return float(row["burst_first_token_seconds"])
    if _hears(row, catalogs):
        return float(row["request_seconds_per_token"]) * _answer_tokens(row)
    return float(row["time_per_output_token_seconds"])


def pace_range_seconds(row: Row, catalogs: Catalogs) -> tuple[float, float, float]:
    """Return the time for the unit of a service's pace with the low and high end of its range."""
    time_column = "time_to_first_token" if _is_encoder(row) else "time_per_output_token"
    seconds = pace_seconds(row, catalogs)
    low, high = (
        seconds * float(row[f"{time_column}_{end}_seconds"]) / float(row[f"{time_column}_seconds"])
        for end in ("low", "high")
    )
    return seconds, low, high


def pace_ratio(row: Row, catalogs: Catalogs) -> float:
    """Return the time of a row for the unit of its pace over its column `seconds`; 1 for a run."""
    return 1.0 if ends_of(row) else pace_seconds(row, catalogs) / float(row["seconds"])


def _is_encoder(row: Row) -> bool:
    """Return whether a row of a service answers no token."""
    return is_missing(row["time_per_output_token_seconds"])


def _hears(row: Row, catalogs: Catalogs) -> bool:
    """Return whether a service's requests are sound."""
    return bool(sound_seconds(row["model"], catalogs))


class RateUnit(NamedTuple):
    """The unit in which the rate of offline work is stated, and its size in tokens per second."""

    words: str
    tokens_per_second: float


def rate_unit(row: Row, catalogs: Catalogs) -> RateUnit:
    """Return the unit of a row's rate: tokens a second; images a second; hours of sound an hour."""
    if row["work"] != "inference":
        return RateUnit("tokens a second", 1.0)
    unit = _measure(row, catalogs)
    if unit.words == SOUND:
        return RateUnit("hours of sound an hour", unit.tokens / HOUR_SECONDS)
    return RateUnit(f"{unit.words[1]} a second", unit.tokens)


def rate_words(tokens_per_second: float, row: Row, catalogs: Catalogs) -> str:
    """Return a rate in the unit of the work: 32,100 tokens a second; 192 images a second."""
    unit = rate_unit(row, catalogs)
    return f"{three_digits(tokens_per_second / unit.tokens_per_second)} {unit.words}"


def run_amount(row: Row, catalogs: Catalogs) -> str:
    """The work of a run: 150 million tokens; 1 million images; 1,000 hours of sound."""
    return work_amount(row["run_tokens"], row, catalogs)


def work_amount(tokens: float, row: Row, catalogs: Catalogs) -> str:
    """So many tokens in what the row's model reads: 150 million tokens; 1 million images."""
    if row["work"] != "inference":
        return f"{count(tokens)} tokens"
    words, unit_tokens = _measure(row, catalogs)
    return f"{count(tokens / unit_tokens)} {words[1]}{' of sound' if words == SOUND else ''}"


def _measure(row: Row, catalogs: Catalogs) -> Measure:
    """The unit of a row's work."""
    images = float(row.get("images_per_sequence") or 0.0)
    return measure_of(row, images, _answer_tokens(row), catalogs)


def _answer_tokens(row: Row) -> float:
    """Return the tokens that a request of a service generates."""
    return float(row["sequence_tokens"] - row["prompt_tokens"])
