"""Files of any form: what runs inside them, with its machines, variables and model."""

import json
from pathlib import Path

import pytest
from examples import catalogs, recorded

from calc import estimate
from calc.__main__ import main
from calc.files.configs.inside.cards import cards_in
from calc.files.configs.inside.docker import gpus_of_docker
from calc.files.configs.inside.fact import Fact
from calc.files.configs.inside.near_facts import near_facts
from calc.files.configs.inside.python_tree import python_tree
from calc.files.configs.problem import ConfigProblem
from calc.files.configs.run import read_run, read_runs
from calc.files.configs.run_summary import summary_of
from calc.files.imported_run import import_run
from calc.files.oom.engine import engine_cures
from calc.files.request import request_of
from calc.files.request_answer import answer_request
from calc.scenarios.inputs import DEFAULTS

pytestmark = pytest.mark.usefixtures("read_once")

FOLDER = Path(__file__).parents[1] / "recorded" / "inside"
EXPECTED = recorded("cases/inside.json")


@pytest.mark.parametrize("name", EXPECTED)
def test_a_file_of_any_form_is_read_or_refused_by_what_it_is(name):
    """Each service and each machine to choose is a run of its own."""
    document = [(name, (FOLDER / name).read_bytes())]
    if isinstance(EXPECTED[name], str):
        with pytest.raises(ConfigProblem) as problem:
            read_runs(document, catalogs())
        assert str(problem.value) == EXPECTED[name]
        return
    rows = [run.row for run in read_runs(document, catalogs())]
    assert [
        {column: row[column] for column in expected}
        for row, expected in zip(rows, EXPECTED[name], strict=True)
    ] == EXPECTED[name]


MODULE = """
module "endpoint" {
  hf_model_id = "meta-llama/Meta-Llama-3-8B-Instruct"
  instance_type = "ml.g5.2xlarge"
  instance_count = 2
  tgi_config = { max_input_tokens = 4000, max_total_tokens = 4096 }
}
"""
TRAINS = "torchrun train.py --model_name_or_path=Qwen/Qwen3-8B"
MODAL = f"""
@app.function(gpu="H100:2", timeout=6 * 3600)
def train():
    subprocess.run("{TRAINS}".split())
"""


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("module.tf", MODULE, "2 replicas"),
        ("a.yaml", f"run: {TRAINS}\nscheduling: {{timeout: 86400s}}", "timeout 86400s"),
        ("a.yaml", f"run: {TRAINS}\nscheduling: {{strategy: SPOT}}", "Spot is asked for"),
        ("a.yaml", f"run: {TRAINS}\nlimits: {{timeout: 36000}}", "timeout 36000"),
        ("a.yaml", f"run: {TRAINS}\ntimeout: {{attemptDurationSeconds: 60}}", "seconds 60"),
        ("train.py", MODAL, "timeout 21600"),
    ],
)
def test_terms_beside_a_program_are_said(name, text, said):
    run = read_runs([(name, text.encode())], catalogs())[0]
    not_counted = summary_of(run.row, run.lines, DEFAULTS, {}).not_counted
    assert any(said in item for item in not_counted)


@pytest.mark.parametrize("name", ["lora_target_parameters", "unfrozen_parameters"])
def test_a_long_value_leaves_room_for_its_effect(name):
    text = f"base_model: Qwen/Qwen3-8B\n{name}: [{', '.join(map(str, range(1000, 1100)))}]\n"
    lines = import_run([("a.yml", text.encode())], catalogs()).summary.lines()
    assert any(f"{name} [1000, 1001" in line and "memory)" in line for line in lines)


def test_every_recorded_file_has_what_it_says():
    assert {path.name for path in FOLDER.iterdir()} == set(EXPECTED)


