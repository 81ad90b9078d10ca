"""Ranges of time by leaving one group out: `python -m validation.ranges`.

It prints the range that each combination of corners needs, and the range as it stands.

Rows of one model on one card err together, so that each such pair counts once: a group's weight is
1, however many its rows. The ends at which a twentieth lies beyond on either side are taken from
all groups but one and held against that one; the share inside is the mean over groups. A software's
own ends are those of its rows in no corner; a corner's are what its rows ask for beyond that, in
squared logarithms (calc/speed/spread.py). catalogs/calibrated/time_spreads.yaml and engines.yaml
hold what was chosen, rounded outwards. Rows of one source err together too: the share inside is
also that of each source held against the ends of all others.
"""

import numpy as np
import pandas as pd

from calc import load_catalogs
from calc.scenarios.inputs import BY_NAME
from calc.speed.spread import CORNERS
from validation.speed import (
    ASKED_AS_ANOTHER,
    OF_PROMPTS,
    encoders,
    errors,
    published,
    time_table,
    with_published_models,
)

BEYOND = 0.05  # of the rows on either side
UNSAID = ("one-source",)  # corners that widen nothing


def with_corners(rows, catalogs):
    """Add to the rows the log of true over estimated time, their corners and their group."""
    compared = errors(rows, catalogs)
    table, _ = time_table(rows[[name for name in rows if name in BY_NAME]].fillna(""), catalogs)
    codes = np.broadcast_to(
        table["layout_corners"].astype(int) | table["place_corners"].astype(int), len(rows)
    )
    corners = [
        " ".join(
            name for place, name in enumerate(CORNERS) if code >> place & 1 and name not in UNSAID
        )
        for code in codes
    ]
    is_time = compared["measured"].str.endswith("_seconds")
    true_ratio = np.where(
        is_time,
        compared["value"] / compared["predicted"],
        compared["predicted"] / compared["value"],
    )
    kind = np.where(
        compared["measured"].isin(OF_PROMPTS),
        "first token",
        np.where(compared["work"] == "training", "step", "token"),
    )
    half = [
        table[f"{'first_token' if prompt else 'time'}_{end}_ratio"]
        for prompt in (False, True)
        for end in ("low", "high")
    ]
    width = np.where(kind == "first token", half[3] - half[2], half[1] - half[0]) / 2
    group = compared["model"] + " " + compared["gpu"]
    return compared.assign(
        true_ln=np.log(true_ratio), corners=corners, kind=kind, group=group, half_width=width
    )


def ends(rows):
    """The 5th and 95th percentile of the log error; each group has weight 1."""
    ordered = rows.sort_values("true_ln")
    share = (1 / ordered.groupby("group")["true_ln"].transform("size")).cumsum()
    middle = (share - share.iloc[0] / 2) / share.iloc[-1]
    return np.interp([BEYOND, 1 - BEYOND], middle, ordered["true_ln"])


def held_out_inside(rows, by):
    """Mean share of the rows of a group or source that lie inside the ends of all others."""
    groups = rows.groupby(by)
    if groups.ngroups < 2:
        return np.nan
    inside = []
    for name, left_out in groups:
        low, high = ends(rows[rows[by] != name])
        inside.append(left_out["true_ln"].between(low, high).mean())
    return np.mean(inside)


def asked_for(rows):
    """The range that a set of rows needs, and how well it holds for a group that was left out."""
    low, high = np.exp(ends(rows))
    return pd.Series(
        {
            "rows": len(rows),
            "groups": rows["group"].nunique(),
            "low_ratio": low,
            "high_ratio": high,
            "held_out_inside_ratio": held_out_inside(rows, "group"),
            "sources": rows["source"].nunique(),
            "source_left_out_inside_ratio": held_out_inside(rows, "source"),
            "half_width": rows["half_width"].median(),
            "inside_ratio": rows["inside"].mean(),
        }
    )


def main():
    """Print the range that each combination of corners needs beside the range as it stands."""
    rows = with_corners(
        pd.concat([published(), encoders()], ignore_index=True),
        with_published_models(load_catalogs()),
    )
    rows = rows.assign(
        software=np.where(rows["engine"].str.contains(ASKED_AS_ANOTHER), "another", "named")
    )
    for by in (
        ["kind"],
        ["kind", "software", "implementation"],
        ["kind", "software", "implementation", "corners"],
    ):
        print(rows.groupby(by).apply(asked_for).round(3).to_string(), "\n")


if __name__ == "__main__":
    main()
