"""The launch kit: files that, read back by the importers, give the scenario that they were written
for; what they cannot say is said.
"""

import io
import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import pytest
import yaml
from examples import catalogs, recorded, steady
from hypothesis import given, strategies

from calc import answer, estimate
from calc.files.configs.documents import readings_of as read_config
from calc.files.configs.run import read_run
from calc.files.launch.kit import NOT_READ, kits, not_to_launch
from calc.files.launch.kit_values import launch_values
from calc.files.launch.specs import kit_specs
from calc.files.launch_files import files_of, with_warning, write_folder, zip_files
from calc.scenarios.inputs import BY_NAME

SHELLCHECK = shutil.which("shellcheck", path=f"{Path(sys.executable).parent}:{os.environ['PATH']}")
CASES = recorded("cases/launch.json")
EQUAL, FREE, RUN, SERVED = (CASES[name] for name in ("equal", "free", "run", "served"))
# Tool -> a scenario.
EACH = {
    **{tool: SERVED for tool in ("sglang", "tensorrt-llm")},
    **dict(reversed(EQUAL)),
}


def made(scenario, tool="", market="on-demand"):
    """The row of a scenario, and its kit for a tool."""
    row = estimate(scenario, catalogs(), solve=False)
    assert row["problem"] == ""
    return row, next(kit for kit in kits(row, catalogs(), market) if kit.id == tool)


def brought_back(kit):
    """The columns that the kit's files settle, as `python -m calc import` reads them."""
    row = read_run(
        [(name, text.encode()) for name, text in kit.files.items() if name not in NOT_READ],
        catalogs(),
    ).row
    assert row["problem"] == ""
    return row


def faults_of_shell(text):
    """What bash, and shellcheck where it is installed, find wrong with a script."""
    checks = [["bash", "-n"], *([[SHELLCHECK, "--severity=warning", "-"]] if SHELLCHECK else [])]
    done = [
        subprocess.run(check, input=text, capture_output=True, text=True, check=False)
        for check in checks
    ]
    return "".join(one.stdout + one.stderr for one in done)


def differing(kit):
    """The columns that the kit cannot say."""
    return {difference.column for difference in kit.differences}


@pytest.mark.parametrize(
    ("tool", "scenario"), EQUAL, ids=[f"{tool} {place}" for place, (tool, _) in enumerate(EQUAL)]
)
@pytest.mark.long
def test_a_kit_brought_back_is_the_same_scenario(tool, scenario):
    row, kit = made(scenario, tool)
    assert differing(kit) == set()
    columns = brought_back(kit)
    again = estimate(
        {name: columns[name] for name in BY_NAME if columns[name]}, catalogs(), solve=False
    )
    assert (again["memory_bytes"], again["instance"]) == (row["memory_bytes"], row["instance"])
    for name, value in scenario.items():
        if name != "train_tokens" and value is not None:
            assert str(again[name]) == str(row[name]), name
    for name in [
        name
        for name in kit.files
        if name.endswith((".json", ".yaml", ".toml")) and name not in NOT_READ
    ]:
        for reading in read_config(kit.files[name], name):
            assert [
                field for field in reading.fields if reading.tool and not reading.tool.knows(field)
            ] == [], name


@pytest.mark.parametrize(("tool", "scenario", "column"), CASES["different"])
def test_a_choice_without_an_equivalent_stands_in_a_comment(tool, scenario, column):
    _, kit = made(scenario, tool)
    assert column in differing(kit)
    assert "No equivalent" in kit.files["launch.sh"]
    assert f"({column})" in kit.files["launch.sh"]


@pytest.mark.parametrize("work", ["training", "inference"])
def test_the_answers_of_a_usual_job_can_be_taken_home(work):
    for row in answer({"work": work, "model": "llama-3.1-8b"}, catalogs()).to_dict("records"):
        kit = kits(row, catalogs(), row["market"])[0]
        if work == "inference":
            # Of a service the load is no setting.
            assert differing(kit) == {
                "batch",
                "prompt_tokens",
            }
        else:
            # No switch of the Trainer.
            assert differing(kit) == (
                {"recompute"} if row["recompute"].startswith("selective") else set()
            )
        assert "sky.yaml" in kit.files


