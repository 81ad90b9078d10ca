"""Ink and paper per theme, the colour of each component and verdict, and numbers as they are written on screen."""

import math
from typing import NamedTuple


class Ink(NamedTuple):
    """The colours of a theme that Streamlit does not hand to text, rules and strokes inside a chart."""

    text: str
    paper: str
    faint: str
    line: str


INKS = {
    "light": Ink(text="#1d2129", paper="#ffffff", faint="#5c6470", line="#c9ced6"),
    "dark": Ink(text="#eceff4", paper="#171614", faint="#a4acb9", line="#414855"),
}

# Okabe-Ito in an order that keeps neighbours apart, then a brown and a grey found with the same measure: the smallest
# CIEDE2000 of any two of the eight is 10.9, of neighbours 14, under protan, deutan, tritan and normal sight.
COMPONENT_COLOURS = {
    "weights_bytes": "#0072B2",
    "gradients_bytes": "#E69F00",
    "optimizer_bytes": "#009E73",
    "activations_bytes": "#CC79A7",
    "logits_bytes": "#56B4E9",
    "kv_cache_bytes": "#D55E00",
    "working_bytes": "#7A4E2D",
    "overhead_bytes": "#6B6B6B",
}
COMPONENT_LABELS = {
    "weights_bytes": "Weights",
    "gradients_bytes": "Gradients",
    "optimizer_bytes": "Optimizer state",
    "activations_bytes": "Activations",
    "logits_bytes": "Logits",
    "kv_cache_bytes": "KV cache",
    "working_bytes": "Working",
    "overhead_bytes": "Overhead",
}
# Components that cannot occur in a kind of work have no place in its legend.
ABSENT = {"training": ("kv_cache_bytes",), "inference": ("gradients_bytes", "optimizer_bytes")}

# The verdicts: the word on screen, the mark at a bar's end, the shape and the colour of a point.
FITS = {
    "yes": ("fits", "✓", "circle", "#0072B2"),
    "tight": ("tight", "≈", "diamond", "#E69F00"),
    "no": ("does not fit", "✗", "cross", "#D55E00"),
    "": ("no card named", "·", "square", "#6B6B6B"),
}
FITS_MEANING = {
    "yes": "the high end of the range is within the card",
    "tight": "the high end of the range is over the card; allocated peak, context and 5 % are within: it usually lives",
    "no": "the allocated peak with its context and 5 % is over the card",
}


def components_of(work):
    """The components that can occur in this kind of work, in their one order."""
    return tuple(name for name in COMPONENT_COLOURS if name not in ABSENT[work])


def word(fits):
    """The verdict in words."""
    return FITS.get(fits, FITS[""])[0]


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
    return f"${value:,.2f}" if abs(value) < 100 else f"${three(value)}"


def percent(ratio):
    """A share of one, in whole per cent."""
    return "unknown" if is_missing(ratio) else f"{100 * ratio:.0f} %"


def count(value):
    """A large count with its scale word: 8.03 billion, 135 million."""
    if is_missing(value):
        return "unknown"
    for scale, name in ((1e12, " trillion"), (1e9, " billion"), (1e6, " million")):
        if abs(value) >= scale:
            return three(value / scale) + name
    return f"{value:,.0f}"


def plain(text):
    """Text for Markdown elements, in which a pair of dollar signs would begin a formula."""
    return text.replace("$", "\\$")
