"""The two tables of a team: jobs with dates, and pools of machines that it has or may buy."""

from collections.abc import Iterator, Mapping
from datetime import date
from typing import Any, NamedTuple

import pandas as pd

from calc.catalogs.load import Catalogs
from calc.cost.markets import BY_USE
from calc.scenarios.lookups import similar
from calc.scenarios.problems import TableError, quoted
from calc.scenarios.read import number
from calc.search.job_row import blank

OWNED = "owned"  # the market of machines that are paid whatever runs on them
EVERY: dict[str, Any] = {
    "once": None,
    "day": pd.DateOffset(days=1),
    "week": pd.DateOffset(weeks=1),
    "month": pd.DateOffset(months=1),
}
JOB_DATES = ("starts", "deadline", "every", "until", "priority")
POOL_COLUMNS = (
    "pool",
    "instance",
    "region",
    "instances",
    "market",
    "starts",
    "ends",
    "usd",
    "usd_per_hour",
    "quota_vcpus",
)
MOST_RUNS = 400
MOST_RENTED = 2  # instances of the pool that is there at first


class Occurrence(NamedTuple):
    """One run of a job: its earliest start, its deadline and its priority, 1 the first."""

    name: str
    job: dict[str, Any]
    starts: pd.Timestamp
    deadline: pd.Timestamp
    priority: int


class Pool(NamedTuple):
    """Machines of one type in one place, at most so many at once, from a day to a day.

    usd: paid for each instance that the team takes, used or not; usd_per_hour: paid for an hour of
    use. A pool of the market `owned` is paid already.
    """

    name: str
    instance: str
    region: str
    instances: int
    market: str
    starts: pd.Timestamp | None
    ends: pd.Timestamp | None
    usd: float
    usd_per_hour: float | None
    quota_vcpus: float | None

    @property
    def bought(self) -> bool:
        """Whether each instance has a price for the whole time, used or not."""
        return self.usd > 0

    @property
    def by_the_hour(self) -> bool:
        """Whether hours of use are paid at the market's price or the team's own."""
        return self.usd_per_hour is not None or (self.market != OWNED and not self.bought)


def first_pool(row: Mapping[str, Any]) -> dict[str, Any]:
    """The pool that rents the instances of an answer."""
    market = row["market"] if row.get("market") in BY_USE else "on-demand"
    return {
        "pool": "Rented",
        "instance": row["instance"],
        "region": row["region"],
        "instances": MOST_RENTED,
        "market": market,
    }


def dated(job: Mapping[str, Any], name: str, today: date) -> dict[str, Any]:
    """A job as a row of the table of jobs, from today for a week."""
    cells = {
        column: "+".join(map(str, value)) if isinstance(value, list) else value
        for column, value in job.items()
    }
    days = {
        "starts": today.isoformat(),
        "deadline": (pd.Timestamp(today) + EVERY["week"]).date().isoformat(),
    }
    return {"job": name, **days, "every": "once"} | cells


def as_text(table: pd.DataFrame) -> pd.DataFrame:
    """A table with all cells as text, empty ones as ''."""
    return table.fillna("").astype(str).astype(object).reset_index(drop=True)


def runs_of(jobs: pd.DataFrame) -> list[Occurrence]:
    """Every run of the jobs, repeated as they say; raises TableError.

    A job runs once between `starts` and `deadline`; with `every` (day, week, month) both move on to
    `until`.
    """
    _need(jobs, "jobs", ("model", "starts", "deadline"))
    runs = [
        run
        for line, cells in enumerate(jobs.to_dict("records"), start=2)
        for run in _runs(cells, f"jobs, line {line}")
    ]
    if not 1 <= len(runs) <= MOST_RUNS:
        raise TableError(
            f"The jobs make {len(runs):,} runs; give 1 to {MOST_RUNS}: shorten 'until', or "
            f"plan fewer jobs at once."
        )
    return runs


