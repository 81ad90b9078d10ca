"""Fine-tune, then serve: the services of tuned models, and the bill with their runs.

Both jobs are answered by the one ranked table. LoRA's adapters may share a service; merged into the
weights, each model has a service of its own, as after full fine-tuning. Published 8-bit weights are
the base's: an adapter runs over them, merged weights are 16 bits wide unless the job allows fewer.
"""

from dataclasses import replace
from math import ceil
from typing import NamedTuple

import numpy as np
import pandas as pd

from calc.catalogs.load import Catalogs
from calc.evaluate import Row
from calc.job.cells import machines_of
from calc.job.columns import PUBLISHED
from calc.mappings import Cells
from calc.plan.bill import bill_rows, month_generated_tokens
from calc.plan.fine_tune_then_serve import MONTH_DAYS, TunedPlan, break_even_day, by_day
from calc.plan.plan_bill import plan_bill
from calc.scenarios.inputs import DEFAULTS
from calc.search.options import Options, options
from calc.studies.alternatives import load_tokens_per_month

COUNTS = ("people", "users")
LOADS = (*COUNTS, "requests_per_second")
ADAPTER = ("lora_rank", "lora_targets")
MORE_LOADS = (2, 4, 8, 16)  # times the load, tried where the plan never breaks even


class Service(NamedTuple):
    """The way tuned models are served: equal services, and the adapters on each."""

    copies: int
    adapters: int
    options: Options

    @property
    def usd_per_month(self) -> float:
        """Cost of all services for a month; NaN if one is refused or has no price. [USD]"""
        if not self.options.obstacle:
            return float(self.copies * self.options.rows[0]["usd"])
        return np.nan


def services(job: Cells, run: Row, models: int, catalogs: Catalogs) -> list[Service]:
    """The services for the results of a run, the cheapest first; those refused last.

    `job` is a service with the load of all models together.
    """
    ids = [*catalogs.instances.index, *catalogs.gpus.index]
    possible = [Service(models, 0, options(_of_each(job, models, ids), catalogs))]
    if run["tuning"] == "lora":
        lora = {name: run[name] for name in ADAPTER if run[name] != DEFAULTS[name]}
        possible.append(Service(1, models, options({**job, **lora, "adapters": models}, catalogs)))
    return sorted(
        possible,
        key=lambda service: (
            bool(service.options.obstacle),
            np.nan_to_num(service.usd_per_month),
            service.copies,
        ),
    )


def tuned_plan(
    run: Row, service: Service, models: int, rounds: int, months: int, catalogs: Catalogs
) -> TunedPlan:
    """Return the plan of `rounds` runs per model and month (0: one run) and `months` of service.

    `run` is a row with its market, and with `have` if it runs on your own machines.
    """
    service_row, service_job = service.options.rows[0], service.options.job
    runs_line = {
        **run,
        "have": run.get("have") or "",
        "runs_per_month": models * (rounds or 1),
        "plan_months": months if rounds else 1,
    }
    service_line = {
        **service_row,
        "have": service_job.get("have") or "",
        "runs_per_month": service.copies,
        "plan_months": months,
    }
    bill = plan_bill(bill_rows(pd.DataFrame([runs_line, service_line]), catalogs))
    resolved_job = service.options.resolved
    assert resolved_job is not None, "a service without a problem has a resolved job"
    month_tokens = load_tokens_per_month(service_row, replace(resolved_job, ends=False))
    month_tokens_most = month_generated_tokens(bill.iloc[1])
    return TunedPlan(
        bill=bill,
        months=months,
        rounds=rounds or 1,
        tokens_per_day=service.copies * month_tokens / MONTH_DAYS,
        tokens_per_day_most=service.copies * month_tokens_most / MONTH_DAYS,
        endpoint_usd_per_million_tokens=float(service_row["endpoint_usd_per_million_tokens"]),
    )


def at_more_load(
    plan: TunedPlan, job: Cells, run: Row, models: int, catalogs: Catalogs
) -> TunedPlan | None:
    """A plan that never breaks even at the first larger load at which it does; None without one."""
    days = by_day(plan)
    if not np.isnan(break_even_day(days)) or days.iloc[-1].isna().any():
        return None
    rounds = plan.rounds if plan.bill["plan_months"].iloc[0] == plan.months else 0
    for ratio in MORE_LOADS:
        service = services(_with_load(job, ratio), run, models, catalogs)[0]
        if service.options.obstacle:
            return None
        larger = tuned_plan(run, service, models, rounds, plan.months, catalogs)
        if not np.isnan(break_even_day(by_day(larger))):
            return larger
    return None


def _of_each(job: Cells, models: int, ids: list[str]) -> Row:
    """The service of one model with weights of its own: its part of load and machines.

    Kinds of which there are fewer than models serve none; if that leaves no machine, no count of
    it is possible and is refused.
    """
    machines = machines_of(str(job["have"]), ids) if job.get("have") else {}
    shares = {name: count // models for name, count in machines.items()}
    enough = {name: count for name, count in shares.items() if count} or shares
    have = {}
    if machines:
        have = {"have": " + ".join(f"{count} x {name}" for name, count in enough.items())}
    bits = "16" if job.get("fewest_bits", PUBLISHED) == PUBLISHED else job["fewest_bits"]
    return {**_with_load(job, 1 / models), **have, "fewest_bits": bits, "adapters": None}


def _with_load(job: Cells, ratio: float) -> Row:
    """The service with its load times a factor."""
    loads = {name: float(job[name]) * ratio for name in LOADS if job.get(name)}
    return {
        **job,
        **loads,
        **{name: ceil(round(loads[name], 9)) for name in COUNTS if name in loads},
    }
