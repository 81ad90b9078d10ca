"""Percentiles of first token, each token and whole request under random arrivals.

Each time is log-normal or, as prompts fill the time, gamma beyond its least, with the mean and
variance of calc/speed/waits.py; who finds no free slot waits besides. Of a simulation of every step
96 in 100 percentiles of ten shapes, and 91 of ten further ones, are met within 15 % up to a load of
80 %, none of the first is off by more than 30 %; beyond they are rough. Source:
validation/arrivals.py, validation/results/arrivals.csv.
"""

from statistics import NormalDist

import numpy as np

from calc.evaluate import variant

P90, P99 = {"p50": "p90"}, {"p50": "p99"}


def least_first_token_seconds(arrival_seconds, others_ratio, ahead_steps, decode_token_seconds):
    """The least time to first token: the steps scheduled ahead, and its own. [s]"""
    return arrival_seconds + others_ratio * (ahead_steps + 0.5) * decode_token_seconds


def first_token_excess_seconds(arrival_seconds, queued_prompt_seconds, least_first_token_seconds):
    """Mean of the time to first token beyond its least. [s]"""
    return arrival_seconds + queued_prompt_seconds - least_first_token_seconds


def token_excess_seconds(mean_token_seconds, least_token_seconds):
    """Mean of the time per token beyond its least. [s]"""
    return np.maximum(mean_token_seconds - least_token_seconds, 1e-9)


def request_excess_seconds(mean_request_seconds, arrival_seconds):
    """Mean of the time of a request beyond its least. [s]"""
    return mean_request_seconds - arrival_seconds


def first_token_spread_ratio(first_token_variance, first_token_excess_seconds):
    """Deviation of the logarithm of the time to first token beyond its least. [ratio]

    By definition, for a log-normal distribution with that mean and variance: √ln(1 + variance /
    mean²).
    """
    return np.sqrt(np.log1p(first_token_variance / first_token_excess_seconds**2))


token_spread_ratio = variant(
    first_token_spread_ratio,
    rename={"first_token": "token"},
    doc="""Deviation of the logarithm of the time per token beyond its least. [ratio]

    Of a log-normal distribution with that mean and variance: √ln(1 + variance / mean²).
    """,
)
request_spread_ratio = variant(
    first_token_spread_ratio,
    rename={"first_token": "request"},
    doc="""Deviation of the logarithm of the time of a request beyond its least. [ratio]

    Of a log-normal distribution with that mean and variance: √ln(1 + variance / mean²).
    """,
)


def p50_beyond_ratio():
    """Share of requests beyond the median. [share]"""
    return np.full(1, 0.5)


def p90_beyond_ratio():
    """Share of requests beyond the 90th percentile. [share]"""
    return np.full(1, 0.1)


def p99_beyond_ratio():
    """Share of requests beyond the 99th percentile. [share]"""
    return np.full(1, 0.01)


def p50_deviations(p50_beyond_ratio):
    """Deviations of a normal distribution beyond which that share of it lies. [ratio]"""
    return np.array([NormalDist().inv_cdf(1 - share) for share in p50_beyond_ratio])


def first_token_p50_ratio(first_token_spread_ratio, p50_deviations, prefill_busy_ratio):
    """Time to first token that half of random arrivals keep, over its mean. [ratio]

    Both beyond the least: log-normal as the prompts' lengths on an idle replica, gamma where
    prompts always wait, and between by the share of time in which prompts run. Source: Kingman
    1962, J. Roy. Stat. Soc. B 24(2), 383-392 (waits under heavy load are exponential); Wilson and
    Hilferty 1931, PNAS 17(12), 684-688, for the quantiles of a gamma distribution.
    """
    lengths = np.exp(first_token_spread_ratio * (p50_deviations - first_token_spread_ratio / 2))
    variation = np.expm1(first_token_spread_ratio**2) / 9
    waits = np.maximum(1 - variation + p50_deviations * np.sqrt(variation), 0) ** 3
    return lengths + prefill_busy_ratio * (waits - lengths)


def free_slot_p50_seconds(
    least_first_token_seconds, first_token_excess_seconds, first_token_p50_ratio
):
    """Time to first token that half of random arrivals keep, a free slot found. [s]"""
    return least_first_token_seconds + first_token_excess_seconds * first_token_p50_ratio


