"""`python -m calc schedule jobs.csv pools.csv`: which job runs where and when, and the bill."""

import argparse

from calc.catalogs.load import Catalogs
from calc.commands.command import cells_of, tell, write_table
from calc.schedule.schedule import next_to_buy, schedule


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `schedule`."""
    jobs = "jobs with starts, deadline, every, until and priority"
    parser.add_argument("jobs", metavar="jobs.csv", help=jobs)
    pools = (
        "machines: pool, instance, region, instances, market, starts, ends, usd, usd_per_hour, "
        "quota_vcpus"
    )
    parser.add_argument("pools", metavar="pools.csv", help=pools)
    following = "also show what one more instance of each pool would change"
    parser.add_argument("--next", action="store_true", help=following)


def main(options: argparse.Namespace, catalogs: Catalogs) -> int:
    """Write a row for each run; pools, the bill and what to buy next go to standard error."""
    jobs = cells_of(options.jobs)
    pools = cells_of(options.pools, "pool")
    plan = schedule(jobs, pools, catalogs)
    write_table(plan.runs, options.output)
    tell(
        f"{len(plan.runs) - plan.left_out} of {len(plan.runs)} runs placed, "
        f"${plan.usd:,.0f}; {plan.how}.",
    )
    for pool in plan.pools.to_dict("records"):
        idle = ""
        if pool["idle_hours"] >= 1:
            idle = f", {pool['idle_hours']:,.0f} instance-hours paid and not used"
        tell(
            f"{pool['pool']}: {pool['instances']} of {pool['instances_most']} taken, "
            f"${pool['usd']:,.0f}{idle}.",
        )
    for row in next_to_buy(jobs, pools, catalogs).to_dict("records") if options.next else ():
        tell(
            f"One more of {row['pool']}: {row['placed_runs']:+d} runs, {row['usd']:+,.0f} USD; "
            f"{row['how']}.",
        )
    return 0
