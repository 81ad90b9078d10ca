"""Files of people's own trainers: sections, loops, flags, branches and comments."""

import pytest
from examples import catalogs

from calc.files.configs.problem import ConfigProblem
from calc.files.configs.run import read_run, read_runs
from calc.files.configs.run_summary import summary_of
from calc.scenarios.inputs import DEFAULTS

pytestmark = pytest.mark.usefixtures("read_once")

SECTIONS = """
model: {name: Qwen/Qwen2.5-7B, torch_dtype: bfloat16}
quantization: {enabled: true, load_in_4bit: true, bnb_4bit_quant_type: nf4, double_quant: true}
lora: {r: 64, target_modules: all-linear, lora_bias: none}
training:
  per_device_train_batch_size: 2
  gradient_accumulation_steps: 8
  learning_rate: 2.0e-5
  warmup_ratio: 0.03
data: {max_seq_length: 2048}
evaluation: {batch_size: 64, max_length: 512}
"""
FSDP_LOOP = """
from torch.distributed.fsdp import FullyShardedDataParallel as FSDP, MixedPrecision
from torch.distributed.fsdp import ShardingStrategy

NAME = "facebook/opt-1.3b"

class Loop:
    def __init__(self, batch_size):
        dist.init_process_group("nccl")
        tokens = tokenizer(text, max_length=512)
        self.loader = DataLoader(data, batch_size=batch_size)
        model = AutoModelForCausalLM.from_pretrained(NAME)
        model.gradient_checkpointing_enable()
        self.model = FSDP(
            model,
            sharding_strategy=ShardingStrategy.SHARD_GRAD_OP,
            mixed_precision=MixedPrecision(param_dtype=torch.float16),
        )
        self.optimizer = torch.optim.AdamW(self.model.parameters(), fused=True)

    def train(self):
        loss.backward()

parser.add_argument("--batch_size", type=int, default=4)
parser.add_argument("--accum_steps", type=int, default=2)
args = parser.parse_args()
Loop(batch_size=args.batch_size).train()
"""
DEEPSPEED_LOOP = """
parser.add_argument("--deepspeed_config", default=None)
args = parser.parse_args()
model = AutoModelForCausalLM.from_pretrained("meta-llama/Llama-3.2-1B")
config = None
if not args.deepspeed_config:
    config = {"train_micro_batch_size_per_gpu": 2, "bf16": {"enabled": True},
              "zero_optimization": {"stage": 2, "offload_optimizer": {"device": "cpu"}}}
engine, *_ = deepspeed.initialize(model=model, config=config)
engine.backward(loss)
"""
FLAGS = '''"""Tune a model.

    torchrun --nproc_per_node=4 tune.py \\
        --model Qwen/Qwen2.5-1.5B --batch-size 2 --accum 16

Tested on 4x RTX A6000.
"""
parser.add_argument("--model", default="Qwen/Qwen2.5-0.5B")
parser.add_argument("--batch-size", type=int, default=8)
parser.add_argument("--accum", type=int, default=1)
args = parser.parse_args()
dist.init_process_group("nccl")
model = AutoModelForCausalLM.from_pretrained(args.model)
loader = DataLoader(data, batch_size=args.batch_size)
loss.backward()
'''
BRANCHES = """
if config["bits"] == "4bit":
    bnb = BitsAndBytesConfig(load_in_4bit=True)
elif config["bits"] == "8bit":
    bnb = BitsAndBytesConfig(load_in_8bit=True)
model = AutoModelForCausalLM.from_pretrained("Qwen/Qwen3-8B", quantization_config=bnb)
if args.use_lora:
    model = get_peft_model(model, LoraConfig(r=8))
parser.add_argument("--use_lora", action="store_true")
trainer = SFTTrainer(model=model, args=SFTConfig(per_device_train_batch_size=1))
"""


def row_of(text, name="train.py"):
    return read_run([(name, text.encode())], catalogs()).row


