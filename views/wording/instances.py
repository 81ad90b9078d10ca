"""The wording of the Instances page: the count, the best in order, facts of types."""

import pandas as pd

from calc.catalogs.load import Catalogs
from calc.evaluate import Row
from calc.say.numbers import about, counted, gib, is_missing, percent, three, usd
from calc.say.place import card_name
from calc.say.verdict import RUNS, fit_word

ORDERS = {"memory": "GPU memory per dollar", "compute": "Compute per dollar", "hour": "Price per hour", "job": "Money for the job"}
CAPTION = (
    "USD per instance-hour, Linux, shared tenancy, before tax, storage and traffic; spot is the median over the zones. GPU memory per "
    "dollar: all the memory of an instance's GPUs, as their drivers report it, over its price on demand. Dates and sources of the "
    "prices: Models and prices, under Reference."
)


def heading(table: pd.DataFrame, whole: bool) -> str:
    """18 instance types fit this job, 4 are tight."""
    if whole:
        return f"{counted(len(table), 'instance type')} with GPUs"
    counts = [(table["fits"] == "yes").sum(), (table["fits"] == "tight").sum(), (table["fits"] == "no").sum()]
    fits, tight, too_small = map(int, counts)
    if not fits + tight:
        return "No instance type fits this job"
    sentences = [f"{counted(fits, 'instance type')} fit{'s' if fits == 1 else ''} this job"]
    sentences += [f"{tight} {'is' if tight == 1 else 'are'} tight"] * (tight > 0)
    return ", ".join([*sentences, *[f"{too_small} too small"] * (too_small > 0)])


def best(table: pd.DataFrame, by: str, here: str) -> str:
    """What is first in the order, and by what figure."""
    if not len(table):
        return ""
    row = table.iloc[0].to_dict()
    name = f"**{row['instance']}** ({row['gpus']:.0f} × {row['card']})"
    figures = {
        "memory": ("gib_per_usd", "Most GPU memory per dollar", lambda value: f"{three(value)} GiB for each dollar an hour"),
        "compute": (
            "pflops_per_usd",
            "Most compute per dollar",
            lambda value: f"{three(value)} dense bf16 PFLOP/s for each dollar an hour",
        ),
        "hour": ("on_demand_usd_per_hour", "Lowest price", lambda value: f"{usd(value)} an hour on demand"),
        "job": ("usd", "Least money for the job", lambda value: f"about {about(value)} with {row['instances_needed']:.0f} of them"),
    }
    column, claim, say = figures[by]
    if is_missing(row[column]):
        return f"No on-demand price is known in {here}."
    return f"{claim}: {name}, {say(row[column])}."


def verdict(row: Row) -> str:
    """Fits, tight, too small; a word of its own for what is emulated or not known to run."""
    return RUNS.get(row.get("runs", ""), "") or fit_word(row["fits"])


def in_the_plan(row: Row) -> str:
    """Which row the plan looks at now."""
    if not row["instance"]:
        return ""
    return f"In the plan now: {row['instances_needed']:.0f} × {row['instance']}."


def facts(rows: list[Row], whole: bool, catalogs: Catalogs) -> list[tuple[str, list]]:
    """Label and one cell per instance type, for those that are ticked."""
    table = [
        ("Card", [f"{row['gpus']:.0f} × {card_name(row['gpu'], catalogs)}" for row in rows]),
        ("GPU memory", [gib(row["gpu_gib"]) for row in rows]),
        ("USD per hour on demand", [usd(row["on_demand_usd_per_hour"]) for row in rows]),
        ("USD per hour on spot", [usd(row["spot_usd_per_hour"]) for row in rows]),
        ("Spot saves", [percent(row["spot_saving_ratio"]) for row in rows]),
        ("Taken back in a month", [row["interruption_band"] or "not published" for row in rows]),
        ("GPU memory per dollar and hour", [gib(row["gib_per_usd"]) for row in rows]),
        ("Dense bf16 PFLOP/s", [three(row["bf16_pflops"]) for row in rows]),
        ("vCPUs of the quota", [f"{row['vcpus']:,.0f}" for row in rows]),
        ("Quota on demand", [row["on_demand_quota"] for row in rows]),
        ("CPU memory", [gib(row["host_gib"]) for row in rows]),
        ("Between the GPUs", [row["interconnect"] for row in rows]),
        ("Processor", ["Arm" if row["arm"] else "x86" for row in rows]),
    ]
    job = [
        ("Needed for the job", [f"{row['instances_needed']:.0f}, {verdict(row)}" for row in rows]),
        ("Money for the job", [usd(row["usd"]) for row in rows]),
    ]
    return [(label, [cell or "–" for cell in cells]) for label, cells in (table if whole else job + table)]


HISTORY = (
    "In {region}: each point is a day on which a price was seen; it stood until the next. Estimates are left out. `make prices` adds a "
    "small file for each day on which prices changed (catalogs/edited/history)."
)
