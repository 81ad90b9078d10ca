"""Quotas that an account needs to start instances, and commands that query them."""

from typing import NamedTuple

import pandas as pd

from calc.catalogs.load import Catalogs
from calc.evaluate import Row


class Quota(NamedTuple):
    """A service quota of EC2: its name, its code or "", and what it counts: vCPUs or blocks."""

    name: str
    code: str
    counts: str = "vCPUs"


def entry_of(family: str, table: pd.DataFrame) -> pd.Series:
    """The entry of a family in a table of beginnings of families' names: the longest."""
    return table.loc[max((key for key in table.index if family.startswith(key)), key=len)]


def quota_for(
    family: str, catalogs: Catalogs, interrupted: float = 0, block_hours: float = 0
) -> Quota:
    """The quota of a family on a market: of blocks, spot or on demand."""
    market, words, counts = (
        ("block", "Capacity Block", "blocks") if block_hours else ("spot", "spot", "vCPUs")
    )
    if not (block_hours or interrupted):
        market, words = "on_demand", "on-demand"
    entry = entry_of(family, catalogs.quotas)
    return Quota(entry[market] or f"the {words} quota of {family}", entry[f"{market}_code"], counts)


def commands(
    row: Row, quota: Quota, interrupted: float, block_hours: float, booked_hours: float
) -> list[str]:
    """Read-only commands to run: the account's quota, then offers of a block or scores of spot."""
    region = row["region"]
    count = int(row["instances"])
    value = (
        f"aws service-quotas get-service-quota --service-code ec2 --quota-code {quota.code} "
        f"--region {region}"
    )
    listed = (
        f"aws service-quotas list-service-quotas --service-code ec2 --region {region} --query "
        f"\"Quotas[?contains(QuotaName, '{{}}')]\""
    )
    lines = [value if quota.code else listed.format("Capacity Block" if block_hours else "Spot")]
    if block_hours:
        lines.append(
            f"aws ec2 describe-capacity-block-offerings --instance-type {row['instance']} "
            f"--instance-count {count} "
            f"--capacity-duration-hours {booked_hours:.0f} --region {region}"
        )
    if interrupted:
        lines.append(
            f"aws ec2 get-spot-placement-scores --instance-types {row['instance']} "
            f"--target-capacity {count} "
            f"--target-capacity-unit-type units --single-availability-zone --region-names {region}"
        )
    return lines
