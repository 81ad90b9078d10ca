"""Colors of a theme, of each component and of each verdict, with its word and mark."""

from typing import NamedTuple

import pandas as pd

from calc.charts.result_tables import word_column
from calc.columns import COMPONENTS
from calc.say.verdict import fit_word


class Ink(NamedTuple):
    """The colors of text, rules and strokes inside a chart, which Streamlit does not set."""

    text: str
    paper: str
    faint: str
    line: str
    track: str
    amber: str
    link: str


INKS = {
    "light": Ink(
        text="#1d2129",
        paper="#ffffff",
        faint="#5c6470",
        line="#c9ced6",
        track="#e3e7ed",
        amber="#8f5600",
        link="#1f5fa8",
    ),
    "dark": Ink(
        text="#eceff4",
        paper="#171614",
        faint="#a4acb9",
        line="#414855",
        track="#343a44",
        amber="#f0b24b",
        link="#82b4ee",
    ),
}

# The hues of Okabe-Ito with a brown and a gray, each 3 : 1 or more on the paper of both themes;
# found by search so that the smallest CIEDE2000 of any two of the first nine is 10.1, of neighbors
# 12.8, under protan, deutan, tritan and normal sight. The last is a violet, 9.3 from the nearest.
PALETTE = (
    "#3C67AA",
    "#B78E0F",
    "#10896D",
    "#9E6F93",
    "#0099E0",
    "#C93F03",
    "#79664E",
    "#8B9591",
    "#948F58",
    "#8448FC",
)
BLUE, ORANGE, RED, GRAY = PALETTE[0], PALETTE[1], PALETTE[5], PALETTE[7]
# Components of preference and reward training alone.
RARE = ("other_models_bytes", "rollout_engine_bytes")
COMPONENT_COLORS = dict(
    zip((*(name for name in COMPONENTS if name not in RARE), *RARE), PALETTE, strict=False)
)

# The verdicts: the word on screen, the mark at a bar's end, the shape and the color of a point.
FITS = {
    "yes": (fit_word("yes"), "✓", "circle", BLUE),
    "tight": (fit_word("tight"), "≈", "diamond", ORANGE),
    "no": (fit_word("no"), "✗", "cross", RED),
    "": (fit_word(""), "·", "square", GRAY),
}


def verdict_words(fits: pd.Series) -> pd.Index:
    """The verdict of each row in words."""
    return word_column([fit_word(value) for value in fits])
