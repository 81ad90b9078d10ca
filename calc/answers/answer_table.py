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
from calc.scenarios.read import check_column_names

ONCE = 1  # months of a plan in which work that ends is done


def answer(jobs: pd.DataFrame | Cells | list[Row], catalogs: Catalogs) -> pd.DataFrame:
    """The answers of each job (a table, a dict, a list of dicts) in order: rows with results.

    The job's own columns that a scenario has not come first; a job without a name is named by its
    sentence. The first answer of each job is in the bill (`in_bill`). Work that ends is paid once.
    """
    if isinstance(jobs, pd.DataFrame):
        table = jobs
    else:
        table = pd.DataFrame([jobs] if isinstance(jobs, Mapping) else list(jobs), dtype=object)
    check_column_names(table.columns, BY_NAME.keys() | JOB_BY_NAME.keys())
    parts = []
    for job in table.to_dict("records"):
        full = full_answer(job, catalogs)
        rows = full.answers
        if rows["memory_bytes"].notna().all():
            rows = rows.assign(**estimate(rows, catalogs, columns=SOLVED))
        rows = _plan_rows(rows, job)
        job_columns = {name: [value] * len(rows) for name, value in job.items() if name not in rows}
        name = job_sentence(full.job, catalogs) if blank(job.get("job")) else job["job"]
        parts.append(
            pd.concat([pd.DataFrame(job_columns | {"job": name}, index=rows.index), rows], axis=1)
        )
    if not parts:
        return answer({name: "" for name in table.columns}, catalogs).iloc[:0]
    table_of_answers = pd.concat(parts, ignore_index=True)
    return table_of_answers[["job", *(name for name in table_of_answers if name != "job")]]


def _plan_rows(rows: pd.DataFrame, job: Cells) -> pd.DataFrame:
    """The answers of a job as rows of a plan: their names, months, and which is in the bill."""
    first = ["yes", *["no"] * (len(rows) - 1)]
    rows = rows.assign(in_bill=first[: len(rows)])
    if not blank(job.get("job")):
        others = [f"{job['job']}, {answer}" for answer in rows["answer"].iloc[1:]]
        rows = rows.assign(scenario=[job["job"], *others][: len(rows)])
    if blank(job.get("plan_months")):
        rows["plan_months"] = np.where(ends_of(rows), ONCE, rows["plan_months"])
    return rows
