"""Micro-batches and finished gradients that wait on a pipeline's stage.

If chunks take turns, the last chunk of the model has its gradients first. In a step of one round,
at most one chunk has them while most micro-batches wait. Three turns are compared, on the first
axis of shape (3, rows): the first backward pass, the second, and the second of the first chunk.
Without a pipeline, one micro-batch waits. Source: Narayanan et al. 2021, arXiv 2104.04473, section
2.2; torch/distributed/pipelining/schedules.py; Megatron-Core, pipeline_parallel/schedules.py;
simulated (validation/data/parallel/pipeline.csv).
"""

import numpy as np

from calc.evaluate import variant

# From the fullest turn to the turn that is fullest while the head is at work.
AT_HEAD = {
    "fullest_turn": "fullest_turn_at_head",
    "microbatches_waiting": "microbatches_waiting_at_head",
    "earlier_gradients": "head_earlier_gradients",
}


def stack_kept_microbatch_bytes(
    stack_layers_here, stack_kept_bytes_per_token, stack_tokens, offloads_activations
):
    """Activations that a stack stores for one micro-batch; two blocks' if offloaded. [B]

    Source: Korthikanti et al. 2022, arXiv 2205.05198.
    """
    blocks = np.where(offloads_activations > 0, np.minimum(stack_layers_here, 2), stack_layers_here)
    return blocks * stack_kept_bytes_per_token * stack_tokens


