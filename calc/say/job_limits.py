"""The limits of a job in words: by when, for how much, on how many and which machines."""

from collections.abc import Iterator
from typing import Any

from calc.job.columns import JOB_BY_NAME
from calc.job.service_classes import service_classes
from calc.mappings import Cells
from calc.say.amounts import NO_LIMIT, number_in
from calc.say.numbers import amount, amount_with_noun, is_missing, with_noun
from calc.say.place import OBTAINABLE
from calc.units import DAY_HOURS, HOUR_MINUTES


def limits_in_words(job: Cells, ends: bool) -> Iterator[str]:
    """Yield each limit of the job that differs from the default, and any deadline."""
    yield from _cost_limits(job, ends)
    instances = 0 if job.get("have") else number_in(job, "instances_most")
    if instances not in (0, _default("instances_most")):
        yield f"on at most {with_noun(int(instances), 'instance')}"
    if spare := number_in(job, "spare"):
        yield f"with {with_noun(int(spare), 'spare instance')}"
    bits = str(job.get("fewest_bits") or "")
    if bits not in ("", _default("fewest_bits")):
        yield f"in {bits} bits" if bits == "16" else f"in {bits} bits or more"
    obtainable = str(job.get("obtainable") or "")
    if obtainable == "by-agreement":
        yield "what comes by agreement with AWS included"
    elif obtainable not in ("", _default("obtainable")):
        yield f"only what is {OBTAINABLE.get(obtainable, obtainable)}"
    if entry := service_classes().get(str(job.get("service_class") or "")):
        yield entry.phrase
    confidence = str(job.get("confidence") or "")
    if confidence not in ("", _default("confidence")):
        yield f"limits met with {confidence} % confidence"
    if not is_missing(job.get("admits")) and job.get("admits"):
        yield f"{' and '.join(str(job['admits']).split('+'))} admitted"


def _cost_limits(job: Cells, ends: bool) -> Iterator[str]:
    """Yield the limits on time, cost and GPU-hours."""
    hours = number_in(job, "hours_most")
    usd = number_in(job, "usd_most")
    usd_per_hour = number_in(job, "usd_per_hour_most")
    gpu_hours = number_in(job, "gpu_hours_most")
    if ends and 0 < hours < NO_LIMIT:
        yield f"within {_deadline(hours)}"
    if 0 < usd < NO_LIMIT:
        yield f"for at most ${amount(usd)}{'' if ends else ' a month'}"
    if 0 < usd_per_hour < NO_LIMIT:
        yield f"at most ${amount(usd_per_hour)} an hour"
    if 0 < gpu_hours < NO_LIMIT:
        yield f"in at most {amount(gpu_hours)} GPU-hours"


def _deadline(hours: float) -> str:
    """Say a deadline in the unit in which it is a round number: 7 days, 6.5 days, 30 minutes."""
    days = hours / DAY_HOURS
    if days >= 1 and (2 * days).is_integer():
        number, unit = days, "day"
    else:
        number, unit = (hours, "hour") if hours >= 1 else (hours * HOUR_MINUTES, "minute")
    return amount_with_noun(number, unit)


def _default(name: str) -> Any:
    return JOB_BY_NAME[name].default
