"""Numbers in words: three digits, GiB, USD, per cent, counts, durations, days."""

import math
from collections.abc import Callable
from datetime import date

from calc.table import is_missing as is_missing
from calc.units import GIB, HOUR_SECONDS, MIB

HOURS_WITH_TENTHS = 20  # hours and GPU-hours below that have a tenth
# A duration is written in the first unit whose limit it is below: limit [s], unit, its size [s],
# the number below which a tenth is written.
SPANS = (
    (1, "ms", 0.001, 100),
    (120, "s", 1, 10),
    (HOUR_SECONDS, "min", 60, 10),
    (72 * HOUR_SECONDS, "h", HOUR_SECONDS, HOURS_WITH_TENTHS),
    (math.inf, "days", 24 * HOUR_SECONDS, 20),
)
SPOKEN_UNITS = {  # of one, and of several
    "s": ("second", "seconds"),
    "min": ("minute", "minutes"),
    "h": ("hour", "hours"),
    "days": ("day", "days"),
}
LEAST_SHARE = 0.01  # that is given as a number
SMALL_GIB = 0.01  # below which memory is given in MiB
SCALES = ((1e12, " trillion"), (1e9, " billion"), (1e6, " million"))


def three_digits(value: float | None) -> str:
    """Three significant digits: 0.0123, 4.57, 98.3, 1,230."""
    if value is None or is_missing(value):
        return "unknown"
    if value == 0:
        return "0"
    digits = 2 - math.floor(math.log10(abs(value)))
    return f"{round(value, digits):,.{max(0, digits)}f}"


def gib(value: float | None) -> str:
    """Memory given in GiB: 1.25 GiB; a few MiB are no GiB: 7.73 MiB."""
    if value is None or is_missing(value):
        return "unknown"
    if 0 < value < SMALL_GIB:
        return f"{three_digits(value * GIB / MIB)} MiB"
    return f"{three_digits(value)} GiB"


def gib_digits(size_bytes: float) -> str:
    """Memory given in bytes, in GiB without the unit: 1.25."""
    return three_digits(size_bytes / GIB)


def gib_of(size_bytes: float) -> str:
    """Memory given in bytes, in GiB: 1.25 GiB."""
    return gib(size_bytes / GIB)


def size(size_bytes: float) -> str:
    """Memory given in bytes: 1.25 GiB, 424 MiB."""
    return f"{three_digits(size_bytes / MIB)} MiB" if size_bytes < GIB else gib_of(size_bytes)


def usd(value: float | None) -> str:
    """Money with cents below 100 dollars: $3.36, $36.20, $245, $40,200."""
    if value is None or is_missing(value):
        return "no price"
    sign = "−" if value < 0 else ""
    size = abs(value)
    return f"{sign}${size:,.2f}" if size < 100 else f"{sign}${three_digits(size)}"


def about(value: float | None) -> str:
    """Money with cents below 10 dollars: $3.36, $36, $245, $40,200."""
    return f"${value:,.0f}" if value is not None and 9.995 <= abs(value) < 100 else usd(value)


def billed_usd(value: float | None) -> str:
    """Money of a bill, whose lines have a sum: $3.36, $49, −$1,500, $16,352."""
    if value is None or not abs(value) >= 9.995:
        return usd(value)
    return f"{'−' if value < 0 else ''}${abs(value):,.0f}"


def percent(ratio: float | None) -> str:
    """A share in whole per cent: 12 %, under 1 %."""
    if ratio is None or is_missing(ratio):
        return "unknown"
    return "under 1 %" if 0 < abs(ratio) < LEAST_SHARE else f"{100 * ratio:.0f} %"


def more(ratio: float) -> str:
    """Return a ratio above 1 in words: 6 % more, 3.2 times as much, 42 times as much."""
    return f"{times(ratio)} as much" if ratio >= 2 else f"{percent(ratio - 1)} more"


def times(ratio: float) -> str:
    """Return a ratio of 2 or more in words: 3.2 times, 42 times."""
    return f"{ratio:,.{0 if ratio >= 10 else 1}f} times"


def longer(ratio: float) -> str:
    """Return a ratio of times above 1: 6 % longer, 3.2 times as long, 42 times as long."""
    return f"{times(ratio)} as long" if ratio >= 2 else f"{percent(ratio - 1)} longer"


def changed_by(ratio: float) -> str:
    """Return a relative change in words: 12 % more, 9 % less."""
    return f"{percent(abs(ratio))} {'more' if ratio > 0 else 'less'}"


def with_sign(value: float, say: Callable[[float], str]) -> str:
    """A difference with its sign, in the words of `say`: +$4.10, −18 GiB."""
    return f"{'+' if value > 0 else '−'}{say(abs(value))}"


def percent_with_sign(ratio: float) -> str:
    """A change given as a share, with its sign: +12 %, −9 %, under 1 %."""
    return percent(ratio) if abs(ratio) < LEAST_SHARE else with_sign(ratio, percent)


def duration(seconds: float | None, low: float | None = None, high: float | None = None) -> str:
    """A duration in one unit, with its range: 12.6 ms, 18 min, 4.5 h (3.6 to 6.9), 3.2 days."""
    if seconds is None or is_missing(seconds):
        return "unknown time"
    unit, size, digits = _unit_of(seconds)
    ends = _duration_range(seconds, low, high)
    return f"{seconds / size:,.{digits}f} {unit}{f' ({ends})' if ends else ''}"


