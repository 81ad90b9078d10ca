"""Configs of Lightning's command line: classes by class_path and init_args."""

import pytest
from examples import catalogs

from calc.files.configs.run import read_run

pytestmark = pytest.mark.usefixtures("read_once")

CONFIG = """
trainer:
  devices: 8
  num_nodes: 2
  precision: bf16-true
  accumulate_grad_batches: 4
  max_steps: 30000
  strategy: %s
model:
  class_path: own.Model
  init_args: {pretrained: mistralai/Mistral-7B-v0.3, optimizer: lion, lr: 1.0e-5}
data:
  class_path: own.Data
  init_args: {seq_len: 8192, batch_size: 1}
"""


@pytest.mark.parametrize(
    ("strategy", "sharding"),
    [
        (
            "{class_path: lightning.pytorch.strategies.FSDPStrategy,"
            " init_args: {sharding_strategy: HYBRID_SHARD, state_dict_type: sharded}}",
            "hsdp-8",
        ),
        ("{class_path: FSDPStrategy, init_args: {sharding_strategy: SHARD_GRAD_OP}}", "zero2"),
        ("{class_path: DeepSpeedStrategy, init_args: {stage: 3}}", "zero3"),
    ],
)
def test_a_strategy_by_its_class_shards_as_its_call_would(strategy, sharding):
    row = read_run([("config.yaml", (CONFIG % strategy).encode())], catalogs()).row
    assert (row["sharding"], row["precision"], row["optimizer"]) == (sharding, "bf16", "lion")
    assert row["unused"] == ""


def test_blocks_that_a_strategy_names_are_computed_again():
    strategy = (
        "{class_path: FSDPStrategy, init_args: {activation_checkpointing_policy: [own.Block]}}"
    )
    row = read_run([("config.yaml", (CONFIG % strategy).encode())], catalogs()).row
    assert (row["sharding"], row["recompute"]) == ("zero3", "full")