def _runs(cells: Mapping[str, Any], where: str) -> Iterator[Occurrence]:
    starts, deadline = (_day(cells, name, where) for name in ("starts", "deadline"))
    every = str(cells.get("every") or "once").strip().lower()
    if every not in EVERY:
        raise TableError(f"{where}: every '{quoted(every)}' is not known; use {', '.join(EVERY)}.")
    if starts is None or deadline is None or starts >= deadline:
        raise TableError(
            f"{where}: a job needs a start and a later deadline, as 2026-12-01 or 2026-12-01 09:00."
        )
    until = _day(cells, "until", where)
    if EVERY[every] is not None and until is None:
        raise TableError(
            f"{where}: a job that is repeated every {every} needs 'until', the last day on "
            f"which a run may start."
        )
    if until is not None and until < starts.normalize():
        raise TableError(f"{where}: until is before the start; correct one of the two.")
    priority = int(_amount(cells, "priority", where, usual=1, whole=True))
    job = {
        name: value for name, value in cells.items() if name not in JOB_DATES and not blank(value)
    }
    name, count = str(job.get("job") or job["model"]), 0
    while count == 0 or (
        EVERY[every] is not None and until is not None and starts <= until and count < MOST_RUNS
    ):
        count += 1
        yield Occurrence(
            f"{name} #{count}" if EVERY[every] is not None else name,
            job,
            starts,
            deadline,
            priority,
        )
        starts, deadline = (
            day + EVERY[every] if EVERY[every] is not None else day for day in (starts, deadline)
        )


def pools_of(table: pd.DataFrame, catalogs: Catalogs) -> list[Pool]:
    """The pools of a table; raises TableError."""
    _need(table, "pools", ("pool", "instance", "instances", "market"))
    pools = [
        _pool(cells, f"pools, line {line}", catalogs)
        for line, cells in enumerate(table.to_dict("records"), start=2)
    ]
    doubled = {pool.name for pool in pools if sum(other.name == pool.name for other in pools) > 1}
    if doubled or not pools:
        raise TableError(
            f"Two pools are named '{quoted(min(doubled))}'; name each once."
            if doubled
            else "The table of pools is empty."
        )
    return pools


def _pool(cells: Mapping[str, Any], where: str, catalogs: Catalogs) -> Pool:
    name, instance, market = (
        str(cells.get(column) or "").strip() for column in ("pool", "instance", "market")
    )
    region = str(cells.get("region") or "").strip() or "us-east-1"
    for word, column, ids in (
        (instance, "instance", catalogs.instances.index),
        (market, "market", (OWNED, *BY_USE)),
    ):
        if word not in ids:
            raise TableError(
                f"{where}: {column} '{quoted(word)}' is not known; use "
                f"{similar(word, ids) or ', '.join(list(ids)[:4])}."
            )
    if region not in catalogs.regions.index:
        raise TableError(
            f"{where}: region '{quoted(region)}' is not known; use "
            f"{similar(region, catalogs.regions.index) or 'us-east-1'}."
        )
    usd = _amount(cells, "usd", where, usual=0.0)
    hourly, quota = (
        None if blank(cells.get(column)) else _amount(cells, column, where)
        for column in ("usd_per_hour", "quota_vcpus")
    )
    instances = int(_amount(cells, "instances", where, whole=True))
    if instances < 1:
        raise TableError(f"{where}: a pool has at least one instance; correct 'instances'.")
    starts, ends = (_day(cells, column, where) for column in ("starts", "ends"))
    if starts is not None and ends is not None and starts >= ends:
        raise TableError(f"{where}: a pool ends after it starts; correct one of the two.")
    return Pool(
        name or instance, instance, region, instances, market, starts, ends, usd, hourly, quota
    )


def _need(table: pd.DataFrame, name: str, columns: tuple[str, ...]) -> None:
    for column in columns:
        if column not in table.columns:
            raise TableError(f"The table of {name} has no column '{column}'; add it.")


def _day(cells: Mapping[str, Any], column: str, where: str) -> pd.Timestamp | None:
    """A day or a moment, None where the cell is empty."""
    if blank(cells.get(column)):
        return None
    day = pd.to_datetime(str(cells[column]), errors="coerce", format="ISO8601")
    if pd.isna(day) or day.tzinfo is not None:
        raise TableError(
            f"{where}: {column} '{quoted(cells[column])}' is no day; write it as 2026-12-01 "
            f"or 2026-12-01 09:00."
        )
    return day.floor("min")


def _amount(
    cells: Mapping[str, Any],
    column: str,
    where: str,
    usual: float | None = None,
    whole: bool = False,
) -> float:
    """A number from 0 up, or a whole one."""
    if blank(cells.get(column)) and usual is not None:
        return usual
    amount = number(str(cells.get(column)))
    if not 0 <= amount < float("inf") or (whole and amount % 1):
        kind = "a whole number" if whole else "a number"
        raise TableError(
            f"{where}: {column} '{quoted(cells.get(column))}' is not {kind} from 0 up; "
            f"correct that cell."
        )
    return amount
