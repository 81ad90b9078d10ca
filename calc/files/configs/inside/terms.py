"""The regions, the time limits and the price limits that a file names."""

import re
from collections.abc import Iterator

# A region of AWS, with or without a zone.
REGION = re.compile(r"(?:aws/)?((?:af|ap|ca|eu|il|me|mx|sa|us)-(?:gov-)?[a-z]{4,9}-\d)[a-f]?")
OF_PLACE = re.compile(r"(?:^|[_./])(?:region|region_name|regions|zones?|infra|location)$")
CLOCK = re.compile(r"(?:\d{1,3}-)?\d{1,3}:\d\d:\d\d")  # of Slurm: days-hours:minutes:seconds
TIME_LIMITS = (
    *("max_runtime_in_seconds", "max_run", "active_deadline_seconds", "max_runtime_seconds"),
    *("max_train_seconds", "timeout_minutes", "max_duration", "walltime"),
    "attempt_duration_seconds",  # of AWS Batch
)
IS_SPOT = ("spot", "true", "['spot']", "yes")
NOT_SPOT = ("false", "no", "on-demand", "on_demand", "ondemand", "['on-demand']")
LOAD_TARGETS = ("target_qps_per_replica", "target_requests_per_second", "target_rps")
PRICE_LIMITS = ("max_price", "max_hourly_cost", "spot_price", "max_spot_price", "spot_max_price")


def terms_of(key: str, value: str) -> Iterator[tuple[str, str]]:
    """The region, the longest time or the highest price that a field names."""
    plain = value.strip()
    if OF_PLACE.search(key) and (match := REGION.fullmatch(plain)):
        yield "region", match[1]
    elif (key in TIME_LIMITS and plain[:1].isdigit()) or (key == "time" and CLOCK.fullmatch(plain)):
        yield "time_limit", f"{key} {plain}"
    elif key in LOAD_TARGETS and plain[:1].isdigit():
        yield "load_target", f"{key} {plain}"
    elif key in PRICE_LIMITS and plain[:1].isdigit():
        yield "price_limit", f"{key} {plain}"


def place_of(regions: list[str]) -> dict[str, str]:
    """The region of a run; of several regions the choice."""
    distinct = list(dict.fromkeys(regions))
    if len(distinct) == 1:
        return {"region": distinct[0]}
    return {"regions_named": " or ".join(distinct)} if distinct else {}


def market_of(value: str) -> str:
    """Spot, Spot beside On-Demand, or On-Demand, as the value of a field on Spot says it."""
    if value in IS_SPOT:
        return "spot"
    if "spot" in value or value == "auto":
        return "spot_too"
    return "on_demand" if value in NOT_SPOT else ""
