"""The range of a time: the software's, wider outside of published runs and in rare corners.

What a row's layout decides and what its card decides stay apart, so that combinations of both multiply two short columns.
A corner is an entry of catalogs/calibrated/time_spreads.yaml, and the condition under which a row lies in it.
"""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from calc.evaluate import Columns, evaluate, reading, twin

LAYOUT_CORNERS: dict[str, Callable] = {
    "assumed-kernel": lambda kernel_is_assumed: kernel_is_assumed > 0,
    "assumed-software": lambda engine_is_assumed: engine_is_assumed > 0,
    "cast-to-8-bits": lambda cast_bytes: cast_bytes > 0,
    "context-parallel": lambda context_parallel: context_parallel > 1,
    "encoding": lambda trains, generates: (trains == 0) & (generates == 0),
    "experts-8-bit": lambda trains, most_experts, matrix_bytes_each, names_release: (
        (trains == 0) & (most_experts > 0) & (matrix_bytes_each == 1) & (names_release == 0)
    ),
    "experts-adapters": lambda trains, most_experts, adapts: (trains > 0) & (most_experts > 0) & (adapts > 0),
    "experts-earlier": lambda trains, adapts, most_experts, release_expert_matmul_ratio: (
        (trains > 0) & (adapts == 0) & (most_experts > 0) & ~np.isnan(release_expert_matmul_ratio)
    ),
    "experts-serving": lambda trains, most_experts: (trains == 0) & (most_experts > 0),
    "experts-training": lambda trains, most_experts: (trains > 0) & (most_experts > 0),
    "few-tokens": lambda trains, batch, pass_tokens, few_tokens: (trains > 0) & (batch * pass_tokens < few_tokens),
    "first-token": lambda trains: trains == 0,
    "many-gpus": lambda gpus, many_gpus: gpus > many_gpus,
    "many-sequences": lambda trains, batch, many_sequences: (trains == 0) & (batch > many_sequences),
    "offload": lambda offloads_optimizer, offloads_activations, offloads_weights: (
        offloads_optimizer + offloads_activations + offloads_weights > 0
    ),
    "one-source": lambda engine_sources, release_sources: (engine_sources == 1) | (release_sources == 1),
    "other-kind": lambda trains, generates, is_decoder: (is_decoder == 0) & ((trains > 0) | (generates > 0)),
    "served-adapters": lambda served_adapters: served_adapters > 0,
    "shared-experts": lambda trains, most_experts, expert_parallel, tensor_parallel: (
        (trains == 0) & (most_experts > 0) & (expert_parallel > tensor_parallel)
    ),
    "short-prompt": lambda trains, batch, pass_tokens, few_tokens: (trains == 0) & (batch * pass_tokens < few_tokens),
    "speculation": lambda trains, speculates: (trains == 0) & (speculates > 0),
}
PLACE_CORNERS: dict[str, Callable] = {
    "assumed-card": lambda card_is_assumed, card_step_is_assumed, engine_replays_steps: (
        (card_is_assumed > 0) | (engine_replays_steps > 0) & (card_step_is_assumed > 0)
    ),
    "long-cache": lambda engine_replays_steps, card_is_of_older_release, sequence_tokens, earlier_captured_tokens: (
        (engine_replays_steps > 0) & (card_is_of_older_release > 0) & (sequence_tokens > earlier_captured_tokens)
    ),
    "older-release": lambda engine_replays_steps, card_is_of_older_release: (engine_replays_steps > 0) & (card_is_of_older_release > 0),
    "one-source": lambda engine_replays_steps, card_sources: (engine_replays_steps > 0) & (card_sources == 1),
}
CORNERS = tuple(sorted({*LAYOUT_CORNERS, *PLACE_CORNERS}))  # in the catalog's order; a row's corners are the sum of 2^place
OF_FIRST_TOKEN = ("first-token", "shared-experts", "short-prompt")  # corners of a prompt's time alone
OF_EVERY_TIME = tuple(name for name in CORNERS if name not in OF_FIRST_TOKEN)
AXES = ("batch", "gpus", "parameters", "replica_gpus", "sequence_tokens")  # entries of time_boxes.yaml, in order
SLOW_END = {"low": "high", "fast": "slow"}  # what makes the formula of a fast end that of a slow one


def _corners(conditions: Mapping[str, Callable], columns: Columns) -> Any:
    """The sum of 2^place over the corners whose conditions hold. Shape (rows,). [code]"""
    return sum(np.where(evaluate(condition, columns), 1 << CORNERS.index(name), 0) for name, condition in conditions.items())


@reading(LAYOUT_CORNERS.values())
def layout_corners(**columns):
    """Corners that a row lies in whatever its card. [code]"""
    return _corners(LAYOUT_CORNERS, columns)


@reading(PLACE_CORNERS.values())
def place_corners(**columns):
    """Corners that a row lies in for its card, and for what its software replays there. [code]"""
    return _corners(PLACE_CORNERS, columns)


def axes_outside(batch, gpus, parameters, replica_gpus, sequence_tokens, box_low, box_high):
    """AXES on which a row lies outside of all published runs. [code]"""
    values = (batch, gpus, parameters, replica_gpus, sequence_tokens)
    bounds = enumerate(zip(values, box_low, box_high, strict=True))
    return sum(np.where((value < low) | (value > high), 1 << place, 0) for place, (value, low, high) in bounds)


def _product(corners, ratios, counted=CORNERS):
    """Product of the ratios of those corners that each row lies in. Shape (rows,). [ratio]"""
    product, anywhere = np.ones(len(corners)), np.bitwise_or.reduce(corners)
    for place, name in enumerate(CORNERS):
        if anywhere >> place & 1 and name in counted:
            product = np.where(corners >> place & 1, product * ratios[place], product)
    return product


def layout_low_ratio(engine_time_low_ratio, layout_corners, corner_low_ratio, axes_outside):
    """The fast end of a time by its layout alone, of the central value. [ratio]

    Twice as far from 1 is the square of the ratio.
    """
    engine = np.where(axes_outside > 0, engine_time_low_ratio**2, engine_time_low_ratio)
    return engine * _product(layout_corners, corner_low_ratio, OF_EVERY_TIME)


def layout_first_low_ratio(layout_low_ratio, layout_corners, corner_low_ratio):
    """The fast end of a time to first token before its card is known. [ratio]"""
    return layout_low_ratio * _product(layout_corners, corner_low_ratio, OF_FIRST_TOKEN)


def place_low_ratio(place_corners, corner_low_ratio):
    """How much the card widens the fast end. [ratio]"""
    return _product(place_corners, corner_low_ratio)


def time_low_ratio(layout_low_ratio, place_low_ratio, time_run_width_ratio):
    """The fast end of a time, of its central value. [ratio]"""
    return (layout_low_ratio * place_low_ratio) ** time_run_width_ratio


def first_token_low_ratio(layout_first_low_ratio, place_low_ratio, first_token_run_width_ratio):
    """The fast end of a time to first token, of its central value. [ratio]"""
    return (layout_first_low_ratio * place_low_ratio) ** first_token_run_width_ratio


layout_high_ratio = twin(layout_low_ratio, SLOW_END)
layout_first_high_ratio = twin(layout_first_low_ratio, SLOW_END)
place_high_ratio = twin(place_low_ratio, SLOW_END)
time_high_ratio = twin(time_low_ratio, SLOW_END)
first_token_high_ratio = twin(first_token_low_ratio, SLOW_END)
