"""Hybrid sharding: states divided inside a group of GPUs, gradients all-reduced between the groups."""

import pytest
from examples import catalogs, one, problem_of, timed

from calc.columns import COMPONENTS
from calc.engine.one_scenario import one_scenario
from calc.files.configs.run import run_row

LLAMA = {"model": "llama-3.1-8b", "recompute": "full"}
SHARED = [*COMPONENTS, "allocated_peak_bytes", "memory_bytes"]


@pytest.mark.parametrize("implementation", ["transformers", "torchtitan"])
def test_a_group_holds_what_fsdp_holds_on_as_many_gpus(implementation):
    own = {**LLAMA, "implementation": implementation}
    hybrid, whole = one(**own, gpus=32, sharding="hsdp-8"), one(**own, gpus=8, sharding="zero3")
    assert [hybrid[name] for name in SHARED] == [whole[name] for name in SHARED]


def test_on_one_group_it_is_fsdp():
    hybrid, whole = (one(**LLAMA, gpus=8, sharding=sharding) for sharding in ("hsdp-8", "zero3"))
    assert [hybrid[name] for name in SHARED] == [whole[name] for name in SHARED]


def test_a_narrow_reduction_keeps_its_buffers_beside_the_gradients():
    """PyTorch 2.13, FSDP2, storage by storage: 30 of 32 blocks' shards in 16 bits when the peak is reached."""
    own = {**LLAMA, "reduce_precision": "bf16"}
    hybrid, whole = one(**own, gpus=32, sharding="hsdp-8"), one(**own, gpus=8, sharding="zero3")
    assert hybrid["allocated_peak_bytes"] - whole["allocated_peak_bytes"] == 30 * 2 * 218_112_000 / 8
    assert one_scenario({**own, "gpus": 8, "sharding": "hsdp-8"}, catalogs())["replicated_bytes_each"][0] == 0


def test_groups_divide_the_gpus():
    odd, even = {"gpus": 12}, {"gpus": 24, "context_parallel": 3, "sequence_tokens": 6144}
    assert "groups of 8 GPUs, and data x context parallel is 12" in problem_of(**LLAMA, **odd, sharding="hsdp-8")
    assert problem_of(**LLAMA, **even, sharding="hsdp-8") == ""


def test_between_groups_goes_one_shard_instead_of_all_weights():
    """2 (r - 1) / r of an eighth of the fp32 gradients leaves each GPU of r = 4 instances; weights stay inside an instance."""
    own = {**LLAMA, "precision": "bf16-mixed", "instance": "p4d.24xlarge", "gpus": 32}
    table = timed(catalogs(), {**own, "sharding": "hsdp-8"}, {**own, "sharding": "zero3", "gpus": 8}, {**own, "sharding": "zero3"})
    hybrid, inside, whole = table["gather_seconds"]
    assert hybrid == inside < whole / 6
    between = table["reduce_seconds"][0] - table["reduce_seconds"][1]
    assert between == pytest.approx(2 * 3 / 4 * 4 * 8_030_261_248 / 8 / table["network_share_bytes_per_second"][0])
    assert table["step_seconds"][0] < table["step_seconds"][2]
    assert table["optimizer_seconds"][0] == table["optimizer_seconds"][1]


AXOLOTL = "base_model: NousResearch/Llama-2-7b-hf\nsequence_len: 4096\nfsdp_version: 1\n"
TITAN = '[model]\nname = "llama3"\nflavor = "8B"\n[parallelism]\ndata_parallel_shard_degree = {}\ndata_parallel_replicate_degree = {}\n'


@pytest.mark.parametrize(
    ("files", "sharding", "gpus", "unused"),
    [
        ([("a.yaml", AXOLOTL + "fsdp_config:\n  fsdp_sharding_strategy: HYBRID_SHARD\n")], "hsdp-8", "", ""),
        ([("a.yaml", AXOLOTL + "fsdp: [hybrid_shard, auto_wrap]\n")], "hsdp-8", "", ""),
        ([("a.toml", TITAN.format(8, 4))], "hsdp-8", "32", ""),
        ([("a.toml", TITAN.format(8, 4) + "context_parallel_degree = 2\n")], "hsdp-16", "64", ""),
        ([("a.toml", TITAN.format(1, 4))], "none", "4", ""),
        ([("a.toml", TITAN.format(8, 1))], "zero3", "8", ""),
        ([("a.toml", TITAN.format(3, 2))], "zero3", "6", "parallelism.data_parallel_replicate_degree"),
    ],
)
def test_configs_with_replicas_are_hybrid(files, sharding, gpus, unused):
    found = run_row([(name, text.encode()) for name, text in files], catalogs())
    assert (found["sharding"], found["gpus"], found["unused"]) == (sharding, gpus, unused)
