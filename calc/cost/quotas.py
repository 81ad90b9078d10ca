"""What an AWS account must be allowed before it can start instances: quotas by name and code, and the commands that ask AWS.

Names, codes and defaults: AWS's EC2 quota page, agreeing with six public programs (2026-07 to 2026-09). A new account has 0 of each.
A quota is leave to ask, not capacity.
"""

from typing import Any, NamedTuple


class Quota(NamedTuple):
    """A service quota of EC2: its name, its code (empty: not known, find it by name), whether it counts vCPUs or blocks."""

    name: str
    code: str
    counts: str = "vCPUs"


G_ON_DEMAND = Quota("Running On-Demand G and VT instances", "L-DB2E81BA")
P_ON_DEMAND = Quota("Running On-Demand P instances", "L-417A185B")
QUOTAS = {  # family, or how it begins -> on demand, on spot
    "g": (G_ON_DEMAND, Quota("All G and VT Spot Instance Requests", "L-3819A6DF")),
    "p": (P_ON_DEMAND, Quota("All P4, P3 and P2 Spot Instance Requests", "L-7212CCBC")),
    "p5": (P_ON_DEMAND, Quota("All P5 Spot Instance Requests", "L-C4BD4855")),
    "p6": (P_ON_DEMAND, Quota("the P6 spot quota of the account", "")),
}
BLOCKS = {  # family -> the quota of blocks at once; none was found for p4de and p6
    "p4d": Quota("Concurrent P4d Capacity Blocks per account", "L-2C8F52B3", "blocks"),
    "p5": Quota("Concurrent P5 Capacity Blocks per account", "L-DA6814F2", "blocks"),
    "p5e": Quota("Concurrent P5e Capacity Blocks per account", "L-C45F30BC", "blocks"),
    "p5en": Quota("Concurrent P5en Capacity Blocks per account", "L-4F9BB70B", "blocks"),
}
NO_BLOCK_QUOTA = Quota("the Capacity Block quota of the family", "", "blocks")


def quotas_of(family: str) -> tuple[Quota, Quota]:
    """The account's quotas, on demand and on spot, that count the vCPUs of an instance family."""
    return QUOTAS.get(family[:2]) or QUOTAS[family[0]]


def quota_names(family: str) -> tuple[str, str]:
    """Their names."""
    on_demand, spot = quotas_of(family)
    return on_demand.name, spot.name


def quota_for(family: str, interrupted: float, block_hours: float) -> Quota:
    """The quota that a market's instances of a family count against."""
    if block_hours:
        return BLOCKS.get(family, NO_BLOCK_QUOTA)
    return quotas_of(family)[1 if interrupted else 0]


def commands(row: dict[str, Any], quota: Quota, interrupted: float, block_hours: float, booked_hours: float) -> list[str]:
    """What to run to ask AWS, read only: the quota of the account, then the offers of a block or the scores of spot."""
    region, count = row["region"], int(row["instances"])
    value = f"aws service-quotas get-service-quota --service-code ec2 --quota-code {quota.code} --region {region}"
    listed = f"aws service-quotas list-service-quotas --service-code ec2 --region {region} --query \"Quotas[?contains(QuotaName, '{{}}')]\""
    found = [value if quota.code else listed.format("Capacity Block" if block_hours else "Spot")]
    if block_hours:
        found.append(
            f"aws ec2 describe-capacity-block-offerings --instance-type {row['instance']} --instance-count {count} "
            f"--capacity-duration-hours {booked_hours:.0f} --region {region}"
        )
    if interrupted:
        found.append(
            f"aws ec2 get-spot-placement-scores --instance-types {row['instance']} --target-capacity {count} "
            f"--target-capacity-unit-type units --single-availability-zone --region-names {region}"
        )
    return found
