"""The speed of serving in words, in the unit of what is served: tokens, images or sound."""

from calc.catalogs.load import Catalogs
from calc.cost.job import ends_of
from calc.evaluate import Row
from calc.job.measure import SOUND, measure, sound_seconds
from calc.say.numbers import duration, is_missing, three_digits
from calc.units import HOUR_SECONDS


def serving_speed(row: Row, catalogs: Catalogs) -> str:
    """Return the speed of a service or of offline work; empty for a run.

    Examples: 2.6 s, then 64 ms a token; 20 ms a batch; 6.1 s for 30 s of sound; 192 images a
    second.
    """
    if row["work"] != "inference":
        return ""
    if ends_of(row):
        return _offline_rate(row, catalogs)
    first_seconds = row["time_to_first_token_seconds"]
    is_per_token = not (is_missing(first_seconds) or _is_encoder(row) or _hears(row, catalogs))
    first = f"{three_digits(first_seconds)} s, then " if is_per_token else ""
    return first + service_pace(row, catalogs)


def service_pace(row: Row, catalogs: Catalogs) -> str:
    """Return the pace of a service: 58 ms a token; 20 ms a batch; 6.1 s for 30 s of sound."""
    if _is_encoder(row):
        batch_seconds = row["burst_first_token_seconds"]
        return "" if is_missing(batch_seconds) else f"{duration(batch_seconds)} a batch"
    if _hears(row, catalogs):
        answer_seconds = row["request_seconds_per_token"] * _answer_tokens(row)
        heard_seconds = sound_seconds(row["model"], catalogs)
        return f"{duration(answer_seconds)} for {duration(heard_seconds)} of sound"
    return f"{duration(row['time_per_output_token_seconds'])} a token"


def _is_encoder(row: Row) -> bool:
    """Return whether a row of a service answers no token."""
    return is_missing(row["time_per_output_token_seconds"])


def _hears(row: Row, catalogs: Catalogs) -> bool:
    """Return whether a service's requests are sound."""
    return bool(sound_seconds(row["model"], catalogs))


def _offline_rate(row: Row, catalogs: Catalogs) -> str:
    """32,100 tokens a second; 192 images a second; 242 hours of sound an hour."""
    unit = measure(row["model"], _answer_tokens(row), catalogs)
    rate = row["run_tokens_per_second"] / unit.tokens
    if unit.words == SOUND:
        return f"{three_digits(rate * HOUR_SECONDS)} hours of sound an hour"
    return f"{three_digits(rate)} {unit.words[1]} a second"


def _answer_tokens(row: Row) -> float:
    """Return the tokens that a request of a service generates."""
    return float(row["sequence_tokens"] - row["prompt_tokens"])
