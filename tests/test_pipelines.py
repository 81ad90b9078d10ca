"""Pipelines whose chunks take turns, and experts that are a group of their own: what stands on one GPU, from the schedules' source."""

import pytest
from examples import catalogs

from calc.engine.one_scenario import one_scenario
from calc.memory.backward.schedule import microbatches_in_flight, round_microbatches, waiting_microbatches

TITAN = {"work": "training", "implementation": "torchtitan", "precision": "bf16-mixed", "sharding": "zero3", "reduce_precision": "fp32"}
STAGED = TITAN | {"model": "llama-3.1-8b", "gpus": 16, "pipeline_parallel": 4, "pipeline_chunks": 2, "recompute": "full"}


@pytest.mark.parametrize(("microbatches", "stages", "taken"), [(4, 4, 4), (6, 4, 6), (8, 4, 4), (10, 4, 5), (3, 4, 3)])
def test_chunks_take_turns_after_a_round(microbatches, stages, taken):
    """number_of_rounds = max(1, n_microbatches // pp_group_size); microbatches_per_round = n_microbatches // number_of_rounds."""
    assert round_microbatches(microbatches, stages) == taken


def test_a_step_of_one_round_is_all_forward_first_on_the_first_stage():
    """Two chunks, four stages: 4 + 2 x 3 forward passes of a chunk before the first backward one, of 8 in all."""
    waits = microbatches_in_flight(4, 0, 2, 4, 4)
    assert waits == 4
    assert list(waiting_microbatches(waits, 2, 4, 4)) == [4, 3.5, 1.5]
    assert microbatches_in_flight(4, 1, 2, 4, 4) == 2.5


def test_a_chunk_that_is_done_is_divided_before_the_next_has_gradients():
    """torch/distributed/pipelining/schedules.py: perform_reduce_grad follows a stage's last backward pass."""
    one_round = one_scenario(STAGED | {"accumulation_steps": 4}, catalogs())
    several = one_scenario(STAGED | {"accumulation_steps": 16}, catalogs())
    assert one_round["earlier_gradients_bytes"][0] < 0.75 * several["earlier_gradients_bytes"][0]
    assert several["earlier_gradients_bytes"][0] == 4 * several["trained_parameters_here"][0]


def test_experts_are_gathered_apart_and_scores_of_narrow_ones_ask_most():
    """torchtitan, apply_fsdp: fully_shard of the experts, then of the block."""
    base = TITAN | {"model": "mixtral-8x7b", "gpus": 16, "recompute": "full"}
    together, apart = (one_scenario(base | degrees, catalogs()) for degrees in ({}, {"expert_parallel": 4}))
    experts = 3 * 4096 * 14336 * 8
    assert together["stack_group_here"][0, 0] - apart["stack_group_here"][0, 0] == pytest.approx(experts)
    # The fp32 output that the scores multiply, its gradient and theirs, 20 bytes for each token and expert: simulated.
    table = one_scenario(TITAN | {"model": "qwen3-30b-a3b", "gpus": 8, "recompute": "none", "sequence_tokens": 4096}, catalogs())
    beyond = table["stack_backward_bytes_per_token"] - table["stack_saved_bytes_per_token"]
    assert beyond[0, 0] == pytest.approx((20 - 8) * 8 * 2048 + 2 * 2048, rel=0.01)
