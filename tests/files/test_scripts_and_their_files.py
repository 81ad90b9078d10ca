"""Scripts of several files: modules, configs that they load, the words of their command."""

import pytest
from examples import catalogs

from calc.commands.imports import named_files
from calc.files.configs.problem import ConfigProblem
from calc.files.configs.run import read_run, read_runs

MODEL = "AutoModelForCausalLM.from_pretrained({model}, torch_dtype=torch.bfloat16)\n"
TRAIN = (
    "TrainingArguments(per_device_train_batch_size={batch}, max_steps={steps}, bf16=True)\n"
    "tokenizer(text, max_length={length})\n"
)
YAML = "hf_id: Qwen/Qwen2.5-3B\ntrain: {batch: 8, steps: 600}\nlength: 2048\n"


def row(**files):
    """The columns that the files of a run settle; a name ends in its form: train_py."""
    named = [(name.replace("_", ".", 1), text.encode()) for name, text in files.items()]
    return read_run(named, catalogs()).row


def columns(run, *names):
    """The values of some columns of a row."""
    return tuple(run[name] for name in names)


def script(holder, model="hf_id"):
    """A script that trains with the settings of a holder."""
    keys = {"batch": "['train']['batch']", "steps": "['train']['steps']", "length": "['length']"}
    settings = {name: f"{holder}{key}" for name, key in keys.items()}
    return MODEL.format(model=f"{holder}['{model}']") + TRAIN.format(**settings)


LOADED = ("qwen2.5-3b", "8", "2048")


def test_a_config_that_a_script_loads_gives_its_values():
    load = "import yaml, sys\ncfg = yaml.safe_load(open(sys.argv[1]))\n"
    run = row(
        train_py=load + script("cfg"),
        a_yaml=YAML,
        old_yaml=YAML.replace("3B", "7B"),
        run_sh="python train.py a.yaml",
    )
    assert columns(run, "model", "batch", "sequence_tokens") == LOADED
    assert not run["problem"]


def test_a_function_that_loads_the_config_of_a_flag_is_read():
    load = (
        "def load(path):\n    with open(path) as file:\n        return yaml.safe_load(file)\n"
        "ap.add_argument('--config')\nargs = ap.parse_args()\ncfg = load(args.config)\n"
    )
    run = row(train_py=load + script("cfg"), a_yaml=YAML, run_sh="python train.py --config a.yaml")
    assert columns(run, "model", "batch", "sequence_tokens") == LOADED


def test_words_of_a_command_stand_over_a_loaded_config():
    load = (
        "cli = OmegaConf.from_cli()\n"
        "cfg = OmegaConf.merge(dict(length=64), OmegaConf.load(cli.pop('config')), cli)\n"
    )
    command = "python train.py config=a.yaml train.batch=2"
    run = row(train_py=load + script("cfg"), a_yaml=YAML, run_sh=command)
    assert columns(run, "model", "batch", "sequence_tokens") == ("qwen2.5-3b", "2", "2048")


def test_hydra_composes_groups_and_overrides():
    main = (
        '@hydra.main(config_path="conf", config_name="config")\ndef main(cfg):\n    m = cfg.model\n'
        + "".join(
            f"    {line}\n" for line in (MODEL.format(model="m.path") + TRAIN).splitlines()
        ).format(batch="cfg.train.batch", steps="cfg.train.steps", length="cfg.length")
    )
    files = [
        ("train.py", main),
        ("conf/config.yaml", "defaults:\n  - model: small\n  - _self_\nlength: 512\ntrain:\n"
         "  batch: 1\n  steps: 9\n"),
        ("conf/model/small.yaml", "path: Qwen/Qwen2.5-0.5B\n"),
        ("conf/model/large.yaml", "path: Qwen/Qwen2.5-14B\n"),
        ("run.sh", "torchrun --nproc_per_node 4 train.py model=large train.batch=3 length=1024"),
    ]  # fmt: skip
    run = read_run([(name, text.encode()) for name, text in files], catalogs()).row
    expected = ("qwen2.5-14b", "3", "1024", "4")
    assert columns(run, "model", "batch", "sequence_tokens", "gpus") == expected


def test_a_module_of_the_same_folder_is_part_of_its_script():
    module = "class Net:\n    def __init__(self, hf_id, length=16):\n        self.n = length\n"
    body = MODEL.format(model="hf_id") + "tokenizer(text, max_length=self.n)\n"
    module += "".join(f"        {line}\n" for line in body.splitlines())
    main = (
        "from net import Net\nnet = Net('Qwen/Qwen2.5-3B', length=2048)\n"
        "TrainingArguments(per_device_train_batch_size=max(2, 16 // 2), max_steps=5, bf16=True)\n"
    )
    run = row(train_py=main, net_py=module, utils_py="def f(): ...\n")
    assert columns(run, "model", "batch", "sequence_tokens") == LOADED


FIRE = (
    "def train(model: str = '', micro: int = 4, total: int = 128, length: int = 64):\n"
    "    steps = total // micro\n"
    "    world = int(os.environ.get('WORLD_SIZE', 1))\n"
    "    if world != 1:\n        steps = steps // world\n"
    "    AutoModelForCausalLM.from_pretrained(model)\n"
    "    tokenizer(text, max_length=length)\n"
    "    TrainingArguments(per_device_train_batch_size=micro, gradient_accumulation_steps=steps)\n"
    "fire.Fire(train)\n"
)


def test_a_function_for_the_command_line_takes_its_words_and_processes():
    command = "torchrun --nproc_per_node=2 train.py --model Qwen/Qwen2.5-3B --micro 8 --length 512"
    run = row(train_py=FIRE, run_sh=command)
    expected = ("qwen2.5-3b", "8", "8", "512", "2")
    names = ("model", "batch", "accumulation_steps", "sequence_tokens", "gpus")
    assert columns(run, *names) == expected


