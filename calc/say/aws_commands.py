"""Commands of the AWS CLI that ask for the quota and the capacity of a row."""

from calc.cost.quotas import Quota
from calc.evaluate import Row


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
    list_command = (
        f"aws service-quotas list-service-quotas --service-code ec2 --region {region} --query "
        f"\"Quotas[?contains(QuotaName, '{{}}')]\""
    )
    lines = [
        value if quota.code else list_command.format("Capacity Block" if block_hours else "Spot")
    ]
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
