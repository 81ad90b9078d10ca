"""The two tables of a team: jobs with dates, and pools of machines that it has or may buy."""

from collections.abc import Iterable, Iterator
from datetime import date
from typing import Any, NamedTuple

import pandas as pd

from calc.catalogs.load import Catalogs
from calc.cost.markets import BY_USE
from calc.evaluate import Row
from calc.job.cells import MOST_MACHINES, blank
from calc.mappings import Cells
from calc.scenarios.lookups import similar
from calc.scenarios.problems import TableError, quote_cell
from calc.scenarios.read import number
from calc.table import is_missing

OWNED_MARKET = "owned"  # the market of machines that are paid whatever runs on them
EVERY: Row = {
    "once": None,
    "day": pd.DateOffset(days=1),
    "week": pd.DateOffset(weeks=1),
    "month": pd.DateOffset(months=1),
}
EVERY_DAYS = {"day": 1, "week": 7}
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
MOST_RUNS, MOST_POOLS, LAST_PRIORITY = 400, 50, 9
MOST_INSTANCES = MOST_MACHINES  # of a pool: as many as one job may take
MOST_USD, MOST_VCPUS = 1e8, 1e7  # of an instance or its hour; of a quota
MOST_RENTED = 2  # instances of the pool that is there at first


class Occurrence(NamedTuple):
    """One run of a job: its earliest start, its deadline and its priority, 1 the first."""

    name: str
    job: Row
    starts: pd.Timestamp
    deadline: pd.Timestamp
    priority: int


