"""Numbers as they are written on screen: three digits, GiB, USD, per cent, counts, hours."""

import math
import re


def is_missing(value):
    """None, NaN and the empty text are values that nobody knows."""
    return value is None or value == "" or (isinstance(value, float) and math.isnan(value))


def three(value):
    """Three significant digits, thousands set apart: 0.0123, 4.57, 98.3, 1,230."""
    if is_missing(value):
        return "unknown"
    if value == 0:
        return "0"
    digits = 2 - math.floor(math.log10(abs(value)))
    return f"{round(value, digits):,.{max(0, digits)}f}"


def gib(value):
    """Memory in GiB."""
    return "unknown" if is_missing(value) else f"{three(value)} GiB"


def usd(value):
    """Money in USD; below 100 dollars cents count."""
    if is_missing(value):
        return "no price"
    sign, size = "-" if value < 0 else "", abs(value)
    return f"{sign}${size:,.2f}" if size < 100 else f"{sign}${three(size)}"


def about(value):
    """Money as it is said: $40,200, $245, $36, $3.36."""
    return f"${value:,.0f}" if not is_missing(value) and 9.995 <= abs(value) < 100 else usd(value)


def percent(ratio):
    """A share of one, in whole per cent."""
    if is_missing(ratio):
        return "unknown"
    return "under 1 %" if 0 < abs(ratio) < 0.01 else f"{100 * ratio:.0f} %"


# Below so many hours: the unit, its hours, and below how many of it a tenth is said.
SPANS = ((2 / 60, "s", 1 / 3600, 10), (1, "min", 1 / 60, 10), (72, "h", 1, 20), (math.inf, "days", 24, 20))


def span(hours, low=None, high=None):
    """A stretch of hours in one unit, with its range: 4.5 h (3.6 to 6.9), 18 min, 3.2 days."""
    if is_missing(hours):
        return "unknown time"
    unit, size, tenths = next((unit, size, tenths) for limit, unit, size, tenths in SPANS if hours < limit)
    digits = 1 if hours / size < tenths else 0
    ranged = "" if is_missing(low) or is_missing(high) else f" ({low / size:,.{digits}f} to {high / size:,.{digits}f})"
    return f"{hours / size:,.{digits}f} {unit}{ranged}"


def count(value):
    """A large count with its scale word: 8.03 billion, 135 million."""
    if is_missing(value):
        return "unknown"
    for scale, name in ((1e12, " trillion"), (1e9, " billion"), (1e6, " million")):
        if abs(value) >= scale:
            return three(value / scale) + name
    return f"{value:,.0f}"


def hours(value):
    """4.46 hours, 3.2 days."""
    if is_missing(value):
        return "unknown time"
    return f"{three(value)} hours" if value < 72 else f"{three(value / 24)} days"


def duration(seconds):
    """A stretch of time in the unit that people say: 12.6 ms, 4.2 s, 8.5 min, 3.1 h, 21 days."""
    if is_missing(seconds):
        return "unknown"
    for limit, unit, size in ((1, "ms", 1e-3), (120, "s", 1), (7200, "min", 60), (72 * 3600, "h", 3600)):
        if seconds < limit:
            return f"{three(seconds / size)} {unit}"
    return f"{three(seconds / 86400)} days"


MEANT_BY_MARKDOWN = re.compile(r"[\\$\[\]<`]")
ADDRESS = re.compile(r"://?|www\.|@(?=\w)", re.IGNORECASE)


def plain(text):
    """Text for Markdown elements that may hold words of a link or a file: no formula, link, picture, code or tag comes of it.

    Bold, italics and lists stay ours to use; an address that Markdown would link by itself gets a mark of no width.
    """
    return ADDRESS.sub("\\g<0>\u2060", MEANT_BY_MARKDOWN.sub(r"\\\g<0>", text))


def faint(text):
    """Markdown that stands back as a caption does, in the same element as other text."""
    return f":small[:gray[{text}]]"


def counted(count, noun):
    """1 row, 12 rows."""
    return f"{count:,} {noun}{'' if count == 1 else 's'}"
