"""Links of earlier versions, as the jobs that they meant."""

from typing import Any

from calc.catalogs.load import Catalogs
from calc.cost.markets import PLAN_MARKETS
from calc.scenarios.inputs import BY_NAME, Input
from calc.search.job_fields import BY_HAND, DEGREES, JOB, LIMITS, job_fields_of

FIRST, VERSIONS = "1", ("1", "2")
# The defaults of both versions that are others today.
DEFAULTS = {
    "fewest_bits": "16",
    "confidence": "50",
    "first_token_seconds": 2,
    "token_seconds": 0.05,
    "markets": "on-demand",
}
COLUMNS = {
    **{name: BY_NAME[name] for name in ("scenario", "work", "tuning", "region")},
    "market": Input("market", "choice", "on-demand", PLAN_MARKETS),
    "period": Input("period", "choice", "hour", ("hour", "day", "month")),
    "layout": Input("layout", "choice", "divided", ("divided", "given")),
}


def is_version_1(query: dict[str, list[str]]) -> bool:
    """Whether a query is of version 1 or names what only that version had."""
    return query.get("v", [""])[:1] == [FIRST] or any(name in COLUMNS for name in query)


def is_earlier(query: dict[str, list[str]]) -> bool:
    """Whether a link was made before starting was counted, with the defaults of then."""
    return query.get("v", [""])[0] in VERSIONS


def as_job(choices: dict[str, Any], complete: bool, catalogs: Catalogs) -> dict[str, Any]:
    """The choices as those of a job; a complete link of version 1 had no limits."""
    scenario = {name: value for name, value in choices.items() if name in BY_NAME}
    divided = choices.get("layout", "divided") == "divided" and choices.get("work") == "inference"
    if divided:
        scenario = {name: value for name, value in scenario.items() if name not in DEGREES}
    job, by_hand = job_fields_of(scenario, catalogs)
    if divided and "users" in job:
        job["users"] = int(scenario["batch"])  # one replica over all GPUs
    if "work" not in choices and "tuning" not in choices:
        job = {name: value for name, value in job.items() if name not in ("goal", "method")}
    if "market" in choices:
        job["markets"] = choices["market"]
    others = {
        name: value
        for name, value in choices.items()
        if name not in COLUMNS and name not in BY_HAND and name not in JOB
    }
    fields = {name: value for name, value in choices.items() if name in JOB and name not in BY_NAME}
    unlimited = dict.fromkeys(LIMITS, "") if complete else {}
    plain = {name: values[0] if len(values) == 1 else values for name, values in by_hand.items()}
    regions = job.pop("regions", None)
    placed = {} if regions is None else {"regions": regions[0] if len(regions) == 1 else regions}
    return others | plain | unlimited | fields | job | placed
