"""Hybrid sharding: states divided inside a group of GPUs, gradients all-reduced between the
groups.
"""

import pytest
from examples import catalogs, one, problem_of, timed

from calc.columns import COMPONENTS
from calc.engine.one_scenario import one_scenario

LLAMA = {"model": "llama-3.1-8b", "recompute": "full"}
SHARED = [*COMPONENTS, "allocated_peak_bytes", "memory_bytes"]


@pytest.mark.parametrize(
    ("implementation", "gpus"), [("transformers", 32), ("torchtitan", 32), ("transformers", 8)]
)
def test_a_group_holds_what_fsdp_holds_on_as_many_gpus(implementation, gpus):
    scenario = {**LLAMA, "implementation": implementation}
    hybrid, sharded = (
        one(**scenario, gpus=gpus, sharding="hsdp-8"),
        one(**scenario, gpus=8, sharding="zero3"),
    )
    assert [hybrid[name] for name in SHARED] == [sharded[name] for name in SHARED]


def test_a_narrow_reduction_keeps_its_buffers_beside_the_gradients():
    """PyTorch 2.13, FSDP2, storage by storage: 30 of 32 blocks' shards in 16 bits when the peak is
    reached.
    """
    scenario = {**LLAMA, "reduce_precision": "bf16"}
    hybrid, sharded = (
        one(**scenario, gpus=32, sharding="hsdp-8"),
        one(**scenario, gpus=8, sharding="zero3"),
    )
    assert (
        hybrid["allocated_peak_bytes"] - sharded["allocated_peak_bytes"] == 30 * 2 * 218_112_000 / 8
    )
    assert (
        one_scenario({**scenario, "gpus": 8, "sharding": "hsdp-8"}, catalogs())[
            "replicated_bytes_each"
        ][0]
        == 0
    )


def test_groups_divide_the_gpus():
    odd, even = {"gpus": 12}, {"gpus": 24, "context_parallel": 3, "sequence_tokens": 6144}
    assert "groups of 8 GPUs, and data x context parallel is 12" in problem_of(
        **LLAMA, **odd, sharding="hsdp-8"
    )
    assert problem_of(**LLAMA, **even, sharding="hsdp-8") == ""


def test_between_groups_goes_one_shard_instead_of_all_weights():
    """2 (r - 1) / r of an eighth of the fp32 gradients leaves each GPU of r = 4 instances; weights
    stay inside an instance.
    """
    scenario = {**LLAMA, "precision": "bf16-mixed", "instance": "p4d.24xlarge", "gpus": 32}
    table = timed(
        catalogs(),
        {**scenario, "sharding": "hsdp-8"},
        {**scenario, "sharding": "zero3", "gpus": 8},
        {**scenario, "sharding": "zero3"},
    )
    hybrid, inside, sharded = table["gather_seconds"]
    assert hybrid == inside < sharded / 6
    between = table["reduce_seconds"][0] - table["reduce_seconds"][1]
    assert between == pytest.approx(
        2 * 3 / 4 * 4 * 8_030_261_248 / 8 / table["network_share_bytes_per_second"][0]
    )
    assert table["step_seconds"][0] < table["step_seconds"][2]
    assert table["optimizer_seconds"][0] == table["optimizer_seconds"][1]
