"""Prices of AWS: USD per hour, month, run, GPU, GiB, PFLOP and million tokens.

A missing price is NaN, and so is everything that follows from it. By definition; listed prices:
catalogs/edited/prices.yaml.
"""

import numpy as np

from calc.cost.machines import resting_instances
from calc.evaluate import variant
from calc.table import Words
from calc.units import GIB, HOUR_SECONDS, MILLION, PETA, YEAR_DAYS, YEAR_MONTHS

ON_SPOT = {"on_demand": "spot"}


def instance_usd_per_hour_on_demand(on_demand_usd_per_hour, private_usd_per_hour, paid_ratio):
    """One instance on demand: the private or listed price times the paid share. [USD per hour]"""
    return (
        np.where(np.isnan(private_usd_per_hour), on_demand_usd_per_hour, private_usd_per_hour)
        * paid_ratio
    )


def instance_usd_per_hour_spot(spot_usd_per_hour, paid_ratio):
    """One instance on Spot: the median over zones times the paid share. [USD per hour]"""
    return spot_usd_per_hour * paid_ratio


def usd_per_hour_on_demand(instances_needed, standby_instances, instance_usd_per_hour_on_demand):
    """The whole job on demand, including a service's spare instances. [USD per hour]"""
    return (instances_needed + standby_instances) * instance_usd_per_hour_on_demand


def usd_per_hour_spot(instances_needed, spare_instances, instance_usd_per_hour_spot):
    """The whole job on Spot, including a service's spare instances. [USD per hour]"""
    return (instances_needed + spare_instances) * instance_usd_per_hour_spot


def usd_per_gpu_hour_on_demand(
    instance_usd_per_hour_on_demand, instance_gpus, instance_gpu_fraction
):
    """One whole GPU on demand; a fraction of a card is scaled up to it. [USD per GPU-hour]"""
    return instance_usd_per_hour_on_demand / (instance_gpus * instance_gpu_fraction)


def usd_per_gib_hour_on_demand(instance_usd_per_hour_on_demand, instance_gpus, gpu_memory_bytes):
    """One GiB of GPU memory, as the driver reports it, for an hour on demand. [USD per GiB-hour]"""
    return instance_usd_per_hour_on_demand / (instance_gpus * gpu_memory_bytes / GIB)


def usd_per_pflop_hour_on_demand(usd_per_gpu_hour_on_demand, gpu_bf16_flops_per_second):
    """A dense 16-bit rate of one PFLOP a second, for an hour on demand. [USD per PFLOP-hour]"""
    return usd_per_gpu_hour_on_demand / (gpu_bf16_flops_per_second / PETA)


def usd_per_month_on_demand(
    usd_per_hour_on_demand, resting_instances, instance_usd_per_hour_on_demand, hours_per_month
):
    """A month on demand for the hours in use, without resting instances. [USD per month]"""
    return (
        usd_per_hour_on_demand - resting_instances * instance_usd_per_hour_on_demand
    ) * hours_per_month


usd_per_gpu_hour_spot = variant(
    usd_per_gpu_hour_on_demand,
    rename=ON_SPOT,
    doc="One whole GPU on Spot; a fraction of a card is scaled up to it. [USD per GPU-hour]",
)
usd_per_gib_hour_spot = variant(
    usd_per_gib_hour_on_demand,
    rename=ON_SPOT,
    doc="One GiB of GPU memory, as the driver reports it, for an hour on Spot. [USD per GiB-hour]",
)
usd_per_pflop_hour_spot = variant(
    usd_per_pflop_hour_on_demand,
    rename=ON_SPOT,
    doc="A dense 16-bit rate of one PFLOP a second, for an hour on Spot. [USD per PFLOP-hour]",
)
usd_per_month_spot = variant(
    usd_per_month_on_demand,
    rename=ON_SPOT,
    doc="""A month on Spot for the hours in use, without resting instances. [USD per month]""",
)


def prices_as_of(on_demand_as_of, spot_as_of):
    """Older ISO date of the two prices, which share the codes of one catalog entry."""
    first, second = on_demand_as_of.vocabulary, spot_as_of.vocabulary
    older = np.where((second == "") | ((first != "") & (first < second)), first, second)
    return Words(on_demand_as_of.codes, older)


def optimizer_steps(trains, train_tokens, step_tokens):
    """Optimizer steps of the whole run. [steps]"""
    return np.where(trains > 0, train_tokens / step_tokens, np.nan)


def attempt_hours(run_tokens, run_tokens_per_second):
    """Hours of one attempt at the run, without its start and interruptions. [h]"""
    return run_tokens / run_tokens_per_second / HOUR_SECONDS


def work_hours(attempt_hours, attempts):
    """Hours of all attempts that are paid for, including the one that is used. [h]"""
    return attempt_hours * attempts


def run_hours(work_hours, start_hours):
    """Hours of all attempts without interruptions, with their starts and last saves. [h]"""
    return start_hours + work_hours


def run_low_hours(work_hours, time_low_ratio, start_low_hours):
    """Fast end of the hours of the run. [h]"""
    return start_low_hours + work_hours * time_low_ratio


run_high_hours = variant(
    run_low_hours, rename={"low": "high"}, doc="Slow end of the hours of the run. [h]"
)


def gpu_hours(
    ends,
    instances_needed,
    standby_instances,
    resting_instances,
    instance_gpus,
    gpus,
    run_hours,
    hours_per_month,
):
    """GPUs paid times the hours of the run or of a month, on demand. [GPU-hours]

    Cards without an instance count as they are. By definition.
    """
    running = instances_needed + standby_instances - resting_instances
    paid_gpus = np.where(np.isnan(instance_gpus), gpus, running * instance_gpus)
    return paid_gpus * np.where(ends > 0, run_hours, hours_per_month)


