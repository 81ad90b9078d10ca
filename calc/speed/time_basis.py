"""The basis of a time: how near published runs are, and what widens its range."""

from typing import NamedTuple

import numpy as np
import pandas as pd

from calc.catalogs.caches import cached_per_catalogs
from calc.catalogs.load import Catalogs
from calc.evaluate import Columns
from calc.scenarios.lookups import catalog_rows, row_numbers, work_of
from calc.speed.spread import AXES, CORNERS
from calc.table import Words

BASES = ("measured nearby", "calibrated", "derived", "assumed", "extrapolated")
CATALOGS = (
    "implementations",
    "models",
    "gpus",
    "precisions",
)  # of the words that name a published run, after its work
AXIS_BIT, RUNS_BIT = len(CORNERS), len(CORNERS) + len(AXES)
NO_TIME = -1
CORRECTED = "corrected by your own runs"
UNKNOWN_SUPPORT = "whether the software runs there in this format is not known"


class Basis(NamedTuple):
    """The basis of each row's time, a word of BASES, and the reason."""

    time_basis: Words
    time_reason: Words


def basis(table: Columns, runs: Words, catalogs: Catalogs) -> Basis:
    """The basis of the times of a table of one kind of work; empty where there is no time.

    Published runs of the same model, software, card and precision are best, rows outside of all
    published runs worst; between them the least certain corner decides
    (catalogs/calibrated/time_spreads.yaml). A time is at best assumed where `runs` is unknown.
    """
    work = work_of(table)
    corners = table["layout_corners"] | table["place_corners"]
    code = (
        corners + (table["axes_outside"] << AXIS_BIT) + (_runs(table, catalogs, work) << RUNS_BIT)
    )
    code = 2 * code + ((table["trains"] == 0) & (table["generates"] == 0))
    code = 2 * code + runs.are("unknown")
    codes, distinct = pd.factorize(
        np.broadcast_to(
            np.where(np.isnan(table["tokens_per_second"]), NO_TIME, code), table["rows"]
        )
    )
    reasons_of = [_reason(catalogs, int(code), work) for code in distinct]
    words, reasons = zip(*reasons_of, strict=True)
    rests = (table["time_run_share"] > 0) | (table["first_token_run_share"] > 0)
    corrected = [
        "; ".join(filter(None, (reason, CORRECTED))) if word else "" for word, reason in reasons_of
    ]
    of_reasons = Words(codes + len(reasons) * rests, np.array([*reasons, *corrected], dtype=object))
    return Basis(Words(codes, np.array(words, dtype=object)), of_reasons)


def _runs(table: Columns, catalogs: Catalogs, work: str) -> np.ndarray:
    """Published runs of each row's software, model, card and precision. [runs]"""
    software, precision = (
        catalog_rows(catalogs, f"{name}s", table[name].vocabulary)[table[name].codes]
        for name in ("implementation", "precision")
    )
    key = _key((software, table["model_row"], table["gpu_row"], precision), catalogs)
    keys, runs = _published_keys(catalogs, work)
    row = np.minimum(np.searchsorted(keys, key), len(keys) - 1)
    return np.where(keys[row] == key, runs[row], 0)


@cached_per_catalogs("time_runs", *CATALOGS)
def _published_keys(catalogs: Catalogs, work: str) -> tuple[np.ndarray, np.ndarray]:
    """Keys of the published runs of a kind of work, sorted, with counts; no row has the first."""
    runs = {
        tuple(name.split()[1:]): runs
        for name, runs in catalogs.time_runs["runs"].items()
        if name.split()[0] == work
    }
    keys = _key(
        [
            catalog_rows(catalogs, name, [words[place] for words in runs])
            for place, name in enumerate(CATALOGS)
        ],
        catalogs,
    )
    order = np.argsort(keys)
    return np.append(-1, keys[order]), np.append(
        0, np.array([*runs.values()], dtype=np.int64)[order]
    )


def _key(rows, catalogs: Catalogs) -> np.ndarray:
    """Row numbers in CATALOGS, -1 for none, as one number."""
    key = np.zeros(1, dtype=np.int64)
    for row, name in zip(rows, CATALOGS, strict=True):
        key = key * (len(row_numbers(catalogs, name)) + 1) + row + 1
    return key


@cached_per_catalogs("time_spreads", "time_boxes")
def _reason(catalogs: Catalogs, code: int, work: str) -> tuple[str, str]:
    """The word and the reason of one combination of corners, axes and published runs."""
    if code == NO_TIME:
        return "", ""
    is_unknown, code = bool(code & 1), code >> 1
    work, code = "encoding" if code & 1 else work, code >> 1
    runs, spreads, boxes = code >> RUNS_BIT, catalogs.time_spreads, catalogs.time_boxes
    inside = spreads[[bool(code >> place & 1) for place in range(len(CORNERS))]]
    outside = boxes[[bool(code >> AXIS_BIT + place & 1) for place in range(len(AXES))]]
    word = max(["calibrated", *inside["basis"]], key=BASES.index)
    word = "extrapolated" if len(outside) else "measured nearby" if runs else word
    if is_unknown:
        word = max(word, "assumed", key=BASES.index)
    beyond = [
        (
            f"{axis['label']} outside the {axis[f'{work}_low']:,.0f} to "
            f"{axis[f'{work}_high']:,.0f} of published runs"
        )
        for _, axis in outside.iterrows()
    ]
    nearby = (
        [
            (
                f"{runs:,} published {'run' if runs == 1 else 'runs'} of this model, software, "
                f"card and precision"
            )
        ]
        if runs
        else []
    )
    return word, "; ".join(
        [
            *([UNKNOWN_SUPPORT] if is_unknown else []),
            *beyond,
            *nearby,
            *inside["meaning"].drop("first-token", errors="ignore"),
        ]
    )