@pytest.mark.sample(2)
@pytest.mark.parametrize("tool", [spec.id for spec in kit_specs()])
def test_files_are_what_their_names_say(tool):
    scenario = EACH[tool]
    _, kit = made(scenario, tool, "spot")
    readers = {".json": json.loads, ".yaml": yaml.safe_load, ".toml": tomllib.loads}
    for name, text in kit.files.items():
        reader = readers.get(name[-5:])
        assert reader(text) if reader else faults_of_shell(text) == "", name
    asked = '"MarketType": "spot"', "DefaultTargetCapacityType=spot"
    assert any(words in kit.files["aws.sh"] for words in asked)
    assert yaml.safe_load(kit.files["sky.yaml"])["resources"]["use_spot"] is True
    assert ("spot_watch.sh" in kit.files) is (scenario.get("work") != "inference")


@pytest.mark.sample(2)
@pytest.mark.parametrize("tool", ["sglang", "tensorrt-llm"])
def test_another_engine_says_that_the_memory_is_of_the_plans(tool):
    """The plan's memory is vLLM's; what is read back names the engine and its share of the card."""
    _, kit = made(SERVED, tool)
    assert "The memory of the plan is vLLM's" in kit.files["launch.sh"]
    assert differing(kit) == {"inference_engine", "memory_utilization"}
    served = SERVED | {"inference_engine": tool}
    assert differing(made(served, tool)[1]) == set()
    assert differing(made(served | {"memory_utilization": 0.8}, tool)[1]) == set()
    row = brought_back(kit)
    share = made(served, tool)[0]["memory_utilization"]
    assert float(row["memory_utilization"]) == share != made(SERVED, tool)[0]["memory_utilization"]
    assert brought_back(made(served | {"memory_utilization": 0.8}, tool)[1]) == {
        **brought_back(made(served, tool)[1]),
        "memory_utilization": "0.8",
    }
    assert (row["implementation"], "implementation" in row["source_defaults"].split("+")) == (
        "vllm",
        True,
    )
    columns = ("model", "sequence_tokens", "max_sequences", "max_batched_tokens")
    assert [row[name] for name in columns] == ["llama-3.1-8b", "8192", "32", "4096"]


@pytest.mark.parametrize("tool", FREE)
@steady(3)
@given(data=strategies.data())
def test_any_scenario_that_a_tool_can_say_comes_back_as_it_was(tool, data):
    several = FREE[tool] | {
        "batch": [1, 2, 4],
        "accumulation_steps": [1, 2, 4],
        "sequence_tokens": [512, 2048],
    }
    scenario = {
        name: data.draw(strategies.sampled_from(values)) for name, values in several.items()
    }
    scenario = {
        "model": "llama-3.2-1b",
        "train_tokens": 1e9,
        "gpus": 16,
        "instance": "p5.48xlarge",
        **scenario,
    }
    if not estimate(scenario, catalogs(), solve=False)["problem"]:
        assert differing(made(scenario, tool)[1]) == set()


@pytest.mark.parametrize(
    ("tool", "file"), [("transformers", "training.json"), ("trl", "training.yaml")]
)
def test_a_run_goes_on_from_its_last_whole_checkpoint(tool, file, tmp_path):
    _, kit = made(EACH[tool], tool)
    write_folder({name: text.encode() for name, text in kit.files.items()}, str(tmp_path))
    (tmp_path / ".venv/bin").mkdir(parents=True)
    (tmp_path / ".venv/bin/accelerate").write_text("#!/bin/bash\n")
    (tmp_path / ".venv/bin/accelerate").chmod(0o755)
    before = yaml.safe_load(kit.files[file])
    for steps, last in ((), None), ((9, 10, 11), 10):
        for step in steps:
            (tmp_path / f"checkpoints/checkpoint-{step}").mkdir(parents=True)
        for step in [step for step in steps if step <= (last or 0)]:
            (tmp_path / f"checkpoints/checkpoint-{step}/trainer_state.json").write_text("{}")
        for _ in range(2):  # a second start finds the field there
            assert (
                subprocess.run(
                    ["bash", str(tmp_path / "launch.sh")], capture_output=True
                ).returncode
                == 0
            )
        resumed = (
            {} if last is None else {"resume_from_checkpoint": f"checkpoints/checkpoint-{last}"}
        )
        assert yaml.safe_load((tmp_path / file).read_text()) == before | resumed