def summary(text, name="train.py"):
    run = read_run([(name, text.encode())], catalogs())
    return summary_of(run.row, run.lines, DEFAULTS, {})


def columns(row, expected):
    return {name: row[name] for name in expected}


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        (
            "a.yaml",
            SECTIONS,
            {
                "model": "qwen2.5-7b",
                "tuning": "lora",
                "lora_rank": "64",
                "batch": "2",
                "precision": "nf4-dq",
                "accumulation_steps": "8",
                "sequence_tokens": "2048",
            },
        ),
        (
            "train.py",
            FSDP_LOOP,
            {
                "model": "opt-1.3b",
                "sharding": "zero2",
                "precision": "fp16-mixed",
                "batch": "4",
                "accumulation_steps": "2",
                "sequence_tokens": "512",
                "recompute": "full",
                "optimizer_kernel": "fused",
            },
        ),
        (
            "train.py",
            DEEPSPEED_LOOP,
            {"sharding": "zero2", "offload": "optimizer", "precision": "bf16-master", "batch": "2"},
        ),
        (
            "tune.py",
            FLAGS,
            {
                "model": "qwen2.5-1.5b",
                "batch": "2",
                "accumulation_steps": "16",
                "gpus": "4",
                "gpu": "rtx-a6000",
                "precision": "fp32",
                "sharding": "none",
            },
        ),
    ],
)
def test_files_of_own_trainers_are_read(name, text, expected):
    assert columns(row_of(text, name), expected) == expected


def test_a_section_that_is_switched_off_says_nothing():
    off = SECTIONS.replace("enabled: true", "enabled: false").replace(
        "lora:", "use_peft: false\nlora:"
    )
    expected = {"precision": "bf16-autocast", "tuning": "full", "lora_rank": ""}
    row = row_of(
        off.replace("lora:", "peft:").replace("training:", "training:\n  bf16: true"), "a.yaml"
    )
    assert columns(row, expected) == expected


def test_a_loop_on_all_gpus_asks_how_many_there_are():
    assert "how many there are (gpus)" in row_of(FSDP_LOOP)["problem"]


def test_the_first_branch_counts_and_its_test_is_named():
    row, said = row_of(BRANCHES), summary(BRANCHES)
    assert (row["precision"], row["lora_rank"]) == ("nf4", "")
    assert any("config['bits'] == '4bit': not decided" in item for item in said.not_counted)
    assert any("args.use_lora is off by default" in item for item in said.not_counted)


def test_defaults_of_flags_are_said_where_no_command_is_given():
    bare = FLAGS.replace("torchrun", "run")
    assert row_of(bare, "tune.py")["model"] == "qwen2.5-0.5b"
    assert any("--model, --batch_size" in item for item in summary(bare, "tune.py").assumed)
    assert not any("own flags" in item for item in summary(FLAGS, "tune.py").assumed)


def test_a_launcher_beside_a_script_gives_its_flags():
    bare = FLAGS.replace("torchrun", "run")
    launch = (
        b"SIZE=3\ntorchrun --nproc_per_node=2 tune.py --model Qwen/Qwen2.5-3B --batch-size $SIZE"
    )
    row = read_run([("tune.py", bare.encode()), ("go.sh", launch)], catalogs()).row
    expected = {"model": "qwen2.5-3b", "batch": "3", "gpus": "2"}
    assert columns(row, expected) == expected


def test_the_machine_of_a_comment_is_assumed_with_a_word():
    said = summary(FLAGS, "tune.py")
    assert any(item.startswith("the machine by a comment: Tested on") for item in said.assumed)