def run_usd_on_demand(run_hours, usd_per_hour_on_demand):
    """Cost of the whole run on demand. [USD]"""
    return run_hours * usd_per_hour_on_demand


def _usd_per_million(usd_per_hour, tokens_per_second):
    """A million tokens at a rate and a price. [USD per million tokens]"""
    return MILLION * (usd_per_hour / HOUR_SECONDS / tokens_per_second)


def input_tokens_per_second(
    generates,
    generated_tokens,
    read_tokens,
    tokens_per_second,
    decode_tokens_per_second,
    prefill_tokens_per_second,
):
    """Input tokens per second of machine time in which a request is not decoded. [tokens/s]

    A request takes g / tokens_per_second of the machines' time, of which g /
    decode_tokens_per_second is decoding. The rest is its prefill and what the engine and the CPU
    add, which is most of the time of a tiny model.
    """
    g = generated_tokens
    beside_decode_seconds = g / tokens_per_second - g / decode_tokens_per_second
    return np.where(
        (generates > 0) & (g > 0), read_tokens / beside_decode_seconds, prefill_tokens_per_second
    )


def usd_per_million_input_tokens(trains, usd_per_hour_on_demand, input_tokens_per_second):
    """A million prompt tokens on demand: a request without decoding. [USD per million tokens]

    With usd_per_million_output_tokens it adds up to the price of a request, since both share the
    same machines, one after the other.
    """
    return np.where(
        trains > 0, np.nan, _usd_per_million(usd_per_hour_on_demand, input_tokens_per_second)
    )


usd_per_million_output_tokens = variant(
    usd_per_million_input_tokens,
    rename={"input_tokens_per_second": "decode_tokens_per_second", "input": "output"},
    doc="A million generated tokens on demand, while they are decoded. [USD per million tokens]",
)


def usd_per_million_trained_tokens(trains, usd_per_hour_on_demand, tokens_per_second):
    """A million trained tokens on demand. [USD per million tokens]"""
    return np.where(trains > 0, _usd_per_million(usd_per_hour_on_demand, tokens_per_second), np.nan)


def paid_usd_per_million_input_tokens(
    endpoint_usd_per_million_input_tokens,
    endpoint_usd_per_million_output_tokens,
    listed_usd_per_million_input_tokens,
):
    """A million input tokens at an endpoint: the set price, else Amazon Bedrock's list. [USD]

    Source: catalogs/edited/endpoints.yaml.
    """
    is_set = endpoint_usd_per_million_input_tokens + endpoint_usd_per_million_output_tokens > 0
    return np.where(
        is_set, endpoint_usd_per_million_input_tokens, listed_usd_per_million_input_tokens
    )


paid_usd_per_million_output_tokens = variant(
    paid_usd_per_million_input_tokens,
    rename={"input": "output", "output": "input"},
    doc="""A million output tokens at an endpoint: the set price, else Amazon Bedrock's list. [USD]

    Source: catalogs/edited/endpoints.yaml.
    """,
)


def endpoint_usd_per_million_tokens(
    trains,
    sequence_tokens,
    prompt_tokens,
    paid_usd_per_million_input_tokens,
    paid_usd_per_million_output_tokens,
):
    """A million generated tokens at an endpoint, with the prompts they need. [USD]"""
    generated_tokens = sequence_tokens - prompt_tokens
    usd = (
        paid_usd_per_million_output_tokens
        + paid_usd_per_million_input_tokens * prompt_tokens / generated_tokens
    )
    return np.where((trains == 0) & (generated_tokens > 0) & (usd > 0), usd, np.nan)


def endpoint_break_even_tokens(usd_per_month_on_demand, endpoint_usd_per_million_tokens):
    """Daily generated tokens above which your own instances are cheaper. [tokens]"""
    return (
        usd_per_month_on_demand
        * YEAR_MONTHS
        / YEAR_DAYS
        / (endpoint_usd_per_million_tokens / MILLION)
    )


def endpoint_break_even_ratio(endpoint_break_even_tokens, tokens_per_second, hours_per_month):
    """Break-even tokens over all that the instances can generate in a day. [share]

    Above 1 the instances are never cheaper.
    """
    return endpoint_break_even_tokens / (
        tokens_per_second * HOUR_SECONDS * hours_per_month * YEAR_MONTHS / YEAR_DAYS
    )


def load_deployments(trains, served_tokens_per_second, tokens_per_second):
    """Copies of this deployment that the requested load needs; NaN without a load. [deployments]"""
    has_load = (trains == 0) & (served_tokens_per_second > 0)
    return np.where(has_load, np.ceil(served_tokens_per_second / tokens_per_second), np.nan)


def load_instances(load_deployments, instances_needed):
    """Instances that serve the requested load. [instances]"""
    return load_deployments * instances_needed


def load_resting_instances(
    load_instances, ends, scales_hourly, peak_to_mean, replica_gpus, instance_gpus
):
    """Instances of the requested load that are off on average. [instances]"""
    return resting_instances(
        ends, scales_hourly, peak_to_mean, load_instances, replica_gpus, instance_gpus
    )


def load_usd_per_month_on_demand(
    load_instances,
    load_resting_instances,
    standby_instances,
    instance_usd_per_hour_on_demand,
    hours_per_month,
):
    """The requested load for a month on demand. [USD per month]"""
    return (
        (load_instances + standby_instances - load_resting_instances)
        * instance_usd_per_hour_on_demand
        * hours_per_month
    )
