"""Values that a script of one's own takes by an enumeration, a property, a variable or a target."""

import pytest
from examples import catalogs

from calc.files.configs.run import Run, read_runs

pytestmark = pytest.mark.usefixtures("read_once")


def _run(**files: str) -> Run:
    named = [(name.replace("_dot_", "."), text.encode()) for name, text in files.items()]
    return read_runs(named, catalogs())[0]


TYPED = """
from enum import Enum
import torch, typer
from torch.distributed.fsdp import FullyShardedDataParallel as FSDP, ShardingStrategy

class Format(str, Enum):
    half = "float16"
    brain = "bfloat16"

def train(dtype: Format = Format.half, shard: str = "FULL_SHARD"):
    model = AutoModelForCausalLM.from_pretrained(
        "Qwen/Qwen2.5-7B", torch_dtype=getattr(torch, dtype.value)
    )
    model = FSDP(model, sharding_strategy=ShardingStrategy[shard])
    loss.backward()

typer.run(train)
"""


@pytest.mark.parametrize(
    ("command", "precision", "sharding"),
    [
        ("torchrun --nproc-per-node 8 train.py", "fp16", "zero3"),
        (
            "torchrun --nproc-per-node 8 train.py --dtype bfloat16 --shard SHARD_GRAD_OP",
            "bf16",
            "zero2",
        ),
    ],
)
def test_a_member_of_an_enumeration_has_its_value(command, precision, sharding):
    row = _run(train_dot_py=TYPED, run_dot_sh=command).row
    assert (row["precision"], row["sharding"], row["problem"]) == (precision, sharding, "")
