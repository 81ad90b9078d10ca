"""How far a time may lie off: the software's own range, twice as wide outside of all published runs, wider in corners that few show.

What a row's layout decides and what its card decides stand apart, so that combinations of both multiply two short columns.
"""

import numpy as np

CORNERS = (  # the entries of catalogs/time_spreads.yaml, in their order; a row's corners are the sum of 2^place
    "assumed-card",
    "assumed-kernel",
    "assumed-software",
    "cast-to-8-bits",
    "context-parallel",
    "experts-8-bit",
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
AXES = ("batch", "gpus", "parameters", "replica_gpus", "sequence_tokens")  # the entries of catalogs/time_boxes.yaml, in their order
FEW_TOKENS = 1024  # of a micro-batch, or of a prompt
CAPTURED_TOKENS = 8192  # up to which an engine of 2024 captured its CUDA graphs (vLLM 0.6, max_seq_len_to_capture)
MANY_GPUS, MANY_SEQUENCES = 512, 256


def _summed(inside, places):
    """The sum of 2^place over what each row lies in. Shape (rows,). [code]"""
    return sum(np.where(within, 1 << places.index(name), 0) for name, within in inside.items())


def layout_corners(
    trains,
    batch,
    pass_tokens,
    gpus,
    tensor_parallel,
    expert_parallel,
    context_parallel,
    most_experts,
    matrix_bytes_each,
    names_release,
    cast_bytes,
    is_decoder,
    offloads_optimizer,
    offloads_activations,
    offloads_weights,
    kernel_is_assumed,
    engine_is_assumed,
    engine_sources,
    release_sources,
):
    """In which corners of CORNERS a row lies, whatever its card. [code]"""
    serves, experts, few = trains == 0, most_experts > 0, batch * pass_tokens < FEW_TOKENS
    inside = {
        "assumed-kernel": kernel_is_assumed > 0,
        "assumed-software": engine_is_assumed > 0,
        "cast-to-8-bits": cast_bytes > 0,
        "context-parallel": context_parallel > 1,
        "experts-8-bit": serves & experts & (matrix_bytes_each == 1) & (names_release == 0),
        "experts-serving": serves & experts,
        "experts-training": ~serves & experts,
        "few-tokens": ~serves & few,
        "first-token": serves,
        "many-gpus": gpus > MANY_GPUS,
        "many-sequences": serves & (batch > MANY_SEQUENCES),
        "offload": offloads_optimizer + offloads_activations + offloads_weights > 0,
        "one-source": (engine_sources == 1) | (release_sources == 1),
        "other-kind": is_decoder == 0,
        "shared-experts": serves & experts & (expert_parallel > tensor_parallel),
        "short-prompt": serves & few,
    }
    return _summed(inside, CORNERS)


def place_corners(sequence_tokens, engine_replays_steps, card_is_assumed, card_step_is_assumed, card_is_of_older_release, card_sources):
    """In which corners of CORNERS a row lies for its card, and what its software replays there. [code]"""
    replays = engine_replays_steps > 0
    older = replays & (card_is_of_older_release > 0)
    inside = {
        "assumed-card": (card_is_assumed > 0) | replays & (card_step_is_assumed > 0),
        "long-cache": older & (sequence_tokens > CAPTURED_TOKENS),
        "older-release": older,
        "one-source": replays & (card_sources == 1),
    }
    return _summed(inside, CORNERS)


def axes_outside(batch, gpus, parameters, replica_gpus, sequence_tokens, box_low, box_high):
    """On which AXES a row lies outside of all published runs (catalogs/time_boxes.yaml). [code]"""
    values = (batch, gpus, parameters, replica_gpus, sequence_tokens)
    of_axis = zip(AXES, values, box_low, box_high, strict=True)
    return _summed({name: (value < low) | (value > high) for name, value, low, high in of_axis}, AXES)


def _product(corners, ratios, of=CORNERS):
    """The ratios of those corners that each row lies in, multiplied. Shape (rows,). [ratio]"""
    found, anywhere = np.ones(len(corners)), np.bitwise_or.reduce(corners)
    for place, name in enumerate(CORNERS):
        if anywhere >> place & 1 and name in of:
            found = np.where(corners >> place & 1, found * ratios[place], found)
    return found


def _twice(ratio, axes_outside):
    """The software's own ratio, twice as far from 1 outside of all published runs: its square. [ratio]"""
    return np.where(axes_outside > 0, ratio**2, ratio)


def layout_low_ratio(engine_time_low_ratio, layout_corners, corner_low_ratio, axes_outside):
    """The fast end of a time, of the time, before its card is known. [ratio]"""
    return _twice(engine_time_low_ratio, axes_outside) * _product(layout_corners, corner_low_ratio, OF_EVERY_TIME)


def layout_high_ratio(engine_time_high_ratio, layout_corners, corner_high_ratio, axes_outside):
    """The slow end of a time, of the time, before its card is known. [ratio]"""
    return _twice(engine_time_high_ratio, axes_outside) * _product(layout_corners, corner_high_ratio, OF_EVERY_TIME)


def layout_first_low_ratio(layout_low_ratio, layout_corners, corner_low_ratio):
    """The fast end of a time to first token, of the time, before its card is known. [ratio]"""
    return layout_low_ratio * _product(layout_corners, corner_low_ratio, OF_FIRST_TOKEN)


def layout_first_high_ratio(layout_high_ratio, layout_corners, corner_high_ratio):
    """The slow end of a time to first token, of the time, before its card is known. [ratio]"""
    return layout_high_ratio * _product(layout_corners, corner_high_ratio, OF_FIRST_TOKEN)


def place_low_ratio(place_corners, corner_low_ratio):
    """What the card widens the fast end by. [ratio]"""
    return _product(place_corners, corner_low_ratio)


def place_high_ratio(place_corners, corner_high_ratio):
    """What the card widens the slow end by. [ratio]"""
    return _product(place_corners, corner_high_ratio)


def time_low_ratio(layout_low_ratio, place_low_ratio):
    """The fast end of a time, of the time: the software's, times that of every corner that the row lies in. [ratio]"""
    return layout_low_ratio * place_low_ratio


def time_high_ratio(layout_high_ratio, place_high_ratio):
    """The slow end of a time, of the time: the software's, times that of every corner that the row lies in. [ratio]"""
    return layout_high_ratio * place_high_ratio


def first_token_low_ratio(layout_first_low_ratio, place_low_ratio):
    """The fast end of a time to first token, of the time. [ratio]"""
    return layout_first_low_ratio * place_low_ratio


def first_token_high_ratio(layout_first_high_ratio, place_high_ratio):
    """The slow end of a time to first token, of the time. [ratio]"""
    return layout_first_high_ratio * place_high_ratio


SPREAD = (
    layout_corners,
    place_corners,
    axes_outside,
    layout_low_ratio,
    layout_high_ratio,
    layout_first_low_ratio,
    layout_first_high_ratio,
    place_low_ratio,
    place_high_ratio,
    time_low_ratio,
    time_high_ratio,
    first_token_low_ratio,
    first_token_high_ratio,
)
