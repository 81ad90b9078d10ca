"""The launch kit: files that, read back by the importers, give the scenario that they were written for; what they cannot say is said."""

import io
import json
import subprocess
import tomllib
import zipfile

import pytest
import yaml
from examples import catalogs, recorded, steady
from hypothesis import given, strategies

from calc import answer, estimate
from calc.catalogs.rooms import path_of
from calc.files.configs.documents import readings_of as read_config
from calc.files.configs.run import read_run
from calc.files.launch.kit import comment, kits, resuming
from calc.files.launch.specs import kit_specs
from calc.files.launch.values import launch_values
from calc.files.launch_files import files_of, write_folder, zipped
from calc.scenarios.inputs import BY_NAME

RUN = {"model": "llama-3.1-8b", "sequence_tokens": 4096, "recompute": "full", "train_tokens": 150e6}
SHARDED = {"gpus": 8, "instance": "p5.48xlarge", "sharding": "zero3"}
ALONE = {"gpus": 1, "instance": "p5.4xlarge"}
SERVED = {"model": "llama-3.1-8b", "work": "inference", "implementation": "vllm", "precision": "bf16", "instance": "g6e.xlarge",
          "sequence_tokens": 8192, "max_sequences": 32, "max_batched_tokens": 4096}  # fmt: skip
# Tool, scenario: nothing of it is lost; choices that each tool can say, in any combination.
EQUAL = recorded("cases/launch.json")["equal"]


def made(scenario, market="on-demand"):
    row = estimate(scenario, catalogs(), solve=False)
    assert row["problem"] == ""
    return row, {kit.id: kit for kit in kits(row, catalogs(), market)}


def brought_back(kit):
    """The columns that the kit's files settle, as `python -m calc import` reads them."""
    names = [name for name in kit.files if name != "spot_watch.sh"]
    return read_run([(name, kit.files[name].encode()) for name in names], catalogs()).row


@pytest.mark.parametrize(("tool", "scenario"), EQUAL, ids=[f"{tool} {at}" for at, (tool, _) in enumerate(EQUAL)])
def test_a_kit_brought_back_is_the_same_scenario(tool, scenario):
    row, found = made(scenario)
    kit = found[tool]
    assert [comment(each, kit.name) for each in kit.differences] == []
    said = brought_back(kit)
    assert said["problem"] == ""
    again = estimate({name: said[name] for name in BY_NAME if said[name]}, catalogs(), solve=False)
    assert again["memory_bytes"] == row["memory_bytes"]
    assert again["instance"] == row["instance"]
    for name, value in scenario.items():
        if name != "train_tokens" and value is not None:
            assert str(again[name]) == str(row[name]), name


@pytest.mark.parametrize(
    ("tool", "scenario", "column"),
    recorded("cases/launch.json")["different"],
)  # fmt: skip
def test_a_choice_without_an_equivalent_stands_in_a_comment(tool, scenario, column):
    _, found = made(scenario)
    kit = found[tool]
    assert column in [each.column for each in kit.differences]
    assert "No equivalent" in kit.files["launch.sh"]
    assert f"({column})" in kit.files["launch.sh"]


@pytest.mark.parametrize("work", ["training", "inference"])
def test_the_answers_of_a_usual_job_can_be_taken_home(work):
    answers = answer({"work": work, "model": "llama-3.1-8b"}, catalogs())
    for row in answers.to_dict("records"):
        found = kits(row, catalogs(), row["market"])
        assert found
        said = {each.column for each in found[0].differences}
        if work == "inference":
            assert said == {"batch", "prompt_tokens"}  # of a service the load is no setting
        else:
            assert said == ({"recompute"} if row["recompute"].startswith("selective") else set())  # no switch of the Trainer
        assert "sky.yaml" in found[0].files


@pytest.mark.parametrize("tool", [spec.id for spec in kit_specs()])
def test_files_are_what_their_names_say(tool):
    scenario = next((scenario for name, scenario in EQUAL if name == tool), SERVED)
    _, found = made(scenario, "spot")
    for name, text in found[tool].files.items():
        if name.endswith(".json"):
            assert json.loads(text)
        elif name.endswith(".yaml"):
            assert yaml.safe_load(text)
        elif name.endswith(".toml"):
            assert tomllib.loads(text)
        else:
            assert subprocess.run(["bash", "-n"], input=text.encode(), capture_output=True).returncode == 0
    assert '"MarketType": "spot"' in found[tool].files["aws.sh"]
    assert yaml.safe_load(found[tool].files["sky.yaml"])["resources"]["use_spot"] is True
    assert ("spot_watch.sh" in found[tool].files) is (scenario.get("work") != "inference")