def test_a_config_beside_a_script_answers_its_variables():
    script = (
        "bnb = BitsAndBytesConfig(load_in_4bit=True)\n"
        "model = AutoModelForCausalLM.from_pretrained(cfg.model.name)\n"
        "get_peft_model(model, LoraConfig(r=cfg.lora.r))\n"
        "SFTTrainer(model=model, args=SFTConfig(per_device_train_batch_size=cfg.training.batch))"
    )
    alone = row_of(script)
    assert "the values of these fields stand elsewhere: model_name_or_path" in alone["problem"]
    both = read_run([("train.py", script.encode()), ("a.yaml", SECTIONS.encode())], catalogs()).row
    assert (both["model"], both["lora_rank"], both["problem"]) == ("qwen2.5-7b", "64", "")


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("a.yaml", f"training_method: simpo\n{SECTIONS}", "cpo"),
        ("a.yaml", f"{SECTIONS}\ndpo: {{beta: 0.1}}", "dpo"),
        ("train.py", "ref_model = M.from_pretrained('a/b')  # DPO\n" + DEEPSPEED_LOOP, "dpo"),
    ],
)
def test_the_objective_of_an_own_trainer_is_found(name, text, said):
    assert row_of(text, name)["objective"] == said


def test_a_script_that_makes_data_is_no_run():
    text = b"#SBATCH --gpus=2\npython create_dataset.py --model meta-llama/Llama-3.1-8B --num 8000"
    with pytest.raises(ConfigProblem, match=r"create_dataset\.py, which by its name trains"):
        read_runs([("a.sh", text)], catalogs())


def test_missing_files_of_hydra_and_of_defaults_are_named():
    hydra = f"defaults:\n  - _self_\n  - model: qwen3\n{SECTIONS.replace('model: {name', 'm: {x')}"
    assert "add model/qwen3.yaml" in row_of(hydra, "a.yaml")["problem"]
    launch = b"torchrun --nproc_per_node=2 -m pipeline --config ${CONFIG:-configs/lora.yaml}"
    with pytest.raises(ConfigProblem, match=r"add configs/lora\.yaml"):
        read_runs([("a.sh", launch)], catalogs())


def test_sizes_of_an_own_model_are_asked_about():
    sizes = "N_LAYER, N_EMBD, N_HEAD = 24, 1280, 20\nLEARNING_RATE = 3e-4"
    own = FSDP_LOOP.replace('NAME = "facebook/opt-1.3b"', sizes)
    own = own.replace("AutoModelForCausalLM.from_pretrained(NAME)", "build()")
    assert "no model of the catalog has these sizes (heads 20" in row_of(own)["problem"]


TRAINER = """
model = AutoModelForCausalLM.from_pretrained("{model}")
args = TrainingArguments(per_device_train_batch_size=4, {cast}=True)
"""
FLAGS_OF_LORA = (
    "python tune.py --model_name_or_path Qwen/Qwen3-8B --lora_r 8 --per_device_train_batch_size 1 "
    "--bf16 true"
)
TITAN = (
    "[model]\nname='llama3'\nflavor='8B'\n[training]\nlocal_batch_size=1\nglobal_batch_size=64\n"
)
TITAN += "[parallelism]\ntensor_parallel_degree=2\n"


@pytest.mark.parametrize(
    ("name", "text", "column", "expected"),
    [
        ("a.py", TRAINER.format(model="bert-base-uncased", cast="bf16"), "precision", "bf16-mixed"),
        ("a.py", TRAINER.format(model="Qwen/Qwen3-8B", cast="fp16"), "precision", "fp16-mixed"),
        ("a.sh", FLAGS_OF_LORA, "precision", ""),
        (
            "a.sh",
            "python t.py --model_name_or_path allenai/OLMo-2-1124-7B-SFT --lora_r 8",
            "model",
            "olmo-2-7b",
        ),
    ],
)
def test_formats_of_weights_that_nothing_says(name, text, column, expected):
    assert row_of(text, name)[column] == expected


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("a.toml", TITAN, "need 2 GPUs, and it spreads its batch over all"),
        ("a.sh", "NNODES=2\n" + FLAGS_OF_LORA.replace("python", "torchrun --nnodes 2"), "2 nodes"),
    ],
)
def test_gpus_that_no_file_counts_are_asked_for(name, text, said):
    assert said in row_of(text, name)["problem"]