def _duration_range(seconds: float, low: float | None, high: float | None) -> str:
    """The range of a duration in the unit of its middle: 3.6 to 6.9; empty if one lacks."""
    if low is None or high is None or any(map(is_missing, (seconds, low, high))):
        return ""
    _, size, digits = _unit_of(seconds)
    return f"{low / size:,.{digits}f} to {high / size:,.{digits}f}"


def span(hours: float | None, low: float | None = None, high: float | None = None) -> str:
    """Return a duration given in hours in words, with its range if there is one."""
    return duration(
        *(None if value is None else value * HOUR_SECONDS for value in (hours, low, high))
    )


def span_range(hours: float, low: float, high: float) -> str:
    """The range of a duration given in hours, in the unit of its middle: 3.6 to 6.9."""
    return _duration_range(*(value * HOUR_SECONDS for value in (hours, low, high)))


def span_between(low_hours: float, high_hours: float) -> str:
    """A range of durations given in hours: 3.6 to 6.9 h; 40 min to 1.5 h."""
    low, high = low_hours * HOUR_SECONDS, high_hours * HOUR_SECONDS
    unit, size, digits = _unit_of(low)
    is_one_unit = unit == _unit_of(high)[0]
    first = f"{low / size:,.{digits}f}" if is_one_unit else duration(low)
    return f"{first} to {duration(high)}"


def _unit_of(seconds: float) -> tuple[str, float, int]:
    """Return the unit of a duration, its length in seconds, and its number of decimals."""
    for limit, unit, size, tenths in SPANS:
        if seconds < limit:
            return unit, size, int(seconds / size < tenths)
    raise AssertionError("the last unit has no limit")


def spoken_span(hours: float) -> str:
    """Return a duration in hours as people say it: 54 minutes, 1 hour, 3.2 days."""
    number, unit = _short(hours * HOUR_SECONDS)
    one, several = SPOKEN_UNITS.get(unit, (unit, unit))
    return f"{number} {one if number == '1' else several}"


def short_duration(seconds: float) -> str:
    """A duration without a needless decimal: 4.5 h, 7 days."""
    return " ".join(_short(seconds))


def _short(seconds: float) -> tuple[str, str]:
    """The number of a duration, whole if it is nearly so, and its unit."""
    unit, size, digits = _unit_of(seconds)
    number = seconds / size
    is_whole = not round(number, 1) % 1
    return f"{number:,.{0 if is_whole else digits}f}", unit


def gpu_hours_text(value: float | None) -> str:
    """GPU-hours, rounded as hours are: 0.52, 7.4, 21, 192, 1,540."""
    if value is None or is_missing(value) or not 1 <= value < 100:
        return three_digits(value)
    return f"{value:.{int(value < HOURS_WITH_TENTHS)}f}"


def count(value: float | None) -> str:
    """A count or a rate: 8.03 billion, 4,096, 0.5."""
    if value is None or is_missing(value):
        return "unknown"
    for scale, name in SCALES:
        if abs(value) >= scale:
            return three_digits(value / scale) + name
    if value >= 100 or value == round(value):
        return f"{value:,.0f}"
    if value >= 1:
        return f"{value:,.1f}"
    return f"{value:.3g}"


def parameter_count(parameters: float) -> str:
    """Return a number of parameters as models are named by it: 8.03B, 596M."""
    scale, name = (1e9, "B") if parameters >= 1e9 else (1e6, "M")
    return three_digits(parameters / scale) + name


def amount(value: float, digits: int = 6) -> str:
    """An amount, to six digits as it was set: 150 million, 1.5 billion, 50,000, 0.5."""
    scale, name = _scale(value)
    if scale == 1 and float(value).is_integer():
        return f"{value:,.0f}"
    return f"{value / scale:,.{digits}g}{name}"


def amount_with_noun(value: float, noun: str, digits: int = 6) -> str:
    """An amount with its noun: 1 epoch, 0.5 epochs, 20 requests."""
    return f"{amount(value, digits)} {noun}{'' if value == 1 else 's'}"


def exact_amount(value: float) -> str:
    """An amount without loss: 150 million, 50,000, 1,234,567,890."""
    scale, _ = _scale(value)
    digits = float(f"{value / scale:.6g}")
    return amount(value) if round(digits * scale) == round(value) else f"{value:,.0f}"


def _scale(value: float) -> tuple[float, str]:
    """The largest unit of an amount that is not above it, with its name: million, thousand."""
    return next((pair for pair in SCALES if abs(value) >= pair[0]), (1, ""))


def with_capital(text: str) -> str:
    """The text with its first letter as a capital."""
    return text[:1].upper() + text[1:]


def as_sentence(text: str) -> str:
    """The text with a capital, unless it begins with the name of a format: bf16 stays."""
    return with_capital(text) if text.partition(" ")[0].isalpha() else text


def with_noun(number: int, noun: str) -> str:
    """A number with its noun: 1 row, 12 rows."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def day_text(day: date | str) -> str:
    """A day in words: 15 April 2026; a text that is no ISO date stays as it is."""
    try:
        when = date.fromisoformat(str(day))
    except ValueError:
        return str(day)
    return f"{when.day} {when:%B %Y}"
