"""Result columns of time, in training and in serving, each with its range."""

import numpy as np

from calc.evaluate import variant
from calc.speed.spread import SLOW_END


def model_flops(trains, weight_gradient_ratio, matmul_flops, head_flops, attention_flops):
    """What the model needs for one micro-batch, nothing computed twice. [FLOP]

    Source: PaLM, Chowdhery et al. 2022, arXiv 2204.02311, appendix B.
    """
    products = (matmul_flops + head_flops) * (1 + trains * (1 + weight_gradient_ratio))
    return products + attention_flops * (1 + 2 * trains)


def utilization_ratio(
    trains,
    training_flops,
    training_compute_seconds,
    prefill_flops,
    prefill_compute_seconds,
    replica_gpus,
    pipeline_parallel,
    peak_flops_per_second,
):
    """Share of the card's dense rate that a GPU computes at while nothing makes it wait. [share]

    What the scenario's `utilization` sets. Recompute is credited.
    Source: hardware utilization, Korthikanti et al. 2022, arXiv 2205.05198.
    """
    training = training_flops / (replica_gpus * training_compute_seconds)
    prefill = prefill_flops * pipeline_parallel / (replica_gpus * prefill_compute_seconds)
    return np.where(trains > 0, training, prefill) / peak_flops_per_second


def mfu_ratio(
    model_flops, accumulation_steps, data_parallel, gpus, step_seconds, peak_flops_per_second
):
    """Model FLOPs utilization of a training step: waiting counted, recompute not. [share]

    Source: Chowdhery et al. 2022, arXiv 2204.02311, appendix B.
    """
    return (
        model_flops
        * accumulation_steps
        * data_parallel
        / (gpus * step_seconds * peak_flops_per_second)
    )


def tokens_per_second(trains, step_tokens, step_seconds, serving_tokens_per_second):
    """Tokens trained, or generated beside prefill, over all GPUs. [tokens per second]"""
    return np.where(trains > 0, step_tokens / step_seconds, serving_tokens_per_second)


def run_tokens(trains, train_tokens, tokens_total):
    """Tokens of the run: trained on, or of offline work. [tokens]"""
    return np.where(trains > 0, train_tokens, tokens_total)


def run_tokens_per_second(trains, generated_tokens, tokens_per_second, prefill_tokens_per_second):
    """Tokens of the run; of requests that generate nothing, those that they read. [tokens/s]"""
    return np.where(
        (trains > 0) | (generated_tokens > 0), tokens_per_second, prefill_tokens_per_second
    )


def tokens_per_second_per_gpu(tokens_per_second, gpus):
    """Tokens trained on, or generated, by one GPU. [tokens/s per GPU]"""
    return tokens_per_second / gpus


def request_seconds_per_token(
    generated_tokens, time_to_first_token_seconds, time_per_output_token_seconds
):
    """A request's time per token, its first included; NaN where nothing is generated. [s]

    (first token + (g − 1) · time per output token) / g.
    """
    g = np.where(generated_tokens > 0, generated_tokens, np.nan)
    return (time_to_first_token_seconds + (g - 1) * time_per_output_token_seconds) / g


def low_tokens_per_second(tokens_per_second, time_high_ratio):
    """The slow end of the range. [tokens/s]"""
    return tokens_per_second / time_high_ratio


def high_tokens_per_second(tokens_per_second, time_low_ratio):
    """The fast end of the range. [tokens/s]"""
    return tokens_per_second / time_low_ratio


def step_low_seconds(step_seconds, time_low_ratio):
    """The fast end of an optimizer step. [s]"""
    return step_seconds * time_low_ratio


def time_per_output_token_low_seconds(time_per_output_token_seconds, time_low_ratio):
    """The fast end of the time per output token. [s]"""
    return time_per_output_token_seconds * time_low_ratio


def time_to_first_token_low_seconds(time_to_first_token_seconds, first_token_low_ratio):
    """The fast end of the time to first token. [s]"""
    return time_to_first_token_seconds * first_token_low_ratio


def closed_loop_first_token_low_seconds(closed_loop_first_token_seconds, first_token_low_ratio):
    """The fast end of a benchmark's mean time to first token. [s]"""
    return closed_loop_first_token_seconds * first_token_low_ratio


def burst_first_token_low_seconds(burst_first_token_seconds, first_token_low_ratio):
    """The fast end of the time to the first tokens of a burst. [s]"""
    return burst_first_token_seconds * first_token_low_ratio


step_high_seconds = variant(
    step_low_seconds, rename=SLOW_END, doc="Slow end of the time of an optimizer step. [s]"
)
time_per_output_token_high_seconds = variant(
    time_per_output_token_low_seconds,
    rename=SLOW_END,
    doc="Slow end of the time per output token. [s]",
)
time_to_first_token_high_seconds = variant(
    time_to_first_token_low_seconds,
    rename=SLOW_END,
    doc="Slow end of the time to first token. [s]",
)
closed_loop_first_token_high_seconds = variant(
    closed_loop_first_token_low_seconds,
    rename=SLOW_END,
    doc="Slow end of a benchmark's mean time to first token. [s]",
)
burst_first_token_high_seconds = variant(
    burst_first_token_low_seconds,
    rename=SLOW_END,
    doc="Slow end of the time until a burst has its first tokens. [s]",
)
