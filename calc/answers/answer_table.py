"""Jobs in, answers out: the rows named for every job, or the nearest."""

from collections.abc import Mapping

import numpy as np
import pandas as pd

from calc.answers.full_answer import full_answer
from calc.catalogs.load import Catalogs
from calc.cost.job import ends_of
from calc.engine.largest import SOLVED
from calc.engine.pipeline import estimate
from calc.evaluate import Row
from calc.job.cells import blank
from calc.job.columns import JOB_BY_NAME
from calc.mappings import Cells
from calc.say.job import job_sentence
from calc.scenarios.inputs import BY_NAME
from calc.scenarios.problems import TableError, quote_cell

ONCE = 1  # months of a plan in which work that ends is done


def answer(jobs: pd.DataFrame | Cells | list[Row], catalogs: Catalogs) -> pd.DataFrame:
    """The answers of each job (a table, a dict, a list of dicts) in order: rows with results.

    The job's own columns that a scenario has not come first; a job without a name is named by its
    sentence. The first answer of each job is in the bill (`in_bill`). Work that ends is paid once.
    """
    table = (
        jobs
        if isinstance(jobs, pd.DataFrame)
        else pd.DataFrame([jobs] if isinstance(jobs, Mapping) else list(jobs), dtype=object)
    )
    _check(table)
    parts = []
    for job in table.to_dict("records"):
        ranked = full_answer(job, catalogs)
        rows = ranked.answers
        rows = (
            rows.assign(**estimate(rows, catalogs, columns=SOLVED))
            if rows["memory_bytes"].notna().all()
            else rows
        )
        rows = _planned(rows, job)
        job_columns = {name: [value] * len(rows) for name, value in job.items() if name not in rows}
        name = job_sentence(ranked.job, catalogs) if blank(job.get("job")) else job["job"]
        parts.append(
            pd.concat([pd.DataFrame(job_columns | {"job": name}, index=rows.index), rows], axis=1)
        )
    if not parts:
        return answer({name: "" for name in table.columns}, catalogs).iloc[:0]
    table_of_answers = pd.concat(parts, ignore_index=True)
    return table_of_answers[["job", *(name for name in table_of_answers if name != "job")]]


def _planned(rows: pd.DataFrame, job: Cells) -> pd.DataFrame:
    """The answers of a job as rows of a plan: their names, months, and which is in the bill."""
    first = ["yes", *["no"] * (len(rows) - 1)]
    rows = rows.assign(in_bill=first[: len(rows)])
    if not blank(job.get("job")):
        others = [f"{job['job']}, {answer}" for answer in rows["answer"].iloc[1:]]
        rows = rows.assign(scenario=[job["job"], *others][: len(rows)])
    if blank(job.get("plan_months")):
        rows["plan_months"] = np.where(ends_of(rows), ONCE, rows["plan_months"])
    return rows


def _check(table: pd.DataFrame) -> None:
    """A table of jobs names the model of each, and no column twice or almost."""
    if "model" not in table.columns:
        names = ", ".join(map(str, table.columns[:8]))
        raise TableError(
            f"The table of jobs has no column 'model' (its columns: {names}); name the model "
            f"of each job in it."
        )
    doubled = table.columns[table.columns.duplicated()]
    if len(doubled):
        raise TableError(
            f"The column '{quote_cell(doubled[0])}' is twice in the table; keep one of them."
        )
    for column in table.columns:
        name = "_".join(str(column).lower().split())
        if (
            name != column
            and (name in BY_NAME or name in JOB_BY_NAME)
            and name not in table.columns
        ):
            raise TableError(
                f"The column '{quote_cell(column)}' would not be read; write its name as {name}."
            )