@pytest.mark.parametrize("tool", ["sglang", "tensorrt-llm"])
def test_another_engine_says_that_the_memory_is_of_the_plans(tool):
    _, found = made(SERVED)
    kit = found[tool]
    assert {each.column for each in kit.differences} == {"implementation", "memory_utilization"}
    said = brought_back(kit)
    assert said["problem"] == ""
    assert (said["model"], said["sequence_tokens"], said["max_sequences"], said["max_batched_tokens"]) == (
        "llama-3.1-8b",
        "8192",
        "32",
        "4096",
    )


FREE = recorded("cases/launch.json")["free"]


@pytest.mark.parametrize("tool", FREE)
@steady(3)
@given(data=strategies.data())
def test_any_scenario_that_a_tool_can_say_comes_back_as_it_was(tool, data):
    scenario = {name: data.draw(strategies.sampled_from(values)) for name, values in FREE[tool].items()}
    scenario |= {name: data.draw(strategies.sampled_from([1, 2, 4])) for name in ("batch", "accumulation_steps")}
    scenario |= {
        "sequence_tokens": data.draw(strategies.sampled_from([512, 2048])),
        "train_tokens": 1e9,
        "gpus": 16,
        "instance": "p5.48xlarge",
    }
    row = estimate({"model": "llama-3.2-1b", **scenario}, catalogs(), solve=False)
    if row["problem"]:
        return
    kit = next(kit for kit in kits(row, catalogs()) if kit.id == tool)
    assert kit.differences == []


@pytest.mark.parametrize("form", ["json", "yaml"])
def test_a_run_goes_on_from_its_last_whole_checkpoint(form, tmp_path):
    file = f"training.{form}"
    text = '{\n  "a": 1\n}\n' if form == "json" else "# head\na: 1\n"
    (tmp_path / file).write_text(text)
    script = f"set -euo pipefail\n{resuming(file, form, spot=False)}"
    for steps, whole in ((), None), ((9, 10, 11), 10):
        for step in steps:
            (tmp_path / f"checkpoints/checkpoint-{step}").mkdir(parents=True)
        for step in [step for step in steps if step <= (whole or 0)]:
            (tmp_path / f"checkpoints/checkpoint-{step}/trainer_state.json").write_text("{}")
        for _ in range(2):  # a second start finds the field there
            assert subprocess.run(["bash", "-c", script], cwd=tmp_path, capture_output=True).returncode == 0
        found = yaml.safe_load((tmp_path / file).read_text())
        assert found == ({"a": 1} if whole is None else {"a": 1, "resume_from_checkpoint": f"checkpoints/checkpoint-{whole}"})


def test_an_arm_host_gets_an_arm_image_and_no_tool_no_kit():
    _, found = made({"model": "gpt2", "work": "inference", "implementation": "vllm", "instance": "g5g.xlarge"})
    assert "/arm64/" in found["vllm"].files["aws.sh"]
    row = estimate({**RUN, **SHARDED, "implementation": "litgpt", "precision": "bf16-mixed"}, catalogs(), solve=False)
    assert kits(row, catalogs()) == []


def test_every_field_that_is_written_is_one_that_is_read():
    """What a kit writes and the importer does not know would be named `unused` and could not be checked."""
    for tool, scenario in EQUAL:
        _, found = made(scenario)
        for name, text in found[tool].files.items():
            if name.endswith((".json", ".yaml", ".toml")):
                for reading in read_config(text, name):
                    unknown = [field for field in reading.fields if reading.tool and not reading.tool.knows(field)]
                    assert unknown == [], (tool, name)


def test_the_archive_holds_the_kit_the_plan_and_its_check(tmp_path):
    row, found = made({**RUN, **SHARDED, "precision": "bf16-mixed"})
    files = files_of(found["transformers"], row)
    assert {"training.json", "accelerate.yaml", "launch.sh", "sky.yaml", "aws.sh", "plan.csv", "plan.yml"} == set(files)
    content = zipped(files)
    assert content == zipped(files)
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        assert {name: archive.read(name) for name in archive.namelist()} == files
        assert archive.getinfo("launch.sh").external_attr >> 16 == 0o755
    write_folder(files, str(tmp_path / "kit"))
    assert (tmp_path / "kit" / "launch.sh").read_bytes() == files["launch.sh"]
    assert f"--usd-most {1.1 * row['run_usd_on_demand']:.3g}" in files["plan.yml"].decode()


def test_the_table_of_launch_files_names_columns_and_derived_values():
    row, _ = made({**RUN, **SHARDED, "precision": "bf16-mixed"})
    known = launch_values(row, catalogs())
    document = yaml.safe_load(path_of("launch_files").read_text("utf-8"))
    for kit in document["kits"].values():
        for specs in (kit.get("flags", []), *(file["fields"] for file in kit.get("files", {}).values())):
            for spec in specs:
                assert {spec.get("column", "gpus"), *spec.get("when", {})} <= known.keys(), spec
