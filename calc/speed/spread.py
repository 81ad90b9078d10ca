"""How far a time may lie off: the software's own range, wider in corners that few published runs show."""

import numpy as np

CORNERS = (  # the entries of catalogs/time_spreads.yaml, in their order
    "assumed-card",
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
    "older-release",
    "short-prompt",
)
OF_FIRST_TOKEN = np.isin(CORNERS, ("first-token", "short-prompt"))[:, None]  # corners of a prompt's time alone
FEW_TOKENS = 1024  # of a micro-batch, or of a prompt
CAPTURED_TOKENS = 8192  # up to which an engine of 2024 captured its CUDA graphs (vLLM 0.6, max_seq_len_to_capture)
MANY_GPUS, MANY_SEQUENCES = 512, 256


def corners(
    trains,
    batch,
    pass_tokens,
    sequence_tokens,
    gpus,
    context_parallel,
    most_experts,
    matrix_bytes_each,
    cast_bytes,
    engine_replays_steps,
    card_is_assumed,
    card_step_is_assumed,
    card_is_of_older_release,
):
    """In which corners of CORNERS a row lies, 1 or 0. Shape (corners, rows). [0 or 1]"""
    serves, replays, experts = trains == 0, engine_replays_steps > 0, most_experts > 0
    few = batch * pass_tokens < FEW_TOKENS
    older = replays & (card_is_of_older_release > 0)
    inside = (
        (card_is_assumed > 0) | replays & (card_step_is_assumed > 0),
        cast_bytes > 0,
        context_parallel > 1,
        serves & experts & (matrix_bytes_each == 1),
        serves & experts,
        ~serves & experts,
        ~serves & few,
        serves,
        older & (sequence_tokens > CAPTURED_TOKENS),
        gpus > MANY_GPUS,
        serves & (batch > MANY_SEQUENCES),
        older,
        serves & few,
    )
    return np.stack(np.broadcast_arrays(*inside)).astype(float)


def time_low_ratio(engine_time_low_ratio, corners, corner_low_ratio):
    """The fast end of a time, of the time: the software's, times that of every corner that the row lies in. [ratio]"""
    return engine_time_low_ratio * np.prod(np.where(corners * ~OF_FIRST_TOKEN > 0, corner_low_ratio, 1), axis=0)


def time_high_ratio(engine_time_high_ratio, corners, corner_high_ratio):
    """The slow end of a time, of the time: the software's, times that of every corner that the row lies in. [ratio]"""
    return engine_time_high_ratio * np.prod(np.where(corners * ~OF_FIRST_TOKEN > 0, corner_high_ratio, 1), axis=0)


def first_token_low_ratio(time_low_ratio, corners, corner_low_ratio):
    """The fast end of a time to first token, of the time. [ratio]"""
    return time_low_ratio * np.prod(np.where(corners * OF_FIRST_TOKEN > 0, corner_low_ratio, 1), axis=0)


def first_token_high_ratio(time_high_ratio, corners, corner_high_ratio):
    """The slow end of a time to first token, of the time. [ratio]"""
    return time_high_ratio * np.prod(np.where(corners * OF_FIRST_TOKEN > 0, corner_high_ratio, 1), axis=0)


SPREAD = (corners, time_low_ratio, time_high_ratio, first_token_low_ratio, first_token_high_ratio)