@pytest.mark.parametrize(
    ("text", "cards"),
    [
        ("NVIDIA-A100-SXM4-80GB", [("a100-80gb-sxm", None)]),
        ("nvidia-gpu-h100:1", [("h100-80gb-sxm", 1)]),
        ("8xH100", [("h100-80gb-sxm", 8)]),
        ("nvidia-l4", [("l4", None)]),
        ("A100_PCIE_80GB", [("a100-80gb-pcie", None)]),
        ("a100_80", [("a100-80gb-sxm", None)]),
        ("RTX4090:2", [("rtx-4090", 2)]),
        ("t4-like-folder/model", [("t4", None)]),
        ("alpha100", []),
    ],
)
def test_a_card_is_known_by_any_spelling(text, cards):
    assert cards_in(text) == cards


@pytest.mark.parametrize(
    ("value", "gpus"),
    [("2", 2), ("all", None), ("device=0,1,2", 3), ('"device=4,5"', 2), ("count=3", 3)],
)
def test_docker_says_how_many_gpus_it_gives(value, gpus):
    assert gpus_of_docker(value) == gpus


def test_a_fact_belongs_to_the_program_that_it_stands_nearest_to():
    first, second = ("services", "a", "command"), ("services", "b", "command")
    own = Fact("gpus", 2, ("services", "a", "gpus"), "")
    other = Fact("gpus", 4, ("services", "b", "gpus"), "")
    both = Fact("instance", "p5.48xlarge", ("instance",), "")
    assert near_facts([other, both, own], first, [second]) == [own, both]


def test_python_is_read_and_never_run():
    tree = python_tree(
        "import os\nN = 2\nwords = ['vllm', 'serve', 'm']\nwords += ['-tp', str(N * 2)]\n"
        "os.system(' '.join(words))\nkwargs = dict(a=1)\nkwargs['b'] = f'x{N}'\nf(**kwargs, c=g)\n",
        "a.py",
    )
    assert tree["line 5"]["0"] == "vllm serve m -tp 4"
    assert tree["line 8"] == {"class": "f", "a": 1, "b": "x2", "c": "${g}"}


def test_what_speaks_of_memory_and_is_not_read_is_named():
    values = {
        "image": "vllm/vllm-openai:v0.9",
        "args": ["--model", "Qwen/Qwen3-8B"],
        "lmcache": {"maxOffloadGb": 30},
    }
    row = read_runs([("a.json", json.dumps(values).encode())], catalogs())[0].row
    assert (row["model"], row["unused"]) == ("qwen3-8b", "lmcache.max_offload_gb")
    assert row["software_release"] == "0.9"


def test_what_is_assumed_and_what_is_lost_stand_in_three_lines():
    files = [("a.yaml", (FOLDER / "hyperpod_dpo.yaml").read_bytes())]
    run = import_run(files, catalogs())
    understood, assumed = run.summary.lines()
    assert understood.startswith("Understood: verl SFT; model deepseek-r1-distill-qwen-7b;")
    assert "the amount of work is not in the file (training_config" not in assumed
    assert "(trainer.total_epochs 3)" in assumed
    assert [other.row["instance"] for other in run.others] == ["g6.12xlarge", "g6e.12xlarge"]


@pytest.mark.parametrize(
    ("card", "is_assumed"), [("a100", True), ("a100-80gb", False), ("h100", False)]
)
def test_a_card_of_two_sizes_without_its_memory_is_an_assumption(card, is_assumed):
    script = f"#SBATCH --gres=gpu:{card}:4\nvllm serve Qwen/Qwen3-32B --tensor-parallel-size 4\n"
    assumed = import_run([("job.sh", script.encode())], catalogs()).summary.assumed
    assert any(item.startswith("40 GB of memory on the card") for item in assumed) == is_assumed


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("use_galore: true", "use_galore true (lowers memory)"),
        ("optim: galore_adamw_layerwise", "counted as AdamW, whose state is the largest"),
    ],
)
def test_a_field_that_lowers_memory_and_is_not_counted_leaves_no_sure_refusal(line, said):
    config = (
        "model_name_or_path: meta-llama/Meta-Llama-3-8B\nstage: sft\nfinetuning_type: full\n"
        f"cutoff_len: 2048\nper_device_train_batch_size: 1\npure_bf16: true\n{line}\n"
    )
    request = request_of([("lf.yaml", config.encode())], catalogs(), {"gpu": "rtx-4090"})
    assert answer_request(request).row["fits"] == "tight"
    assert any(said in item for item in request.run.summary.not_counted)