def round_microbatches(accumulation_steps, pipeline_parallel):
    """Micro-batches after which a stage's chunks take turns. [micro-batches]"""
    return accumulation_steps / np.maximum(accumulation_steps // pipeline_parallel, 1)


def microbatches_in_flight(
    pipeline_parallel, stages_before, stage_chunks, accumulation_steps, round_microbatches
):
    """Micro-batches of the whole stage that wait at this place in the pipeline. [micro-batches]

    1F1B: as many as there are stages on the first stage, one on the last. If v chunks take turns,
    they are v - 1 rounds and one, and two more for each later stage.
    """
    behind = pipeline_parallel - 1 - stages_before
    interleaved = ((stage_chunks - 1) * round_microbatches + 1 + 2 * behind) / stage_chunks
    return np.minimum(np.where(stage_chunks > 1, interleaved, 1 + behind), accumulation_steps)


def last_chunk_ratio(
    trained_blocks_here, trained_outside_here, trained_parameters_here, stage_chunks, holds_head
):
    """Share of this stage's trained parameters in its last chunk, which has the head. [share]"""
    outside = trained_outside_here * np.where(stage_chunks > 1, holds_head, 1)
    return (trained_blocks_here / stage_chunks + outside) / np.maximum(trained_parameters_here, 1)


first_chunk_ratio = variant(
    last_chunk_ratio,
    rename={"last": "first", "head": "embedding"},
    doc="Share of this stage's trained parameters in its first chunk, with the embedding. [share]",
)


def reduces_at_end(fsdp_active, pipeline_parallel):
    """1 if FSDP reduces nothing before all micro-batches of a pipeline are done. [0 or 1]"""
    return fsdp_active * (pipeline_parallel > 1)


def chunks_in_turn(stage_chunks, round_microbatches, accumulation_steps):
    """1 in a step of one round, where a chunk is done before the next begins. [0 or 1]"""
    return (stage_chunks > 1) * (round_microbatches >= accumulation_steps) * 1.0


def waiting_microbatches(
    microbatches_in_flight, stage_chunks, accumulation_steps, round_microbatches
):
    """Micro-batches of the whole stage that wait at each turn. [micro-batches]"""
    before = ((stage_chunks - 1) * round_microbatches + 1) / stage_chunks
    microbatches_left = np.stack(
        np.broadcast_arrays(
            accumulation_steps, accumulation_steps - 1 / stage_chunks, accumulation_steps - before
        )
    )
    return np.minimum(microbatches_in_flight, microbatches_left)


def last_turn_gradients_bytes(
    accumulated_gradients_bytes,
    first_chunk_ratio,
    chunks_in_turn,
    reduces_at_end,
    full_gradients_bytes,
    gradient_shards,
):
    """Gradients at the third turn; those of chunks that are done FSDP has divided. [B]

    Source: torch/distributed/pipelining/schedules.py, last_backward.
    """
    shard_bytes = full_gradients_bytes / gradient_shards * (1 - first_chunk_ratio)
    in_turn = accumulated_gradients_bytes * first_chunk_ratio + shard_bytes
    return np.where(chunks_in_turn * reduces_at_end > 0, in_turn, accumulated_gradients_bytes)


def waiting_gradients_bytes(
    accumulated_gradients_bytes,
    last_chunk_ratio,
    gradients_stand,
    last_turn_gradients_bytes,
):
    """Gradients at each turn: of none, of the last chunk, of all; all that stand always. [B]"""
    first = accumulated_gradients_bytes * gradients_stand
    second = accumulated_gradients_bytes * np.maximum(last_chunk_ratio, gradients_stand)
    return np.stack(np.broadcast_arrays(first, second, last_turn_gradients_bytes))


def waiting_parameters_here(blocks_parameters_here, chunks_in_turn, stage_chunks):
    """Parameters of the blocks whose backward pass is still to come, at each turn. [parameters]"""
    to_come = np.where(chunks_in_turn > 0, 1 / stage_chunks, 1.0)
    return blocks_parameters_here * np.stack(np.broadcast_arrays(1.0, 1.0, to_come))


def turn_bytes(
    waiting_microbatches,
    waiting_gradients_bytes,
    waiting_parameters_here,
    stack_kept_microbatch_bytes,
    reduces_at_end,
    gathered_bytes_each,
):
    """Activations, gradients and FSDP's whole weights at each turn; 0 without a micro-batch. [B]"""
    gathered_bytes = reduces_at_end * gathered_bytes_each * waiting_parameters_here
    of_turn = (
        waiting_microbatches * np.sum(stack_kept_microbatch_bytes, axis=0)
        + waiting_gradients_bytes
        + gathered_bytes
    )
    return of_turn * (waiting_microbatches > 0)


def fullest_turn(turn_bytes):
    """The turn that holds the most. [0 to 2]"""
    return np.argmax(turn_bytes, axis=0, keepdims=True)


def fullest_turn_at_head(turn_bytes, chunks_in_turn):
    """The turn that holds the most while the head is at work. [0 to 2]"""
    first_chunk = np.arange(3)[:, None] == 2
    return np.argmax(
        np.where(first_chunk & (chunks_in_turn > 0), 0, turn_bytes), axis=0, keepdims=True
    )


def _of_turn(turn, values):
    """The values of one turn in each row."""
    rows = np.broadcast_shapes(values.shape[1:], turn.shape[1:])
    return np.take_along_axis(
        np.broadcast_to(values, (3, *rows)), np.broadcast_to(turn, (1, *rows)), axis=0
    )[0]


def microbatches_waiting(waiting_microbatches, fullest_turn):
    """Micro-batches whose activations are stored at the fullest turn. [micro-batches]"""
    return _of_turn(fullest_turn, waiting_microbatches)


def earlier_gradients_bytes(waiting_gradients_bytes, fullest_turn):
    """Gradients of earlier micro-batches that are stored at the fullest turn. [B]"""
    return _of_turn(fullest_turn, waiting_gradients_bytes)


microbatches_waiting_at_head = variant(
    microbatches_waiting,
    rename=AT_HEAD,
    doc="Micro-batches whose activations are stored at the head's fullest turn. [micro-batches]",
)
head_earlier_gradients_bytes = variant(
    earlier_gradients_bytes,
    rename=AT_HEAD,
    doc="Gradients of earlier micro-batches that are stored at the head's fullest turn. [B]",
)


def whole_parameters_here(waiting_parameters_here, fullest_turn):
    """Parameters that FSDP keeps whole in a pipeline at the fullest turn. [parameters]"""
    return _of_turn(fullest_turn, waiting_parameters_here)