NANO = """
# $ torchrun --standalone --nproc_per_node=8 train.py config/train_gpt2.py
batch_size = 12
gradient_accumulation_steps = 5 * 8
max_iters = 600
lr_decay_iters = 600
weight_decay = 1e-1
"""
XTUNER = """
name = "Qwen/Qwen3-8B"
max_length, batch_size, accumulative_counts = 2048, 1, 16
lr, weight_decay = 2e-4, 0
model = dict(
    type=SupervisedFinetune,
    llm=dict(type=AutoModelForCausalLM.from_pretrained, pretrained_model_name_or_path=name,
             quantization_config=dict(type=BitsAndBytesConfig, load_in_4bit=True)),
    lora=dict(type=LoraConfig, r=64))
"""
CHAT = "model_name_or_path: Qwen/Qwen3-8B\ntemplate: qwen\ninfer_backend: vllm\nvllm_maxlen: 8192\n"


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        (
            "a.py",
            NANO,
            {"model": "gpt2", "accumulation_steps": "5", "gpus": "8", "train_tokens": "294912000"},
        ),
        (
            "a.py",
            XTUNER,
            {"tuning": "lora", "lora_rank": "64", "precision": "nf4", "recompute": "full"},
        ),
        (
            "a.yaml",
            CHAT,
            {"work": "inference", "sequence_tokens": "8192", "memory_utilization": "0.7"},
        ),
    ],
)
def test_configs_of_small_trainers_and_their_inference_are_read(name, text, expected):
    assert columns(row_of(text, name), expected) == expected


NEW_SECTIONS = """
model: {d_model: 5120, n_layers: 40, n_heads: 40, vocab_size: 99}
optimizer: {name: adamw, lr: 3.0e-4, weight_decay: 0.1}
parallelism: {dp: 2, tp: 4}
tags: [a100]
data: {max_length: 512}
"""
SHADOWED = """
batch_size = 64
def loader(batch_size):
    return DataLoader(data, batch_size=batch_size)
def loaders(batch_size):
    return loader(batch_size=batch_size), loader(batch_size=batch_size)
loaders(batch_size=8)
model = AutoModelForCausalLM.from_pretrained("gpt2")
loss.backward()
"""
OPTIONS = """
size=2
while [[ $# -gt 0 ]]; do
  case $1 in
    --size) size="$2"; shift 2 ;;
  esac
done
python train.py --model_name_or_path Qwen/Qwen3-8B --per_device_train_batch_size $size --use_qlora 1
"""


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        ("a.yaml", NEW_SECTIONS, {"model": "", "gpus": "8", "tensor_parallel": "4", "gpu": ""}),
        ("a.py", SHADOWED, {"batch": "8"}),
        ("a.sh", OPTIONS, {"batch": "2", "tuning": "lora", "precision": "nf4"}),
        (
            "a.sh",
            "python q.py --model_name_or_path Qwen/Qwen3-8B --source_max_len 16 "
            "--target_max_len 512 --lora_r 8",
            {"sequence_tokens": "528"},
        ),
    ],
)
def test_names_of_own_trainers_have_one_meaning(name, text, expected):
    assert columns(row_of(text, name), expected) == expected


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("a.sh", "python t.py --config runs/${x}.yaml", "runs/${x}.yaml, which is not here"),
        (
            "a.py",
            "@hydra.main(config_path='conf', config_name='sft')\ndef main(cfg): pass",
            "conf/sft.yaml, which is not here",
        ),
    ],
)
def test_a_script_whose_settings_stand_elsewhere_names_that_file(name, text, said):
    with pytest.raises(ConfigProblem) as problem:
        read_runs([(name, text.encode())], catalogs())
    assert said in str(problem.value)