def slot_wait_added_to_p50_seconds(
    slot_wait_ratio,
    slot_wait_seconds,
    p50_beyond_ratio,
    queued_prompt_seconds,
    arrival_seconds,
    first_token_variance,
    free_slot_p50_seconds,
):
    """Time that waits for a free slot add to the median time to first token. [s]

    Beyond it lie a share p of those who find one, fewer by e^(−x / deviation), and P e^(−t / w) of
    those who do not: the root x of e^(−x / deviation) + r e^(−x / w) = 1, r = P / p e^(−t / w), by
    Newton's steps from below, where the sum is convex.
    """
    deviation = np.sqrt(first_token_variance)
    later = free_slot_p50_seconds - queued_prompt_seconds - arrival_seconds
    waits = slot_wait_ratio / p50_beyond_ratio * np.exp(-later / slot_wait_seconds)
    added = slot_wait_seconds * np.log(np.maximum(waits, 1))
    for _ in range(3):
        quick, slow = np.exp(-added / deviation), waits * np.exp(-added / slot_wait_seconds)
        added = added + (quick + slow - 1) / (quick / deviation + slow / slot_wait_seconds)
    return added


def first_token_p50_seconds(free_slot_p50_seconds, slot_wait_added_to_p50_seconds):
    """Time to first token that half of random arrivals keep. [s]"""
    return free_slot_p50_seconds + slot_wait_added_to_p50_seconds


token_p50_ratio = variant(
    first_token_p50_ratio,
    rename={"first_token": "token"},
    doc="""Median of the time per token over its mean, both beyond the least. [ratio]

    Source: as first_token_p50_ratio.
    """,
)


def token_p50_seconds(
    least_token_seconds, token_excess_seconds, token_p50_ratio, most_token_seconds
):
    """Time per token that half of random arrivals keep, on average over their answers. [s]"""
    return np.minimum(
        least_token_seconds + token_excess_seconds * token_p50_ratio, most_token_seconds
    )


def request_p50_seconds(
    arrival_seconds, request_excess_seconds, request_spread_ratio, p50_deviations
):
    """Time of a whole request that half of random arrivals keep. [s]"""
    excess = np.exp(request_spread_ratio * (p50_deviations - request_spread_ratio / 2))
    return arrival_seconds + request_excess_seconds * excess


p90_deviations = variant(
    p50_deviations,
    rename=P90,
    doc="""Deviations from a normal distribution's mean to its 90th percentile. [ratio]""",
)
p99_deviations = variant(
    p50_deviations,
    rename=P99,
    doc="""Deviations from a normal distribution's mean to its 99th percentile. [ratio]""",
)
first_token_p90_ratio = variant(
    first_token_p50_ratio,
    rename=P90,
    doc="""90th percentile of the time to first token over its mean, beyond the least. [ratio]

    Source: as first_token_p50_ratio.
    """,
)
first_token_p99_ratio = variant(
    first_token_p50_ratio,
    rename=P99,
    doc="""99th percentile of the time to first token over its mean, beyond the least. [ratio]

    Source: as first_token_p50_ratio.
    """,
)
free_slot_p90_seconds = variant(
    free_slot_p50_seconds,
    rename=P90,
    doc="90th percentile of the time to first token of requests that find a free slot. [s]",
)
free_slot_p99_seconds = variant(
    free_slot_p50_seconds,
    rename=P99,
    doc="99th percentile of the time to first token of requests that find a free slot. [s]",
)
slot_wait_added_to_p90_seconds = variant(
    slot_wait_added_to_p50_seconds,
    rename=P90,
    doc="""Time that waits for a free slot add to the 90th percentile of the first token. [s]

    Source: as slot_wait_added_to_p50_seconds.
    """,
)
slot_wait_added_to_p99_seconds = variant(
    slot_wait_added_to_p50_seconds,
    rename=P99,
    doc="""Time that waits for a free slot add to the 99th percentile of the first token. [s]

    Source: as slot_wait_added_to_p50_seconds.
    """,
)
token_p90_ratio = variant(
    token_p50_ratio,
    rename=P90,
    doc="""90th percentile of the time per token over its mean, beyond the least. [ratio]

    Source: as first_token_p50_ratio.
    """,
)
token_p99_ratio = variant(
    token_p50_ratio,
    rename=P99,
    doc="""99th percentile of the time per token over its mean, beyond the least. [ratio]

    Source: as first_token_p50_ratio.
    """,
)
first_token_p90_seconds = variant(
    first_token_p50_seconds,
    rename=P90,
    doc="90th percentile of the time to first token under random arrivals. [s]",
)
first_token_p99_seconds = variant(
    first_token_p50_seconds,
    rename=P99,
    doc="99th percentile of the time to first token under random arrivals. [s]",
)
token_p90_seconds = variant(
    token_p50_seconds,
    rename=P90,
    doc="""90th percentile of a request's mean time per token under random arrivals. [s]""",
)
token_p99_seconds = variant(
    token_p50_seconds,
    rename=P99,
    doc="""99th percentile of a request's mean time per token under random arrivals. [s]""",
)
request_p90_seconds = variant(
    request_p50_seconds,
    rename=P90,
    doc="90th percentile of the time of a whole request under random arrivals. [s]",
)
request_p99_seconds = variant(
    request_p50_seconds,
    rename=P99,
    doc="99th percentile of the time of a whole request under random arrivals. [s]",
)
