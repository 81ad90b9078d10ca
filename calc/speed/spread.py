"""The range of a time: the software's, wider outside of published runs and in rare corners.

What a row's layout decides and what its card decides stay apart, so that combinations of both multiply two short columns.
"""

import numpy as np

from calc.evaluate import twin

CORNERS = (  # entries of catalogs/calibrated/time_spreads.yaml, in order; a row's corners are the sum of 2^place
    "assumed-card",
    "assumed-kernel",
    "assumed-software",
    "cast-to-8-bits",
    "context-parallel",
    "experts-8-bit",
    "experts-adapters",
    "experts-serving",
    "experts-training",
    "few-tokens",
    "first-token",
    "long-cache",
    "many-gpus",
    "many-sequences",
    "offload",
    "older-release",
    "one-source",
    "other-kind",
    "shared-experts",
    "short-prompt",
)
OF_FIRST_TOKEN = ("first-token", "shared-experts", "short-prompt")  # corners of a prompt's time alone
OF_EVERY_TIME = tuple(name for name in CORNERS if name not in OF_FIRST_TOKEN)
AXES = ("batch", "gpus", "parameters", "replica_gpus", "sequence_tokens")  # entries of time_boxes.yaml, in order
SLOW_END = {"low": "high", "fast": "slow"}  # what makes the formula of a fast end that of a slow one


def _summed(inside, places):
    """The sum of 2^place over what each row lies in. Shape (rows,). [code]"""
    return sum(np.where(within, 1 << places.index(name), 0) for name, within in inside.items())


def software_corners(kernel_is_assumed, engine_is_assumed, engine_sources, release_sources):
    """Corners that a row lies in for what is known of its software. [code]"""
    inside = {
        "assumed-kernel": kernel_is_assumed > 0,
        "assumed-software": engine_is_assumed > 0,
        "one-source": (engine_sources == 1) | (release_sources == 1),
    }
    return _summed(inside, CORNERS)


def expert_corners(trains, adapts, most_experts, matrix_bytes_each, names_release, expert_parallel, tensor_parallel):
    """Corners that a row lies in for its experts. [code]"""
    serves, experts = trains == 0, most_experts > 0
    inside = {
        "experts-8-bit": serves & experts & (matrix_bytes_each == 1) & (names_release == 0),
        "experts-adapters": ~serves & experts & (adapts > 0),
        "experts-serving": serves & experts,
        "experts-training": ~serves & experts,
        "shared-experts": serves & experts & (expert_parallel > tensor_parallel),
    }
    return _summed(inside, CORNERS)


def size_corners(trains, batch, pass_tokens, gpus, few_tokens, many_gpus, many_sequences):
    """Corners of size: few tokens in a pass, many GPUs, many sequences at once. [code]"""
    serves, few = trains == 0, batch * pass_tokens < few_tokens
    inside = {
        "few-tokens": ~serves & few,
        "first-token": serves,
        "many-gpus": gpus > many_gpus,
        "many-sequences": serves & (batch > many_sequences),
        "short-prompt": serves & few,
    }
    return _summed(inside, CORNERS)


def choice_corners(cast_bytes, context_parallel, is_decoder, offloads_optimizer, offloads_activations, offloads_weights):
    """Corners of choices and kinds of model that few runs have. [code]"""
    inside = {
        "cast-to-8-bits": cast_bytes > 0,
        "context-parallel": context_parallel > 1,
        "offload": offloads_optimizer + offloads_activations + offloads_weights > 0,
        "other-kind": is_decoder == 0,
    }
    return _summed(inside, CORNERS)


def layout_corners(software_corners, expert_corners, size_corners, choice_corners):
    """Corners that a row lies in whatever its card. [code]"""
    return software_corners + expert_corners + size_corners + choice_corners


def place_corners(
    sequence_tokens,
    engine_replays_steps,
    card_is_assumed,
    card_step_is_assumed,
    card_is_of_older_release,
    card_sources,
    earlier_captured_tokens,
):
    """Corners that a row lies in for its card, and for what its software replays there. [code]"""
    replays = engine_replays_steps > 0
    older = replays & (card_is_of_older_release > 0)
    inside = {
        "assumed-card": (card_is_assumed > 0) | replays & (card_step_is_assumed > 0),
        "long-cache": older & (sequence_tokens > earlier_captured_tokens),
        "older-release": older,
        "one-source": replays & (card_sources == 1),
    }
    return _summed(inside, CORNERS)


def axes_outside(batch, gpus, parameters, replica_gpus, sequence_tokens, box_low, box_high):
    """AXES on which a row lies outside of all published runs. [code]"""
    values = (batch, gpus, parameters, replica_gpus, sequence_tokens)
    bounds = zip(AXES, values, box_low, box_high, strict=True)
    return _summed({name: (value < low) | (value > high) for name, value, low, high in bounds}, AXES)


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


def time_low_ratio(layout_low_ratio, place_low_ratio):
    """The fast end of a time, of its central value. [ratio]"""
    return layout_low_ratio * place_low_ratio


def first_token_low_ratio(layout_first_low_ratio, place_low_ratio):
    """The fast end of a time to first token, of its central value. [ratio]"""
    return layout_first_low_ratio * place_low_ratio


layout_high_ratio = twin(layout_low_ratio, SLOW_END)
layout_first_high_ratio = twin(layout_first_low_ratio, SLOW_END)
place_high_ratio = twin(place_low_ratio, SLOW_END)
time_high_ratio = twin(time_low_ratio, SLOW_END)
first_token_high_ratio = twin(first_token_low_ratio, SLOW_END)
