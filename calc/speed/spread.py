"""The range of a time: the software's, wider outside of published runs and in rare corners.

What a row's layout decides and what its card decides stay apart, so that combinations of both add
two short columns. A corner is an entry of catalogs/calibrated/time_spreads.yaml, and the condition
under which a row lies in it.
"""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from calc.evaluate import Columns, evaluate, reading, variant


def runs_older_engine(card_is_of_older_release, release_block_ratio):
    """1 for an engine of 2024, named or the newest known on the card. [0 or 1]

    Source: catalogs/calibrated/serving_steps.yaml and earlier_releases.yaml.
    """
    return ((card_is_of_older_release > 0) | (release_block_ratio > 1)).astype(float)


def leaves_kernel_open(
    trains,
    named_attention_ratio,
    engine_attention_ratio,
    card_flash_2_ratio,
    card_cudnn_ratio,
    training_attention_seconds,
    training_device_seconds,
    replica_gpus,
):
    """1 where attention weighs and nobody says which of the card's kernels runs. [0 or 1]

    Source: catalogs/calibrated/utilization.yaml: on Hopper and Blackwell the kernels differ.
    """
    differ = (card_cudnn_ratio > card_flash_2_ratio) & (engine_attention_ratio == 1)
    weighs = training_attention_seconds > 0.25 * training_device_seconds * replica_gpus
    return ((trains > 0) & np.isnan(named_attention_ratio) & differ & weighs).astype(float)


def _as_shipped(engine_replays_steps, is_tuned, most_experts, card_shipped_expert_seconds):
    """Return which rows replay steps with experts at an engine's own flags. Shape (rows,)."""
    return (
        (engine_replays_steps > 0)
        & (is_tuned == 0)
        & (most_experts > 0)
        & (card_shipped_expert_seconds > 0)
    )


def _long_cache(engine_replays_steps, runs_older_engine, sequence_tokens, earlier_captured_tokens):
    return (
        (engine_replays_steps > 0)
        & (runs_older_engine > 0)
        & (sequence_tokens > earlier_captured_tokens)
    )


LAYOUT_CORNERS: dict[str, Callable] = {
    "assumed-kernel": lambda kernel_is_assumed: kernel_is_assumed > 0,
    "assumed-software": lambda engine_is_assumed: engine_is_assumed > 0,
    "cast-to-8-bits": lambda cast_bytes: cast_bytes > 0,
    "context-parallel": lambda context_parallel: context_parallel > 1,
    "encoding": lambda trains, generates: (trains == 0) & (generates == 0),
    "experts-8-bit": lambda trains, most_experts, matrix_bytes_each, names_release: (
        (trains == 0) & (most_experts > 0) & (matrix_bytes_each == 1) & (names_release == 0)
    ),
    "experts-adapters": lambda trains, most_experts, adapts: (
        (trains > 0) & (most_experts > 0) & (adapts > 0)
    ),
    "experts-earlier": lambda trains, adapts, most_experts, release_expert_matmul_ratio: (
        (trains > 0) & (adapts == 0) & (most_experts > 0) & ~np.isnan(release_expert_matmul_ratio)
    ),
    "experts-serving": lambda trains, most_experts: (trains == 0) & (most_experts > 0),
    "experts-training": lambda trains, most_experts: (trains > 0) & (most_experts > 0),
    "few-tokens": lambda trains, batch, pass_tokens, few_tokens: (
        (trains > 0) & (batch * pass_tokens < few_tokens)
    ),
    "first-token": lambda trains: trains == 0,
    "latent-prompt": lambda trains, engine_replays_steps, stack_latent_width: (
        (trains == 0) & (engine_replays_steps > 0) & np.any(stack_latent_width > 0, axis=0)
    ),
    "many-gpus": lambda gpus, many_gpus: gpus > many_gpus,
    "many-sequences": lambda trains, batch, many_sequences: (
        (trains == 0) & (batch > many_sequences)
    ),
    "offload": lambda offloads_optimizer, offloads_activations, offloads_weights: (
        offloads_optimizer + offloads_activations + offloads_weights > 0
    ),
    "one-source": lambda engine_sources, release_sources: (
        (engine_sources == 1) | (release_sources == 1)
    ),
    "other-kind": lambda trains, generates, is_decoder: (
        (is_decoder == 0) & ((trains > 0) | (generates > 0))
    ),
    "plain-serving": lambda trains, generates, engine_replays_steps: (
        (trains == 0) & (generates > 0) & (engine_replays_steps == 0)
    ),
    "served-adapters": lambda served_adapters: served_adapters > 0,
    "shared-experts": lambda trains, most_experts, expert_parallel, tensor_parallel: (
        (trains == 0) & (most_experts > 0) & (expert_parallel > tensor_parallel)
    ),
    "short-prompt": lambda trains, batch, pass_tokens, few_tokens: (
        (trains == 0) & (batch * pass_tokens < few_tokens)
    ),
    "speculation": lambda trains, speculates: (trains == 0) & (speculates > 0),
    "state-prompt": lambda trains, engine_replays_steps, stack_state_bytes: (
        (trains == 0) & (engine_replays_steps > 0) & np.any(stack_state_bytes > 0, axis=0)
    ),
    "state-training": lambda trains, stack_state_bytes: (
        (trains > 0) & np.any(stack_state_bytes > 0, axis=0)
    ),
}
PLACE_CORNERS: dict[str, Callable] = {
    "as-shipped": _as_shipped,
    "assumed-card": lambda card_is_assumed, card_step_is_assumed, engine_replays_steps: (
        (card_is_assumed > 0) | (engine_replays_steps > 0) & (card_step_is_assumed > 0)
    ),
    "full-cache": lambda trains, batch, slots, nearly_full_ratio: (
        (trains == 0) & (batch > nearly_full_ratio * slots)
    ),
    "long-cache": _long_cache,
    "older-release": lambda engine_replays_steps, runs_older_engine: (
        (engine_replays_steps > 0) & (runs_older_engine > 0)
    ),
    "one-source": lambda engine_replays_steps, card_sources: (
        (engine_replays_steps > 0) & (card_sources == 1)
    ),
    "unknown-kernel": lambda leaves_kernel_open: leaves_kernel_open > 0,
}
CORNERS = tuple(
    sorted({*LAYOUT_CORNERS, *PLACE_CORNERS})
)  # in the catalog's order; a row's corners are the sum of 2^place
OF_FIRST_TOKEN = (
    "first-token",
    "latent-prompt",
    "shared-experts",
    "short-prompt",
    "state-prompt",
)  # corners of a prompt's time alone
OF_EVERY_TIME = tuple(name for name in CORNERS if name not in OF_FIRST_TOKEN)
AXES = (
    "batch",
    "gpus",
    "parameters",
    "replica_gpus",
    "sequence_tokens",
)  # entries of time_boxes.yaml, in order
SLOW_END = {
    "low": "high",
    "fast": "slow",
}  # what makes the formula of a fast end that of a slow one