def test_an_arm_host_gets_an_arm_image_and_no_tool_no_kit():
    _, kit = made(
        {"model": "gpt2", "work": "inference", "implementation": "vllm", "instance": "g5g.xlarge"},
        "vllm",
    )
    assert "/arm64/" in kit.files["aws.sh"]
    row = estimate({**RUN, "implementation": "litgpt"}, catalogs(), solve=False)
    assert kits(row, catalogs()) == []
    one_by_one = next(scenario for _, scenario in EQUAL if scenario.get("objective") == "kto") | {
        "batch": 1
    }
    # TRL's trainer refuses it.
    assert kits(estimate(one_by_one, catalogs(), solve=False), catalogs()) == []


def test_the_archive_holds_the_kit_the_plan_and_its_check(tmp_path):
    row, kit = made(RUN, "transformers")
    files = files_of(kit, row)
    assert {
        "training.json",
        "accelerate.yaml",
        "setup.sh",
        "launch.sh",
        "sky.yaml",
        "aws.sh",
        "plan.csv",
        "plan.yml",
    } == set(files)
    content = zip_files(files)
    assert content == zip_files(files)
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        assert {name: archive.read(name) for name in archive.namelist()} == files
        assert archive.getinfo("launch.sh").external_attr >> 16 == 0o755
    write_folder(files, str(tmp_path / "kit"))
    assert (tmp_path / "kit" / "launch.sh").read_bytes() == files["launch.sh"]
    assert f"--usd-most {1.1 * row['run_usd_on_demand']:.3g}" in files["plan.yml"].decode()


@pytest.mark.sample(4)
@pytest.mark.parametrize("tool", [spec.id for spec in kit_specs()])
def test_every_file_of_a_plan_that_should_not_start_says_so_on_top(tool):
    """Scripts, YAML and TOML in their first line; JSON in the README; and they read back as
    before.
    """
    row, kit = made(EACH[tool], tool, "spot")
    files = files_of(kit, row, "spot")
    marked = with_warning(files, "This plan does not fit.")
    readme = marked["README.txt"].decode()
    assert readme.startswith("WARNING: This plan does not fit.")
    for name, content in files.items():
        first = marked[name].decode().splitlines()[content.startswith(b"#!")]
        assert (first == "# WARNING: This plan does not fit.") or (
            marked[name] == content and name in readme
        ), name
        assert name.endswith((".json", ".csv")) or first.startswith("# WARNING"), name
    names = [name for name in kit.files if name not in NOT_READ]
    before, after = (
        read_run([(name, texts[name]) for name in names], catalogs()).row
        for texts in (files, marked)
    )
    assert after == before


def test_spot_takes_one_of_the_types_on_which_the_plan_runs_as_well():
    row, kit = made(SERVED | {"instance": "g6e.2xlarge"}, "vllm", "spot")
    asked = kit.files["aws.sh"]
    types = re.findall('"InstanceType": "([^"]+)"', asked)
    assert types[0] == "g6e.2xlarge"
    assert "g6e.xlarge" in types
    assert "g6.xlarge" not in types  # slower
    assert "create-fleet" in asked
    assert "run-instances" not in asked
    resources = yaml.safe_load(kit.files["sky.yaml"])["resources"]
    assert [one["instance_type"] for one in resources["any_of"]] == types
    others = [
        estimate(dict(row) | {"instance": name, "gpu": ""}, catalogs(), solve=False)
        for name in types
    ]
    assert {(one["fits"], one["runs"], one["gpus"]) for one in others} == {("yes", "yes", 1)}
    _, kit = made(SERVED | {"instance": "g6e.2xlarge"}, "vllm")
    assert "create-fleet" not in kit.files["aws.sh"]


def test_spot_takes_only_types_that_the_job_allows():
    row, _ = made(SERVED | {"instance": "g6e.2xlarge"}, "vllm")
    kit = next(
        kit
        for kit in kits(row, catalogs(), "spot", ["g6e.2xlarge", "g6e.xlarge", "p5.48xlarge"])
        if kit.id == "vllm"
    )
    types = re.findall('"InstanceType": "([^"]+)"', kit.files["aws.sh"])
    assert types == ["g6e.2xlarge", "g6e.xlarge"]


def test_weights_quantized_on_loading_need_a_package_and_no_repository_of_their_own():
    _, nf4 = made(SERVED | {"precision": "nf4"}, "vllm")
    assert "bitsandbytes==" in nf4.files["setup.sh"]
    assert "repository of their own" not in nf4.files["launch.sh"]
    assert "Micro-batch" not in nf4.files["launch.sh"]  # a service has concurrent sequences
    _, awq = made(SERVED | {"precision": "awq-4bit"}, "vllm")
    assert "bitsandbytes" not in awq.files["setup.sh"]
    assert "repository of their own" in awq.files["launch.sh"]


