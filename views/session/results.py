"""The results of validation, read again when a file changes; nothing is compared here."""

from pathlib import Path
from typing import NamedTuple

import pandas as pd
import streamlit as st

from calc.catalogs.strict_yaml import read_strictly

FOLDER = Path(__file__).resolve().parents[2] / "validation"
FILES = {
    name: FOLDER / "results" / f"{name}.csv"
    for name in (
        "errors",
        "summary",
        "left_out",
        "speed_errors",
        "verdicts",
        "calibration",
        "arrivals",
        "league",
        "fitted_and_left_out",
    )
}
REASONS, MADE = FOLDER / "misses.yaml", FOLDER / "data" / "README.md"
NUMBERS = ("truth", "predicted", "error_ratio", "inside", "half_width_ratio")


class Results(NamedTuple):
    """Tables by case, group, omitted case, speed, run, pair and more; causes; provenance.

    `side_by_side`: times of fitted rows, of rows held out and of sources left out whole.
    """

    errors: pd.DataFrame
    summary: pd.DataFrame
    left_out: pd.DataFrame
    speed: pd.DataFrame
    verdicts: pd.DataFrame
    calibration: pd.DataFrame
    arrivals: pd.DataFrame
    league: pd.DataFrame
    side_by_side: pd.DataFrame
    reasons: list
    time_reasons: list
    made: str


def results() -> Results | None:
    """The results, or None where the comparison was never run."""
    if not FILES["errors"].exists():
        return None
    return _results(
        tuple(path.stat().st_mtime_ns for path in (*FILES.values(), REASONS, MADE) if path.exists())
    )


@st.cache_resource(max_entries=2, show_spinner="Reading the comparison")
def _results(stamp: tuple[int, ...]) -> Results:
    """Read all results of validation; `stamp` tells when a file has changed."""
    tables = {name: _read_results(path) for name, path in FILES.items()}
    errors = tables["errors"]
    for name in NUMBERS:
        errors[name] = pd.to_numeric(errors[name], errors="coerce")
    reasons = (
        read_strictly(REASONS.read_text("utf-8"), "validation/misses.yaml")
        if REASONS.exists()
        else {"misses": [], "times": []}
    )
    summary = _as_numbers(tables["summary"])
    speed = _as_numbers(tables["speed_errors"])
    paragraphs = MADE.read_text("utf-8").split("\n\n") if MADE.exists() else []
    made_line = next(
        (" ".join(part.split()) for part in paragraphs if part.startswith("Made with")), ""
    )
    return Results(
        errors,
        summary,
        tables["left_out"],
        speed,
        tables["verdicts"],
        _as_numbers(tables["calibration"]),
        tables["arrivals"],
        tables["league"],
        _as_numbers(tables["fitted_and_left_out"]),
        reasons["misses"],
        reasons["times"],
        made_line,
    )


def _read_results(path: Path) -> pd.DataFrame:
    """A file of results as text and numbers; an empty table where there is none."""
    if path.exists():
        return pd.read_csv(path, keep_default_na=False, low_memory=False)
    return pd.DataFrame()


def _as_numbers(table: pd.DataFrame) -> pd.DataFrame:
    """The columns of shares as numbers, missing ones as NaN."""
    return table.assign(
        **{
            name: pd.to_numeric(table[name], errors="coerce")
            for name in table
            if name.endswith("_ratio")
        }
    )