def _corners(conditions: Mapping[str, Callable], columns: Columns) -> Any:
    """The sum of 2^place over the corners whose conditions hold. Shape (rows,). [code]"""
    return sum(
        np.where(evaluate(condition, columns), 1 << CORNERS.index(name), 0)
        for name, condition in conditions.items()
    )


@reading(LAYOUT_CORNERS.values())
def layout_corners(**columns):
    """Corners in which a row lies, regardless of its card. [code]"""
    return _corners(LAYOUT_CORNERS, columns)


@reading(PLACE_CORNERS.values())
def place_corners(**columns):
    """Corners that a row lies in for its card, and for what its software replays there. [code]"""
    return _corners(PLACE_CORNERS, columns)


def axes_outside(batch, gpus, parameters, replica_gpus, sequence_tokens, box_low, box_high):
    """AXES on which a row lies outside of all published runs. [code]"""
    values = (batch, gpus, parameters, replica_gpus, sequence_tokens)
    bounds = enumerate(zip(values, box_low, box_high, strict=True))
    return sum(
        np.where((value < low) | (value > high), 1 << place, 0)
        for place, (value, low, high) in bounds
    )


def _squares(corners, ratios, counted=CORNERS):
    """Squared logarithms of the ratios of the corners that each row lies in, summed. [ln²]

    `corners`: a bit for each of CORNERS; `ratios`: in the order of CORNERS; `counted`: their names.
    """
    total = np.zeros(len(corners))
    for place, name in enumerate(CORNERS):
        lies_in_it = (corners >> place & 1) > 0
        if name in counted and lies_in_it.any():
            total = np.where(lies_in_it, total + np.log(ratios[place]) ** 2, total)
    return total


def layout_low_squares(engine_time_low_ratio, layout_corners, corner_low_ratio, axes_outside):
    """Sum of the squared logarithms of the causes that speed a layout up. [ln²]

    Outside of all published runs the software's own logarithm counts twice.
    """
    engine = np.log(engine_time_low_ratio) * np.where(axes_outside > 0, 2, 1)
    return engine**2 + _squares(layout_corners, corner_low_ratio, OF_EVERY_TIME)


def layout_first_low_squares(layout_low_squares, layout_corners, corner_low_ratio):
    """Squared logarithms of the layout's fast end of the time to first token, summed. [ln²]"""
    return layout_low_squares + _squares(layout_corners, corner_low_ratio, OF_FIRST_TOKEN)


def place_low_squares(place_corners, corner_low_ratio):
    """Squared logarithms that the card adds to the fast end of a time, summed. [ln²]"""
    return _squares(place_corners, corner_low_ratio)


layout_high_squares = variant(
    layout_low_squares,
    rename=SLOW_END,
    doc="""Sum of the squared logarithms of the causes that slow a layout down. [ln²]

    Outside of all published runs the software's own logarithm counts twice.
    """,
)
layout_first_high_squares = variant(
    layout_first_low_squares,
    rename=SLOW_END,
    doc="Squared logarithms of the layout's slow end of the time to first token, summed. [ln²]",
)
place_high_squares = variant(
    place_low_squares,
    rename=SLOW_END,
    doc="Squared logarithms that the card adds to the slow end of a time, summed. [ln²]",
)


def time_low_ratio(layout_low_squares, place_low_squares, time_run_width_ratio):
    """Fast end of a time over its central value. [ratio]

    Independent causes add in quadrature, as standard deviations do: ln(low)² = own² + Σ corner²,
    each a logarithm. Source: JCGM 100:2008, Guide to the expression of uncertainty in measurement,
    5.1.2.
    """
    return np.exp(-np.sqrt(layout_low_squares + place_low_squares) * time_run_width_ratio)


def first_token_low_ratio(layout_first_low_squares, place_low_squares, first_token_run_width_ratio):
    """Fast end of a time to first token over its central value. [ratio]"""
    return np.exp(
        -np.sqrt(layout_first_low_squares + place_low_squares) * first_token_run_width_ratio
    )


def time_high_ratio(layout_high_squares, place_high_squares, time_run_width_ratio):
    """Slow end of a time over its central value. [ratio]"""
    return np.exp(np.sqrt(layout_high_squares + place_high_squares) * time_run_width_ratio)


def first_token_high_ratio(
    layout_first_high_squares, place_high_squares, first_token_run_width_ratio
):
    """Slow end of a time to first token over its central value. [ratio]"""
    return np.exp(
        np.sqrt(layout_first_high_squares + place_high_squares) * first_token_run_width_ratio
    )