def test_the_table_of_launch_files_names_columns_and_derived_values():
    values = launch_values(made(RUN, "transformers")[0], catalogs())
    for kit in kit_specs():
        for spec in (
            *kit.flags,
            *kit.settings,
            *(spec for _, specs in kit.files.values() for spec in specs),
        ):
            assert {spec.column or "gpus", *spec.when} <= values.keys(), spec


def test_machines_are_set_up_rented_and_left_as_the_plan_says():
    """Several nodes lie close together with EFA on each card; spot has a limit and saves on notice;
    a service has its port.
    """
    _, kit = made(RUN | {"gpus": 16}, "transformers", "spot")
    assert "--placement GroupName=" in kit.files["aws.sh"]
    assert "card < 32" in kit.files["aws.sh"]
    assert yaml.safe_load(kit.files["sky.yaml"])["resources"]["network_tier"] == "best"
    assert '"MaxPrice": "' in kit.files["aws.sh"]
    assert "pkill" not in kit.files["spot_watch.sh"]  # the notice is for one node of two
    row, kit = made(RUN, "transformers", "spot")
    assert (
        yaml.safe_load(kit.files["sky.yaml"])["resources"]["max_hourly_cost"]
        == row["instance_usd_per_hour_on_demand"]
    )
    assert "pkill -TERM" in kit.files["spot_watch.sh"]
    assert json.loads(kit.files["training.json"])["enable_jit_checkpoint"] is True
    fields = json.loads(kit.files["training.json"])
    assert fields["save_steps"] <= fields["max_steps"] // 2
    assert "--network-interfaces" not in kit.files["aws.sh"]
    _, kit = made(RUN | {"gpus": 16}, "transformers", "capacity-block")
    assert "MarketType=capacity-block" in kit.files["aws.sh"]
    assert "--placement" not in kit.files["aws.sh"]
    _, kit = made(SERVED, "vllm")
    assert yaml.safe_load(kit.files["vllm.yaml"])["port"] == 8000
    assert "ports" not in yaml.safe_load(kit.files["sky.yaml"])["resources"]  # opened by hand alone
    for tool in ("vllm", "sglang"):
        launch = made(SERVED, tool)[1].files["launch.sh"]
        assert '--host "$HOST"' in launch
        assert "API_KEY" in launch


def test_setup_installs_the_releases_whose_parsers_are_asked():
    pinned = dict(
        re.findall(
            r"^([\w-]+)==(\S+)$",
            Path("requirements/launch.txt").read_text()
            + Path("requirements/validation.txt").read_text(),
            re.M,
        )
    )
    for kit in kit_specs():
        packages = " ".join(block.text for block in kit.packages)
        for name, release in re.findall(r"([\w-]+)(?:\[[^]]*\]|\{\w+\})?==([^'\s]+)", packages):
            assert pinned.get(name.replace("-", "_"), pinned.get(name, release)) == release, (
                kit.id,
                name,
            )


def test_a_tight_plan_says_so_and_what_cannot_run_has_a_reason():
    row, kit = made(CASES["tight"], "verl")
    assert (row["fits"], kit.files["launch.sh"].splitlines()[2][:7]) == ("tight", "# TIGHT")
    assert not_to_launch(row) == ""
    assert "does not fit" in not_to_launch({**row, "fits": "no"})
    assert "does not run" in not_to_launch({**row, "runs": "no", "note": "It needs more."})


def test_sglang_shares_experts_by_attention_in_data_parallel():
    """SGLang counts the GPUs of all copies of attention as tensor parallel."""
    shared = {**SERVED, "model": "deepseek-v3", "precision": "fp8", "instance": "p5en.48xlarge"}
    shared |= {"gpus": 8, "tensor_parallel": 2, "expert_parallel": 8}
    shared |= {"inference_engine": "sglang"}
    kit = made(shared, "sglang")[1]
    for words in ("--tp-size 8", "--dp-size 4", "--ep-size 8", "--enable-dp-attention"):
        assert words in kit.files["launch.sh"]
    columns = {"gpus", "tensor_parallel", "expert_parallel"}
    assert differing(kit) & columns == set()
