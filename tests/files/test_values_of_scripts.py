"""Values that a script of one's own takes by enumerations, properties and variables."""

import pytest
from examples import catalogs

from calc.files.configs.run import Run, read_runs
from calc.files.configs.run_summary import summary_of
from calc.scenarios.inputs import DEFAULTS

pytestmark = pytest.mark.usefixtures("read_once")


def _run(files: dict[str, str]) -> Run:
    return read_runs([(name, text.encode()) for name, text in files.items()], catalogs())[0]


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
    row = _run({"train.py": TYPED, "run.sh": command}).row
    assert (row["precision"], row["sharding"], row["problem"]) == (precision, sharding, "")


COMPOSED = {
    "conf/main.yaml": "defaults: [{opt: adam}, _self_]\nname: Qwen/Qwen3-4B\n"
    "loop: {per_device_batch: 4, seq: 3072, evaluation: {seq: 512}}\n",
    "conf/opt/adam.yaml": "_target_: torch.optim.AdamW\nlr: 1e-4\nfused: true\n",
    "conf/opt/small.yaml": "_target_: bitsandbytes.optim.AdamW8bit\nlr: 1e-4\n",
    "train.py": """
@hydra.main(config_path="conf", config_name="main", version_base=None)
def main(config):
    model = AutoModelForCausalLM.from_pretrained(config.name)
    opt = hydra.utils.instantiate(config.opt, model.parameters(), lr=2e-5)
    loss.backward()
""",
}


@pytest.mark.parametrize(
    ("command", "optimizer"),
    [("python train.py", "adamw"), ("python train.py opt=small", "adamw-8bit")],
)
def test_what_hydra_instantiates_and_the_settings_of_its_config_are_read(command, optimizer):
    row = _run(COMPOSED | {"run.sh": command}).row
    assert (row["optimizer"], row["sequence_tokens"]) == (optimizer, "3072")


COMPUTED = """
WORLD = int(os.environ.get("WORLD_SIZE", 1))

@dataclass
class Setup:
    model: str = "Qwen/Qwen2.5-1.5B"
    seq_len: int = 2048
    micro_batch_size: int = 4
    tokens_a_step: int = 2**18

    @property
    def rounds(self):
        step = self.seq_len * self.micro_batch_size * WORLD
        return self.tokens_a_step // step

def main(s: Setup):
    dist.init_process_group("nccl")
    model = AutoModelForCausalLM.from_pretrained(s.model)
    for step in range(100):
        for i in range(s.rounds):
            loss.backward()
        optimizer.step()

tyro.cli(main)
"""


@pytest.mark.parametrize(
    ("command", "steps"),
    [
        ("torchrun --nproc-per-node 8 train.py", "4"),
        ("torchrun --nproc-per-node 4 train.py --micro-batch-size 2", "16"),
    ],
)
def test_an_accumulation_that_a_property_computes_is_read(command, steps):
    row = _run({"train.py": COMPUTED, "run.sh": command}).row
    assert (row["accumulation_steps"], row["problem"]) == (steps, "")


@pytest.mark.parametrize("loop", ["range(s.rounds)", "range(rounds_of(s))"])
def test_an_accumulation_that_nothing_decides_is_asked_for(loop):
    row = _run({"train.py": COMPUTED.replace("range(s.rounds)", loop)}).row
    assert "gradient_accumulation_steps holds the variable" in row["problem"]
    assert not row["accumulation_steps"]


BY_VARIABLES = """
from os import getenv
env = os.environ.get
model = AutoModelForCausalLM.from_pretrained(env("BASE", "Qwen/Qwen3-0.6B"))
BATCH_SIZE = int(env("BATCH", "2"))
MAX_STEPS = int(float(env("ROUNDS", "1e2")))
SEQ_LEN = 1024
dist.init_process_group("nccl")
for step in range(MAX_STEPS):
    loss.backward()
"""
JOB = """
apiVersion: batch/v1
kind: Job
spec:
  template:
    spec:
      containers:
        - name: main
          command: [torchrun, "--nproc-per-node=4", tune.py]
          envFrom: [{configMapRef: {name: settings}}]
          env: [{name: BATCH, value: "3"}]
          resources: {limits: {nvidia.com/gpu: 4}}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: settings}
data: {BASE: Qwen/Qwen3-1.7B, ROUNDS: "2e3"}
"""
COMPOSE = """
services:
  tune:
    image: own/trainer
    command: python tune.py
    environment: [BASE=Qwen/Qwen3-1.7B, BATCH=3, ROUNDS=2e3]
    deploy: {resources: {reservations: {devices: [{driver: nvidia, count: 4}]}}}
"""


@pytest.mark.parametrize("manifest", [JOB, COMPOSE])
def test_the_variables_of_a_manifest_reach_the_script_that_it_starts(manifest):
    row = _run({"tune.py": BY_VARIABLES, "run.yaml": manifest}).row
    assert (row["model"], row["batch"], row["gpus"]) == ("qwen3-1.7b", "3", "4")
    assert row["train_tokens"] == str(2000 * 3 * 4 * 1024)


SOME_BLOCKS = """
model = AutoModelForCausalLM.from_pretrained("Qwen/Qwen2.5-1.5B")
parser.add_argument("--remat_every", type=int, default=0)
args = parser.parse_args()
for i, block in enumerate(model.model.layers):
    if args.remat_every and i % args.remat_every == 0:
        model.model.layers[i] = checkpoint_wrapper(block)
loss.backward()
"""


@pytest.mark.parametrize(("flag", "recompute"), [("", "none"), (" --remat_every 3", "full")])
def test_recomputation_of_some_blocks_is_named(flag, recompute):
    run = _run({"train.py": SOME_BLOCKS, "run.sh": f"python train.py{flag}"})
    named = " ".join(summary_of(run.row, run.lines, DEFAULTS, {}).not_counted)
    assert run.row["recompute"] == recompute
    assert ("remat_every" in named) == bool(flag)


@pytest.mark.parametrize("assigned", ["step + step", "WORLD * other\n        other = step * step"])
def test_a_property_whose_names_lead_in_a_circle_is_asked_for(assigned):
    step = "step = self.seq_len * self.micro_batch_size * WORLD"
    circle = COMPUTED.replace(step, f"step = {assigned}")
    row = _run({"train.py": circle, "run.sh": "torchrun --nproc-per-node 8 train.py"}).row
    assert "gradient_accumulation_steps holds the variable" in row["problem"]
