"""What waits on one stage of a pipeline: micro-batches for their backward pass, and gradients of those that are done. Bytes.

Of chunks that take turns (Narayanan et al. 2021, arXiv 2104.04473, section 2.2.2) the last of the model has its gradients
first: where a step is one round, no two chunks have them while most micro-batches wait (simulated: validation/data/parallel/pipeline.csv).
"""

import numpy as np


def round_microbatches(accumulation_steps, pipeline_parallel):
    """Micro-batches after which the chunks of a stage take turns: as many as stages, more where those do not divide them. [micro-batches]

    torch/distributed/pipelining/schedules.py, ScheduleInterleaved1F1B; Megatron-Core, pipeline_parallel/schedules.py.
    """
    return accumulation_steps / np.maximum(accumulation_steps // pipeline_parallel, 1)


def microbatches_in_flight(pipeline_parallel, at_last_stage, stage_chunks, accumulation_steps, round_microbatches):
    """Micro-batches, each of the whole stage, that wait for their backward pass at this end of the pipeline. [micro-batches]

    1F1B: one for each stage on the first, one on the last (Narayanan et al. 2021, arXiv 2104.04473, section 2.2). Of v
    chunks that take turns v - 1 rounds and 1 wait, and two more for each stage behind (Megatron-Core,
    pipeline_parallel/schedules.py; torch/distributed/pipelining/schedules.py, Interleaved1F1B).
    """
    behind = (pipeline_parallel - 1) * (1 - at_last_stage)
    interleaved = ((stage_chunks - 1) * round_microbatches + 1 + 2 * behind) / stage_chunks
    return np.minimum(np.where(stage_chunks > 1, interleaved, 1 + behind), accumulation_steps)


def last_chunk_ratio(trained_blocks_here, trained_outside_here, trained_parameters_here, stage_chunks, at_last_stage):
    """Share of this stage's trained parameters in its last chunk: its blocks, and what is outside them at the last stage. [share]"""
    outside = trained_outside_here * np.where(stage_chunks > 1, at_last_stage, 1)
    return (trained_blocks_here / stage_chunks + outside) / np.maximum(trained_parameters_here, 1)


def first_chunk_ratio(trained_blocks_here, trained_outside_here, trained_parameters_here, stage_chunks, at_last_stage):
    """Share of this stage's trained parameters in its first chunk: its blocks, and what is outside them at the first stage. [share]"""
    outside = trained_outside_here * np.where(stage_chunks > 1, 1 - at_last_stage, 1)
    return (trained_blocks_here / stage_chunks + outside) / np.maximum(trained_parameters_here, 1)


def reduces_at_end(fsdp_active, pipeline_parallel):
    """1 where FSDP reduces nothing before all micro-batches of a pipeline are done. [0 or 1]"""
    return fsdp_active * (pipeline_parallel > 1)


def chunks_in_turn(stage_chunks, round_microbatches, accumulation_steps):
    """1 in a step of one round, where each chunk is done with its backward passes before the next begins. [0 or 1]"""
    return (stage_chunks > 1) * (round_microbatches >= accumulation_steps) * 1.0


def waiting_microbatches(microbatches_in_flight, stage_chunks, accumulation_steps, round_microbatches):
    """Micro-batches that wait at the first backward pass, the second, and the second of the first chunk. Shape (3, rows). [micro-batches]

    Each of the whole stage, so that a chunk of v is a v-th.
    """
    before = ((stage_chunks - 1) * round_microbatches + 1) / stage_chunks
    left = np.stack(np.broadcast_arrays(accumulation_steps, accumulation_steps - 1 / stage_chunks, accumulation_steps - before))
    return np.minimum(microbatches_in_flight, left)


def waiting_gradients_bytes(
    accumulated_gradients_bytes,
    last_chunk_ratio,
    first_chunk_ratio,
    chunks_in_turn,
    reduces_at_end,
    full_gradients_bytes,
    gradient_shards,
    implementation_accumulates,
):
    """Gradients that stand beside them: none, the last chunk's, all. Shape (3, rows). [B]

    Of chunks that are done FSDP has divided them (torch/distributed/pipelining/schedules.py, last_backward); Megatron's
    stand from the start.
    """
    whole = np.stack(np.broadcast_arrays(0.0, last_chunk_ratio, np.where(chunks_in_turn * reduces_at_end > 0, first_chunk_ratio, 1.0)))
    divided = chunks_in_turn * reduces_at_end * full_gradients_bytes / gradient_shards * (1 - first_chunk_ratio)
    standing = accumulated_gradients_bytes * np.maximum(whole, implementation_accumulates)
    return standing + np.stack(np.broadcast_arrays(0.0, 0.0, divided))


def waiting_parameters_here(blocks_parameters_here, chunks_in_turn, stage_chunks):
    """Parameters of the blocks that have their backward passes to come. Shape (3, rows). [parameters]"""
    to_come = np.where(chunks_in_turn > 0, 1 / stage_chunks, 1.0)
    return blocks_parameters_here * np.stack(np.broadcast_arrays(1.0, 1.0, to_come))


def turn_bytes(
    waiting_microbatches, waiting_gradients_bytes, waiting_parameters_here, stack_kept_each_bytes, reduces_at_end, gathered_bytes_each
):
    """Activations, gradients and FSDP's whole weights of the three turns. Shape (3, rows). [B]"""
    whole = reduces_at_end * gathered_bytes_each * waiting_parameters_here
    return waiting_microbatches * np.sum(stack_kept_each_bytes, axis=0) + waiting_gradients_bytes + whole


def fullest_turn(turn_bytes):
    """Which of the three holds the most. Shape (1, rows). [0 to 2]"""
    return np.argmax(turn_bytes, axis=0, keepdims=True)


def fullest_turn_at_head(turn_bytes, chunks_in_turn):
    """The same at the head, where in a step of one round it is not yet the first chunk's turn. Shape (1, rows). [0 to 2]"""
    first_chunk = np.arange(3)[:, None] == 2
    return np.argmax(np.where(first_chunk & (chunks_in_turn > 0), 0, turn_bytes), axis=0, keepdims=True)


def microbatches_waiting(waiting_microbatches, fullest_turn):
    """Micro-batches whose activations stand when the most stands. [micro-batches]"""
    return _at(fullest_turn, waiting_microbatches)


def microbatches_waiting_at_head(waiting_microbatches, fullest_turn_at_head):
    """Micro-batches whose activations stand when the most stands at the head. [micro-batches]"""
    return _at(fullest_turn_at_head, waiting_microbatches)


def held_gradients_bytes(waiting_gradients_bytes, fullest_turn):
    """Gradients of earlier micro-batches, alive in the backward pass. [B]"""
    return _at(fullest_turn, waiting_gradients_bytes)


def head_held_gradients_bytes(waiting_gradients_bytes, fullest_turn_at_head):
    """Gradients of earlier micro-batches, alive at the head. [B]"""
    return _at(fullest_turn_at_head, waiting_gradients_bytes)


def past_head(chunks_in_turn, fullest_turn):
    """1 where the most stands in a chunk whose turn comes when the head's is over, and with it the logits. [0 or 1]"""
    return chunks_in_turn * (fullest_turn[0] == 2)


def whole_parameters_here(waiting_parameters_here, fullest_turn):
    """Parameters of the blocks that FSDP keeps whole in a pipeline when the most stands. [parameters]"""
    return _at(fullest_turn, waiting_parameters_here)


def _at(turn, values):
    """The values of one turn in each row."""
    rows = np.broadcast_shapes(values.shape[1:], turn.shape[1:])
    return np.take_along_axis(np.broadcast_to(values, (3, *rows)), np.broadcast_to(turn, (1, *rows)), axis=0)[0]


SCHEDULE = (
    round_microbatches,
    microbatches_in_flight,
    last_chunk_ratio,
    first_chunk_ratio,
    reduces_at_end,
    chunks_in_turn,
    waiting_microbatches,
    waiting_gradients_bytes,
    waiting_parameters_here,
    turn_bytes,
    fullest_turn,
    fullest_turn_at_head,
    microbatches_waiting,
    microbatches_waiting_at_head,
    held_gradients_bytes,
    head_held_gradients_bytes,
    past_head,
    whole_parameters_here,
)