class Pool(NamedTuple):
    """Machines of one type in one place, between two days, up to a number of instances.

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
        """Return whether each instance has a price for the whole time, used or not."""
        return self.usd > 0

    @property
    def by_the_hour(self) -> bool:
        """Return whether hours of use are paid at the market's price or the team's own."""
        return self.usd_per_hour is not None or (self.market != OWNED_MARKET and not self.bought)


def pool_of(row: Cells, name: str = "") -> Row:
    """The pool with the instances of an answer, rented as it is or owned; named after them."""
    market = row["market"] if row.get("market") in BY_USE else "on-demand"
    market = OWNED_MARKET if row.get("have") else market
    suffix = "" if market == "on-demand" else f" {market}"
    return {
        "pool": name or f"{row['instance']}{suffix}",
        "instance": row["instance"],
        "region": row["region"],
        "instances": MOST_RENTED if name else max(1, int(row["instances_needed"])),
        "market": market,
    }


def first_pool(row: Cells) -> Row:
    """The pool that rents the instances of an answer."""
    return pool_of(row, "Rented")


def with_pools_of(pools: pd.DataFrame, rows: Iterable[Cells]) -> pd.DataFrame:
    """The pools with those that the answers need, each large enough for all of them at once."""
    pools_by_key: dict[tuple[str, ...], Row] = {}
    for row in rows:
        if row["instance"]:
            pool = pool_of(row)
            same = pools_by_key.setdefault(_machine(pool), pool | {"instances": 0})
            same["instances"] += pool["instances"]
    table = pools.to_dict("records")
    for pool in table:
        more = pools_by_key.pop(_machine(pool), None)
        if more and number(str(pool["instances"])) < more["instances"]:
            pool["instances"] = more["instances"]
    return as_text(pd.DataFrame([*table, *pools_by_key.values()], columns=list(pools.columns)))


def _machine(pool: Cells) -> tuple[str, ...]:
    """The type, place and market of a pool."""
    return tuple(str(pool[name]) for name in ("instance", "region", "market"))


def job_with_dates(job: Cells, name: str, today: date, row: Cells | None) -> Row:
    """A job as a row of the table of jobs, from today for a week, or for as long as it takes.

    An answer's `row` may say the days between which it is at work.
    """
    cells = {
        column: "+".join(map(str, value)) if isinstance(value, list) else value
        for column, value in job.items()
    }
    row = row or {}
    starts = row.get("starts") or today.isoformat()
    longest = row.get("run_high_hours")
    week = pd.Timestamp(starts) + EVERY["week"]
    last = pd.Timestamp(starts) + pd.Timedelta(hours=0.0 if is_missing(longest) else longest)
    deadline = row.get("ends") or max(week, last.ceil("D")).date().isoformat()
    return {"job": name, "starts": starts, "deadline": deadline, "every": "once"} | cells


def as_text(table: pd.DataFrame) -> pd.DataFrame:
    """A table with all cells as text, empty ones as ''."""
    return table.fillna("").astype(str).astype(object).reset_index(drop=True)


def runs_of(jobs: pd.DataFrame) -> list[Occurrence]:
    """Every run of the jobs, repeated as they say. Raises TableError.

    A job runs once between `starts` and `deadline`; with `every` (day, week, month) both move on to
    `until`, the last day on which a run may start. All runs are counted before any is planned.
    """
    _need(jobs, "jobs", ("model", "starts", "deadline"))
    repetitions = [
        _repetition(cells, f"jobs, line {line}")
        for line, cells in enumerate(jobs.to_dict("records"), start=2)
    ]
    count = sum(repetition.runs for repetition in repetitions)
    if not 1 <= count <= MOST_RUNS:
        most = ""
        if repetitions:
            largest = max(repetitions, key=lambda one: one.runs)
            most = f" ({largest.where}: {largest.runs:,} of them)"
        raise TableError(
            f"The jobs make {count:,} runs{most}; give 1 to {MOST_RUNS}: shorten 'until', or "
            f"plan fewer jobs at once."
        )
    runs: list[Occurrence] = []
    for repetition in repetitions:
        runs += repetition.occurrences()
    return runs


class Repetition(NamedTuple):
    """A job of the table with its first run, and how often it runs."""

    where: str
    first: Occurrence
    step: Any
    runs: int

    def occurrences(self) -> Iterator[Occurrence]:
        """The runs, numbered if the job is repeated."""
        if self.step is None:
            yield self.first
            return
        for place in range(self.runs):
            yield self.first._replace(
                name=f"{self.first.name} #{place + 1}",
                starts=self.first.starts + place * self.step,
                deadline=self.first.deadline + place * self.step,
            )


def _repetition(cells: Cells, where: str) -> Repetition:
    """A row of the jobs' table: what runs, when, how often; TableError for a wrong cell."""
    starts = _day(cells, "starts", where)
    deadline = _day(cells, "deadline", where)
    every = str(cells.get("every") or "once").strip().lower()
    if every not in EVERY:
        raise TableError(
            f"{where}: every '{quote_cell(every)}' is not known; use {', '.join(EVERY)}."
        )
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
    priority = int(_amount(cells, "priority", where, default=1, most=LAST_PRIORITY, whole=True))
    job = {
        name: value for name, value in cells.items() if name not in JOB_DATES and not blank(value)
    }
    name = str(job.get("job") or job.get("model") or where)
    runs = 1 if until is None else _repeats(starts, until, every)
    return Repetition(where, Occurrence(name, job, starts, deadline, priority), EVERY[every], runs)


def _repeats(starts: pd.Timestamp, until: pd.Timestamp, every: str) -> int:
    """Count the runs that start until the end of a day, without listing them."""
    days = (until.normalize() - starts.normalize()).days
    if every == "month":
        months = 12 * (until.year - starts.year) + until.month - starts.month
        last = starts + months * EVERY[every]
        return months + int(last.normalize() <= until.normalize())
    return 1 if EVERY[every] is None else days // EVERY_DAYS[every] + 1