def test_a_field_that_changes_memory_and_is_not_counted_leaves_no_sure_fit():
    text = (
        "base_model: meta-llama/Llama-3.1-8B\nadapter: qlora\nload_in_4bit: true\n"
        "lora_r: 16\nsequence_len: 512\nmicro_batch_size: 1\ngradient_checkpointing: true\n"
    )
    columns = {"gpu": "h100-80gb-sxm"}
    plain = answer_request(request_of([("a.yaml", text.encode())], catalogs(), columns)).row
    saved = f"{text}lora_modules_to_save: [norm]\n"
    request = request_of([("a.yaml", saved.encode())], catalogs(), columns)
    row = answer_request(request).row
    assert (plain["fits"], row["fits"]) == ("yes", "tight")
    assert row["fit_probability"] <= 0.5
    assert any("lora_modules_to_save" in item for item in request.run.summary.not_counted)


def test_modules_that_lora_trains_whole_take_a_copy_gradients_and_optimizer_state():
    """4 bytes each of copy and gradient, 8 of Adam's moments: Llama 3.1 8B's embedding and head."""
    adapted = {
        "model": "llama-3.1-8b",
        "tuning": "lora",
        "precision": "nf4",
        "gpu": "l4",
        "sequence_tokens": 512,
        "recompute": "full",
    }
    plain = estimate(adapted, catalogs())
    whole = estimate(adapted | {"modules_to_save": "embed_tokens-and-lm_head"}, catalogs())
    parameters = whole["trained_parameters"] - plain["trained_parameters"]
    assert parameters == 2 * 128256 * 4096
    for column, each in (("weights_bytes", 4), ("optimizer_bytes", 8)):
        assert whole[column] - plain[column] == pytest.approx(each * parameters)
    assert (plain["fits"], whole["fits"]) == ("yes", "no")
    text = "base_model: meta-llama/Llama-3.1-8B\nadapter: lora\nsequence_len: 512\n"
    for written, column in (
        ("[embed_tokens, lm_head]", "embed_tokens-and-lm_head"),
        ("[model.embed_tokens]", "embed_tokens"),
        ("[lm_head]", "lm_head"),
    ):
        file = f"{text}lora_modules_to_save: {written}\n"
        row = read_runs([("a.yaml", file.encode())], catalogs())[0].row
        assert row["modules_to_save"] == column


@pytest.mark.parametrize(
    ("config", "column"),
    [
        ('{"method": "mtp", "num_speculative_tokens": 1}', "mtp"),
        ('{"model": "a/b", "num_speculative_tokens": 5}', "draft"),
        ('{"method": "eagle3", "model": "a/b"}', "eagle"),
    ],
)
def test_a_flag_in_json_is_read_part_by_part(config, column):
    text = f"vllm serve Qwen/Qwen3-8B --speculative-config '{config}'"
    row = read_runs([("a.sh", text.encode())], catalogs())[0].row
    assert row["speculation"] == column


def test_ray_trains_on_as_many_gpus_as_it_has_workers():
    script = (
        "from ray.train import ScalingConfig\nfrom transformers import TrainingArguments\n"
        "args = TrainingArguments('out', model_name_or_path='Qwen/Qwen3-8B', bf16=True,\n"
        "    deepspeed={'bf16': {'enabled': True}, 'zero_optimization': {'stage': 3}})\n"
        "trainer = TorchTrainer(run, scaling_config=ScalingConfig(\n"
        "    num_workers=16, use_gpu=True, accelerator_type='A10G'))\n"
    )
    row = read_runs([("a.py", script.encode())], catalogs())[0].row
    assert (row["gpus"], row["gpu"], row["sharding"]) == ("16", "a10g", "zero3")


