"""Colours of a theme, of each component and of each verdict, with its word and mark."""

from typing import NamedTuple

import pandas as pd

from calc.charts.tables import word_column
from calc.columns import COMPONENTS
from calc.say.verdict import fit_word


class Ink(NamedTuple):
    """The colours of text, rules and strokes inside a chart, which Streamlit does not set."""

    text: str
    paper: str
    faint: str
    line: str
    track: str
    amber: str
    link: str


INKS = {
    "light": Ink(text="#1d2129", paper="#ffffff", faint="#5c6470", line="#c9ced6", track="#e3e7ed", amber="#8f5600", link="#1f5fa8"),
    "dark": Ink(text="#eceff4", paper="#171614", faint="#a4acb9", line="#414855", track="#343a44", amber="#f0b24b", link="#82b4ee"),
}

# Okabe-Ito in an order that keeps neighbours apart, then a brown and a grey found with the same measure: the smallest
# CIEDE2000 of any two of the eight is 10.9, of neighbours 14, under protan, deutan, tritan and normal sight. The last
# is Okabe-Ito's yellow, for a ninth component; a wine for a tenth.
PALETTE = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#7A4E2D", "#6B6B6B", "#F0E442", "#882255")
BLUE, ORANGE, RED, GREY = PALETTE[0], PALETTE[1], PALETTE[5], PALETTE[7]
RARE = ("other_models_bytes", "rollout_engine_bytes")  # components of preference and reward training alone
COMPONENT_COLOURS = dict(zip((*(name for name in COMPONENTS if name not in RARE), *RARE), PALETTE, strict=False))

# The verdicts: the word on screen, the mark at a bar's end, the shape and the colour of a point.
FITS = {
    "yes": (fit_word("yes"), "✓", "circle", BLUE),
    "tight": (fit_word("tight"), "≈", "diamond", ORANGE),
    "no": (fit_word("no"), "✗", "cross", RED),
    "": (fit_word(""), "·", "square", GREY),
}


def verdict_words(fits: pd.Series) -> pd.Index:
    """The verdict of each row in words."""
    return word_column([fit_word(value) for value in fits])