def pools_of(table: pd.DataFrame, catalogs: Catalogs) -> list[Pool]:
    """The pools of a table. Raises TableError."""
    _need(table, "pools", ("pool", "instance", "instances", "market"))
    pools = [
        _pool(cells, f"pools, line {line}", catalogs)
        for line, cells in enumerate(table.to_dict("records"), start=2)
    ]
    names_twice = {
        pool.name for pool in pools if sum(other.name == pool.name for other in pools) > 1
    }
    if names_twice or not pools:
        raise TableError(
            f"Two pools are named '{quote_cell(min(names_twice))}'; name each once."
            if names_twice
            else "The table of pools is empty."
        )
    if len(pools) > MOST_POOLS:
        raise TableError(
            f"The table has {len(pools):,} pools; plan at most {MOST_POOLS} at once, or join "
            f"pools of the same machines."
        )
    return pools


def _pool(cells: Cells, where: str, catalogs: Catalogs) -> Pool:
    """A row of the machines' table; TableError for a wrong cell."""
    name = str(cells.get("pool") or "").strip()
    instance = str(cells.get("instance") or "").strip()
    market = str(cells.get("market") or "").strip()
    region = str(cells.get("region") or "").strip() or "us-east-1"
    for word, column, ids in (
        (instance, "instance", catalogs.instances.index),
        (market, "market", (OWNED_MARKET, *BY_USE)),
    ):
        if word not in ids:
            raise TableError(
                f"{where}: {column} '{quote_cell(word)}' is not known; use "
                f"{similar(word, ids) or ', '.join(list(ids)[:4])}."
            )
    if region not in catalogs.regions.index:
        raise TableError(
            f"{where}: region '{quote_cell(region)}' is not known; use "
            f"{similar(region, catalogs.regions.index) or 'us-east-1'}."
        )
    usd = _amount(cells, "usd", where, default=0.0, most=MOST_USD)
    hourly, quota = (
        None if blank(cells.get(column)) else _amount(cells, column, where, most=most)
        for column, most in (("usd_per_hour", MOST_USD), ("quota_vcpus", MOST_VCPUS))
    )
    instances = int(_amount(cells, "instances", where, whole=True))
    if instances < 1:
        raise TableError(f"{where}: a pool has at least one instance; correct 'instances'.")
    if instances > MOST_INSTANCES:
        raise TableError(
            f"{where}: a pool has at most {MOST_INSTANCES} instances, as many as one job may take, "
            f"not {instances:,}; split the pool into several, each with a name of its own."
        )
    starts = _day(cells, "starts", where)
    ends = _day(cells, "ends", where)
    if starts is not None and ends is not None and starts >= ends:
        raise TableError(f"{where}: a pool ends after it starts; correct one of the two.")
    return Pool(
        name or instance, instance, region, instances, market, starts, ends, usd, hourly, quota
    )


def _need(table: pd.DataFrame, name: str, columns: tuple[str, ...]) -> None:
    """Raise TableError if a table lacks one of these columns."""
    for column in columns:
        if column not in table.columns:
            raise TableError(f"The table of {name} has no column '{column}'; add it.")


def _day(cells: Cells, column: str, where: str) -> pd.Timestamp | None:
    """A day or a moment, None if the cell is empty."""
    if blank(cells.get(column)):
        return None
    day = pd.to_datetime(str(cells[column]), errors="coerce", format="ISO8601")
    if pd.isna(day) or day.tzinfo is not None:
        raise TableError(
            f"{where}: {column} '{quote_cell(cells[column])}' is not a date; write it as "
            f"2026-12-01 or 2026-12-01 09:00."
        )
    return day.floor("min")


def _amount(
    cells: Cells,
    column: str,
    where: str,
    default: float | None = None,
    most: float = float("inf"),
    whole: bool = False,
) -> float:
    """A number from 0 to the most that is allowed, or a whole one."""
    if blank(cells.get(column)) and default is not None:
        return default
    amount = number(str(cells.get(column)))
    if not 0 <= amount < float("inf") or amount > most or (whole and amount % 1):
        kind = "a whole number" if whole else "a number"
        bounds = "from 0 up" if most == float("inf") else f"from 0 to {most:,.0f}"
        raise TableError(
            f"{where}: {column} '{quote_cell(cells.get(column))}' is not {kind} {bounds}; "
            f"correct that cell."
        )
    return amount