def test_a_folder_is_one_run(tmp_path, capsys):
    (tmp_path / "train.yaml").write_text("base_model: gpt2\nsequence_len: 256\ndeepspeed: z.json\n")
    (tmp_path / "z.json").write_text(
        '{"zero_optimization": {"stage": 3}, "bf16": {"enabled": true}}'
    )
    (tmp_path / "notes.md").write_text("not a config")
    assert main(["import", str(tmp_path), "-o", str(tmp_path / "out.csv")]) == 0
    assert "Understood: axolotl with DeepSpeed JSON" in capsys.readouterr().err
    assert "zero3" in (tmp_path / "out.csv").read_text()


def test_the_engines_cache_is_what_its_share_leaves():
    engine = {"work": "inference", "model": "llama-3.1-8b", "implementation": "vllm", "batch": 1}
    row = estimate(
        engine
        | {"gpu": "l4", "sequence_tokens": 8192, "memory_utilization": 0.9, "precision": "fp8"},
        catalogs(),
    )
    assert 0 < row["kv_pool_bytes"] < 0.9 * row["gpu_memory_bytes"] - row["weights_bytes"]
    assert row["max_concurrency"] == pytest.approx(row["kv_pool_bytes"] / row["kv_cache_bytes"])
    assert row["kv_pool_tokens"] == pytest.approx(row["max_concurrency"] * 8192, abs=1)
    half = estimate(engine | {"gpu": "l4", "sequence_tokens": 4096, "precision": "fp8"}, catalogs())
    assert half["max_concurrency"] == pytest.approx(
        half["kv_pool_bytes"] / half["kv_cache_bytes"], rel=1e-6
    )


def test_deepspeeds_offload_takes_the_host_memory_of_its_own_estimator():
    """30.5e9 parameters, 8 ranks that load 4 bytes each, buffers of half as much again."""
    row = estimate(
        {
            "model": "qwen3-30b-a3b",
            "precision": "bf16-master",
            "sharding": "zero2",
            "offload": "optimizer",
            "implementation": "deepspeed",
            "gpus": 8,
            "gpu": "h200-sxm",
            "recompute": "full",
        },
        catalogs(),
        solve=False,
    )
    assert row["host_memory_bytes"] == pytest.approx(1.5 * 8 * 4 * row["parameters"])


def test_an_engine_that_ran_out_is_helped_by_its_own_options_first():
    row = estimate(
        {
            "work": "inference",
            "model": "llama-3.1-8b",
            "implementation": "vllm",
            "gpu": "l4",
            "precision": "bf16",
            "sequence_tokens": 131072,
            "memory_utilization": 0.85,
        },
        catalogs(),
        solve=False,
    )
    cures = engine_cures(row, {"most_tokens": 30000.0}, catalogs())
    assert cures[0].column == "sequence_tokens"
    assert cures[0].value == 30000
    share = next(cure for cure in cures if cure.column == "memory_utilization")
    assert share.gained_bytes > 0
    least = next(iter(engine_cures(row, {"weights": 90.0, "free_after_weights": 10.0}, catalogs())))
    assert least.value == pytest.approx(0.92) or least.column == "sequence_tokens"
    assert engine_cures({**row, "work": "training"}, {}, catalogs()) == []


@pytest.mark.parametrize(
    ("stages", "each", "batch", "steps"),
    [(2, 4, "4", "2"), (2, None, "1", "8"), (1, 4, "8", "1"), (2, 3, "8", "1")],
)
def test_pipeline_stages_pass_on_micro_batches_of_their_own(stages, each, batch, steps):
    """NeMo Automodel, distributed/pipelining/functional.py: n_microbatches; one by default."""
    size = f", pp_microbatch_size: {each}" if each else ""
    config = (
        "model: {pretrained_model_name_or_path: meta-llama/Llama-3.1-8B}\n"
        "step_scheduler: {local_batch_size: 8, global_batch_size: 8}\n"
        f"distributed: {{strategy: fsdp2, pp_size: {stages}, "
        f"pipeline: {{pp_schedule: 1f1b{size}}}}}\n"
    )
    files = [("a.yaml", config.encode()), ("a.sh", f"#SBATCH --gpus={stages}\n".encode())]
    row = read_run(files, catalogs()).row
    assert (row["batch"], row["accumulation_steps"]) == (batch, steps), row["problem"]
