"""`python -m calc solve`: the most that a plan holds, or the price at which another wins."""

import argparse
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd

from calc.catalogs.load import Catalogs
from calc.commands.command import plan_rows, write_table
from calc.engine.pipeline import estimate
from calc.evaluate import Row, parameters_of
from calc.job.columns import PACE, usual_limits_seconds
from calc.layout import replicas
from calc.scenarios.counts import replica_gpus
from calc.scenarios.inputs import BY_NAME
from calc.scenarios.problems import TableError

COLUMNS = ("scenario", "model", "field", "now", "most", "limit", "problem")
MEMORY = "memory"
NO_BILL = "one of the two has no bill: name instance and train_tokens."
# For each row: the present value, the largest one, and what limits it.
Limited = tuple[np.ndarray, np.ndarray, Any]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `solve`."""
    parser.epilog = (
        "Finds the largest value of a field that still works for every scenario, or the price at "
        "which another plan costs the same."
    )
    field = "batch, sequence_tokens, users or price"
    parser.add_argument("field", metavar="FIELD", help=field)
    parser.add_argument("plan", metavar="plan.csv", help="CSV of scenarios")
    other = "for price: the plan whose price is sought"
    parser.add_argument("other", metavar="B.csv", nargs="?", default="", help=other)


def main(options: argparse.Namespace, catalogs: Catalogs) -> int:
    """Write the most that each row holds, or the price at which two plans cost the same."""
    if options.field == "price":
        if not options.other:
            raise TableError("solve price compares two plans; name A.csv and B.csv.")
        result = _break_even(*(plan_rows(path, catalogs) for path in (options.plan, options.other)))
    else:
        result = _solve_rows(options.field, plan_rows(options.plan, catalogs, solve=True), catalogs)
    write_table(result, options.output)
    return 0


def _solve_rows(field: str, rows: pd.DataFrame, catalogs: Catalogs) -> pd.DataFrame:
    """The most of the field for each row, and what limits it. Raises TableError."""
    if field not in FIELDS:
        raise TableError(f"'{field}' cannot be solved for; use {', '.join([*FIELDS, 'price'])}.")
    present, most, limit = FIELDS[field](rows, catalogs)
    problems = [
        problem or (_unknown(field, row) if np.isnan(value) else "")
        for problem, value, row in zip(rows["problem"], most, rows.to_dict("records"), strict=True)
    ]
    limits = np.where(np.isnan(most), "", limit)
    return _table(rows["scenario"], rows["model"], field, present, most, limits, problems)


def _break_even(before: pd.DataFrame, after: pd.DataFrame) -> pd.DataFrame:
    """Return for each pair of rows B's hourly price at which both bills are equal. [USD/h]"""
    if len(before) != len(after):
        raise TableError(
            f"the two plans have {len(before)} and {len(after)} rows; give both the same "
            f"rows, in the same order."
        )
    first = before.reset_index(drop=True)
    second = after.reset_index(drop=True)
    hourly = second["usd_per_hour"] / second["instances"]
    most = hourly * first["usd"] / second["usd"]
    problems = [
        of_first or of_second or (NO_BILL if np.isnan(usd_per_hour) else "")
        for of_first, of_second, usd_per_hour in zip(
            first["problem"], second["problem"], most, strict=True
        )
    ]
    return _table(
        second["scenario"], second["model"], "price", hourly, most, first["scenario"], problems
    )


def _table(*columns: Any) -> pd.DataFrame:
    return pd.DataFrame(dict(zip(COLUMNS, columns, strict=True)))


def _of_column(column: str, name: str) -> Callable:
    """Return a function that reads the largest value of a field from a result column."""
    return lambda rows, _catalogs: (
        rows[name].to_numpy(dtype=float),
        rows[column].to_numpy(dtype=float),
        MEMORY,
    )


def _users(rows: pd.DataFrame, catalogs: Catalogs) -> Limited:
    """Requests in flight over all replicas, limited by memory and by the usual pace."""
    copies = replicas(
        {name: rows[name].to_numpy(dtype=float) for name in ("gpus", *parameters_of(replica_gpus))}
    )
    serves = (rows["work"] == "inference").to_numpy()
    low = np.zeros(len(rows))
    high = np.where(serves, rows["max_batch"].to_numpy(dtype=float), np.nan)
    fitting = high.copy()
    high = np.nan_to_num(high) + 1
    while (high - low > 1).any():
        middle = np.floor((low + high) / 2)
        keeps = _keeps_pace(rows, np.maximum(middle, 1), catalogs) & (middle >= 1)
        low = np.where(keeps, middle, low)
        high = np.where(keeps, high, middle)
        high = np.maximum(high, low + 1)
    most = np.where(np.isnan(fitting), np.nan, low * copies)
    return (
        rows["batch"].to_numpy(dtype=float) * copies,
        most,
        np.where(low < fitting, "pace", MEMORY),
    )


def _keeps_pace(rows: pd.DataFrame, batch: np.ndarray, catalogs: Catalogs) -> np.ndarray:
    """Return whether each row still meets the usual limits on time at a batch. Shape (rows,)."""
    inputs = rows[[name for name in BY_NAME if name in rows]]
    trial = estimate(
        inputs.assign(batch=batch.astype(int)),
        catalogs,
        solve=False,
        columns=[*PACE.values(), "problem"],
    )
    most = usual_limits_seconds(rows["prompt_tokens"].to_numpy(dtype=float))
    return np.logical_and.reduce(
        [~(trial[column].to_numpy(dtype=float) > most[name]) for name, column in PACE.items()]
    )


def _unknown(field: str, row: Row) -> str:
    if field == "users" and row["work"] != "inference":
        return "users are of a service; this row trains."
    return "nothing is said about fitting: name an instance or a gpu."


FIELDS = {
    "batch": _of_column("max_batch", "batch"),
    "sequence_tokens": _of_column("max_sequence_tokens", "sequence_tokens"),
    "users": _users,
}