def test_variables_of_a_shell_script_reach_the_script_that_it_starts():
    text = (
        "SEQ = int(os.environ.get('SEQ', 2048))\n" + MODEL.format(model="'Qwen/Qwen2.5-3B'")
    ) + TRAIN.format(batch="os.environ['BATCH']", steps=5, length="SEQ")
    run = row(train_py=text, run_sh="export SEQ=4096 BATCH=2\ntorchrun --nproc_per_node 2 train.py")
    assert columns(run, "batch", "sequence_tokens") == ("2", "4096")


def test_each_command_of_a_makefile_is_a_run_of_its_own():
    text = MODEL.format(model="args.model_id") + TRAIN.format(
        batch="args.batch", steps=5, length=512
    )
    text = "args = parser.parse_args()\n" + text
    make = (
        "big:\n\ttorchrun --nproc_per_node=4 -m lib.train --model_id Qwen/Qwen2.5-7B --batch 2\n"
        "small:\n\tpython -m lib.train --model_id Qwen/Qwen2.5-3B --batch 4\n"
    )
    runs = read_runs([("Makefile", make.encode()), ("lib/train.py", text.encode())], catalogs())
    assert [columns(one.row, "model", "batch") for one in runs] == [
        ("qwen2.5-7b", "2"),
        ("qwen2.5-3b", "4"),
    ]


def test_a_folder_gives_the_files_inside_and_pages_with_a_command(tmp_path):
    for name, text in {
        "conf/model/a.yaml": "a: 1",
        "Makefile": "train:\n\tpython train.py",
        "cmd.txt": "tune run lora_finetune_single_device --config a.yaml",
        "requirements.txt": "torch\n",
        "README.md": "a model\n",
        ".git/config.yaml": "a: 1",
    }.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    names = {name.removeprefix(f"{tmp_path}/") for name in named_files(str(tmp_path))}
    assert names == {"conf/model/a.yaml", "Makefile", "cmd.txt"}


LOOP = """
# CUDA_VISIBLE_DEVICES=0,1 python loop.py
CFG = dict(model="Qwen/Qwen2.5-3B", seq=512, bs=2, acc=16)
CFG["seq"] = 1536
model = AutoModelForCausalLM.from_pretrained(CFG["model"], torch_dtype=torch.float16, {where})
opt = torch.optim.SGD(model.parameters(), lr=1e-4)
opt = torch.optim.AdamW(model.parameters(), lr=1e-4)
for i, batch in enumerate(DataLoader(data, batch_size=CFG["bs"])):
    (model(batch).loss / CFG["acc"]).backward()
    if (i + 1) % CFG["acc"] == 0:
        opt.step()
"""


def test_a_loop_says_its_accumulation_and_the_last_assignment_counts():
    run = row(loop_py=LOOP.format(where="device_map='auto'"))
    names = ("sequence_tokens", "batch", "accumulation_steps", "optimizer", "gpus")
    assert columns(run, *names) == ("1536", "2", "16", "adamw", "2")
    assert run["pipeline_parallel"] == "2"
    assert row(loop_py=LOOP.format(where="device_map={'': 0}"))["pipeline_parallel"] == ""


INNER_LOOP = """
BATCH, ACCUM = 2, int(os.environ.get("ACCUM", 4))
model = AutoModelForCausalLM.from_pretrained("Qwen/Qwen2.5-3B", torch_dtype=torch.bfloat16)
opt = torch.optim.AdamW(model.parameters(), lr=1e-4)
for step in range(100):
    for micro in range(ACCUM):
        (model(next(batches)).loss / ACCUM).backward()
    opt.step()
"""


def test_an_inner_loop_over_micro_batches_says_its_accumulation():
    assert row(loop_py=INNER_LOOP)["accumulation_steps"] == "4"


def test_a_hostfile_gives_nodes_and_gpus():
    command = (
        "deepspeed --hostfile hostfile train.py --deepspeed --deepspeed_config ds.json "
        "--model_name_or_path EleutherAI/gpt-j-6b --max_seq_length 1024"
    )
    config = (
        '{"train_batch_size": 256, "train_micro_batch_size_per_gpu": 4, "fp16": {"enabled": true}}'
    )
    files = {"run.sh": command, "ds.json": config, "hostfile": "a slots=8\nb slots=8\n#c slots=8\n"}
    read = read_run([(name, text.encode()) for name, text in files.items()], catalogs())
    expected = ("gpt-j-6b", "16", "4", "4")
    assert columns(read.row, "model", "gpus", "batch", "accumulation_steps") == expected
    assert not read.row["problem"]


CLASSES = """
@dataclass
class Own:
    impl: str = field(default="sdpa")
    base: str = "Qwen/Qwen2.5-3B"
parser = HfArgumentParser((Own, TrainingArguments))
own, targs = parser.parse_args_into_dataclasses()
AutoModelForCausalLM.from_pretrained(own.base, attn_implementation=own.impl)
Trainer(model=model, args=targs)
"""


def test_fields_of_parsed_classes_have_their_defaults_under_any_name():
    command = "torchrun --nproc_per_node 2 train.py --per_device_train_batch_size 4 --bf16 True"
    run = row(train_py=CLASSES, run_sh=command)
    assert columns(run, "model", "batch", "problem") == ("qwen2.5-3b", "4", "")


def test_a_script_whose_values_hold_each_other_is_refused_in_a_sentence():
    text = "def f(a=None, b=None):\n    return dict(a=a, b=b)\na = f(b=a, a=f(a))\nb = f(a, b)\n"
    with pytest.raises(ConfigProblem):
        row(odd_py=text * 3)
