"""A service over a day, in sentences."""

from calc.evaluate import Row
from calc.plan.lending import free_windows
from calc.plan.load_day import MOST_MONTHS, Load, LoadDay, Trace
from calc.say.numbers import (
    billed_usd,
    is_missing,
    percent,
    short_duration,
    three_digits,
    with_noun,
)
from calc.units import DAY_HOURS, MEAN_MONTH_HOURS

SAME = 0.005  # of the always-on cost; a smaller saving is none


def machines_sentence(day: LoadDay) -> str:
    """The instances that a load needs: 1 to 4 instances, 2.3 on average (57 % of the peak)."""
    least = float(day.table["instances"].min())
    if least == day.peak_instances:
        return f"{with_noun(int(least), 'instance')} at every hour."
    mean = f"{day.mean_instances:,.1f} on average"
    share = percent(day.mean_instances / day.peak_instances)
    return f"{least:,.0f} to {day.peak_instances:,.0f} instances, {mean} ({share} of the peak)."


def _month_sentence(day: LoadDay) -> str:
    """Return the cost of a month always on, and of the same month scaled by the hour."""
    always = f"{day.gpu_hours_always:,.0f} GPU-hours{_money(day.usd_always)}"
    scaled_words = f"{day.gpu_hours_scaled:,.0f}{_money(day.usd_scaled)}"
    saved_ratio = 1 - day.gpu_hours_scaled / day.gpu_hours_always
    if saved_ratio < SAME:
        return f"A month takes {always}; scaling by the hour saves nothing."
    commitment_words = ""
    if day.usd_always == day.usd_scaled and not is_missing(day.usd_always):
        commitment_words = " You pay for the commitment either way."
    less = percent(saved_ratio)
    return (
        f"A month takes {always}; scaled by the hour {scaled_words}, {less} less.{commitment_words}"
    )


def _money(usd: float) -> str:
    return "" if is_missing(usd) else f" ({billed_usd(usd)})"


def _start_sentence(day: LoadDay) -> str:
    """Return how long a start takes, how often one happens, and what scaling to zero means."""
    takes = f"A start takes {short_duration(day.cold_start_seconds)}"
    if not day.starts_per_day:
        return f"{takes}; the load needs none."
    starts = f"{day.starts_per_day:.3g} {'start' if day.starts_per_day == 1 else 'starts'}"
    zero = ""
    if day.zero_hours_per_day:
        zero = (
            f" For {day.zero_hours_per_day:.3g} hours of the day nothing runs, and the first "
            f"request afterwards waits for a start."
        )
    return f"{takes}; a day has {starts}, paid from the request on.{zero}"


def _full_sentence(day: LoadDay, load: Load, most_instances: float) -> str:
    """The month of growth in which the machines are full."""
    machines = with_noun(round(most_instances), "instance")
    growth = f"at {percent(load.growth_per_month)} growth a month"
    if is_missing(day.full_month):
        return f"{machines} cover the peak for {MOST_MONTHS} months {growth}."
    if day.full_month == 0:
        return f"{machines} do not cover today's peak."
    last_month = f"{day.full_month - 1:.0f}"
    return f"{machines} cover the peak until month {last_month}, {growth}; then it is full."


WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")


def lending_sentence(day: LoadDay, row: Row) -> str:
    """Return what idle hours that are paid for could do; empty if there are none."""
    windows = free_windows(day)
    if not windows:
        return ""
    largest = max(windows, key=lambda window: window.instance_hours)
    hours = sum(window.instance_hours for window in windows) * float(row["hours"]) / len(day.table)
    on_day = f"{WEEKDAYS[largest.starts // DAY_HOURS]} " if len(day.table) > DAY_HOURS else ""
    are = "is" if largest.instances == 1 else "are"
    return (
        f"Left on, {with_noun(largest.instances, 'instance')} {are} free for {largest.hours} hours "
        f"from {on_day}{largest.starts % DAY_HOURS}:00; runs could use {hours:,.0f} instance-hours "
        f"a month."
    )


def hours_sentence(row: Row) -> str:
    """Return how the day fits a plan that runs for a part of the month; empty for a whole one."""
    hours = float(row["hours"])
    if not hours < MEAN_MONTH_HOURS:
        return ""
    return (
        f"The plan runs {hours:,.0f} of the {MEAN_MONTH_HOURS} hours of a month; the day "
        f"shows only these hours."
    )


def day_sentences(day: LoadDay, load: Load, most_instances: float | None) -> list[str]:
    """Every sentence on a day, in order."""
    full = [] if most_instances is None else [_full_sentence(day, load, most_instances)]
    return [machines_sentence(day), _month_sentence(day), _start_sentence(day), *full]


def trace_sentence(trace: Trace) -> str:
    """Return a sentence that sums up a file of requests."""
    lengths = f"{trace.prompt_tokens:,.0f} prompt and {trace.answer_tokens:,.0f} answer tokens each"
    rate = f"{three_digits(trace.peak_requests_per_second)} requests a second in the busiest hour"
    requests = with_noun(trace.requests, "request")
    hours = with_noun(trace.covered_hours, "hour")
    head = f"{trace.name}: {requests} in {hours}"
    short = "" if trace.hours else " That is less than a day, so the load is assumed to be flat."
    return f"{head}, {lengths}; {rate}, {three_digits(trace.peak_to_mean)} times the mean.{short}"
