"""Launch kits of foreign models and rows: nothing that a name holds runs, and honest names work."""

import dataclasses
import json
import re
import shlex
import shutil
import subprocess
import tomllib

import pytest
import yaml
from examples import catalogs, recorded

from calc import CatalogError, add_models, estimate
from calc.files.launch import shell
from calc.files.launch.file_formats import file_text
from calc.files.launch.kit import kits
from calc.files.launch.specs import kit_specs, launch_document
from calc.files.launch_files import files_of, with_warning, write_folder
from calc.files.link.link import parse
from calc.files.model_configs import added_models
from calc.models.foreign import (
    MARK,
    SIZE_FIELDS,
    WORD_FIELDS,
    foreign_entry,
    free_id,
    model_id_of,
    visible,
)
from calc.models.huggingface.config import ConfigError
from calc.plan.ownership import OWNERSHIP
from calc.scenarios.inputs import BY_NAME

CASES = recorded("cases/launch.json")
EQUAL, SERVED = CASES["equal"], CASES["served"]
SCENARIOS = {**{tool: SERVED for tool in ("sglang", "tensorrt-llm")}, **dict(reversed(EQUAL))}
TRAP = "touch trapped"
HOSTILE = [
    f"a/b;{TRAP};",
    f"a/b && {TRAP}",
    f"a/b | {TRAP}",
    f"$({TRAP})",
    f"`{TRAP}`",
    f"a\n{TRAP}\n",
    f"a\r\n{TRAP}",
    f"' ; {TRAP} ; '",
    f'" ; {TRAP} ; "',
    f"--config=x; {TRAP}",
    f"a\u2028{TRAP}\u202e",
    f"}}}}; {TRAP}; {{{{",
]
# Columns that take any text, and the region, which no table is looked up by.
FREE_TEXTS = [
    *(
        "region",
        *OWNERSHIP,
        *(name for name, one in BY_NAME.items() if one.kind == "text" and not one.catalog),
    ),
]
STUBS = (
    *("uv", "curl", "aws", "accelerate", "torchrun", "python", "python3", "vllm", "trtllm-serve"),
    *("tune", "trl", "git", "pip", "pkill", "sleep", "timeout", "hostname", "ray", "sh"),
)
TOOLS = (
    "bash",
    "dirname",
    "ls",
    "sort",
    "tail",
    "sed",
    "cut",
    "head",
    "cat",
    "grep",
    "touch",
    "rm",
)


@pytest.fixture(scope="module")
def path_of_stubs(tmp_path_factory):
    """A folder with stubs that do nothing, and the few real tools that the scripts use."""
    folder = tmp_path_factory.mktemp("path")
    for name in STUBS:
        (folder / name).write_text("#!/bin/bash\nexit 0\n")
        (folder / name).chmod(0o755)
    for name in TOOLS:
        (folder / name).symlink_to(shutil.which(name))
    return folder


def run_all(folder, path):
    """Run every script of a folder; return the names of files that appeared."""
    before = {entry.name for entry in folder.iterdir()}
    for script in sorted(folder.glob("*.sh")):
        words = ["bash", script.name, *(["99999999"] if script.name == "spot_watch.sh" else [])]
        environment = {"PATH": str(path), "HOME": str(folder), "LC_ALL": "C.UTF-8"}
        subprocess.run(
            words, cwd=folder, env=environment, capture_output=True, timeout=60, check=False
        )
    return {entry.name for entry in folder.iterdir()} - before


def with_repository(text):
    """The catalogs with this text as the repository of every model, whatever the gate says."""
    return dataclasses.replace(catalogs(), models=catalogs().models.assign(hf_repo=text), base=None)


def test_the_trap_works(tmp_path, path_of_stubs):
    (tmp_path / "launch.sh").write_text(f"vllm serve {HOSTILE[0]}\n")
    assert run_all(tmp_path, path_of_stubs) == {"trapped"}


# All words at once for every tool, and each word alone for some: every tool meets two of them.
ALONE = [(tool, text) for number, tool in enumerate(SCENARIOS) for text in HOSTILE[number % 6 :: 6]]


@pytest.mark.parametrize(
    ("tool", "text"),
    [
        *((tool, " ".join(HOSTILE)) for tool in SCENARIOS),
        *(pytest.param(*alone, marks=pytest.mark.long) for alone in ALONE),
    ],
)
def test_nothing_that_a_row_holds_runs(tool, text, tmp_path, path_of_stubs):
    row = estimate(SCENARIOS[tool], catalogs(), solve=False)
    assert row["problem"] == ""
    row |= dict.fromkeys(FREE_TEXTS, text)
    several = kits(row, with_repository(text), "spot")
    kit = next(kit for kit in several if kit.id == tool)
    files = files_of(kit, row, "spot")
    write_folder(files, str(tmp_path))
    assert run_all(tmp_path, path_of_stubs) <= {"checkpoints", "Megatron-LM"}
    for name, content in files.items():
        if name.endswith((".yaml", ".yml")):
            assert {type(one) for one in yaml.safe_load_all(content)} == {dict}, name
        elif name.endswith(".toml"):
            assert tomllib.loads(content.decode()), name
        elif name.endswith(".json"):
            assert json.loads(content), name


def test_no_placeholder_of_a_script_stands_inside_quotes():
    """A word that is quoted by itself would end the quotes around it; numbers may stand there."""
    # Numbers, text that the catalog holds, and a field that curl fills in.
    numbers = {"limit", "with_engine", "efa_interfaces", "http_code"}
    templates = [
        block.text
        for name, blocks in launch_document().places.items()
        if name.endswith(".sh")
        for block in blocks
    ]
    for spec in kit_specs():
        templates += [spec.command, spec.before, spec.setup]
        templates += [block.text for block in spec.packages]
    for template in templates:
        code = "\n".join(line for line in template.split("\n") if not line.startswith("#"))
        for quoted in re.findall(r"'[^']*'|\"[^\"]*\"", code):
            assert set(shell.PLACEHOLDER.findall(quoted)) <= numbers, quoted


@pytest.mark.parametrize("text", HOSTILE)
def test_a_word_is_one_word_and_a_comment_one_line(text):
    assert shlex.split(f"run {shell.shell_word(text)}") == ["run", text]
    line = shell.comment_line(text)
    assert line.startswith("# ")
    assert line.splitlines() == [line]


def entry_of(**more):
    sizes = {"layers": 2, "hidden": 64, "heads": 4, "kv_heads": 4, "head_dim": 16, "ffn": 128}
    return {**sizes, "vocab": 1000, "max_position": 128, "model_type": "llama", **more}


@pytest.mark.parametrize("text", HOSTILE)
def test_a_link_sets_no_repository_that_is_none(text):
    query = {f"custom.mine.{name}": [json.dumps(value)] for name, value in entry_of().items()}
    query["custom.mine.hf_repo"] = [json.dumps(text)]
    choices, complaints = parse({**query, "model": ["mine"]}, catalogs())
    assert "hf_repo" not in choices["custom_models"]["mine"]
    assert [one for one in complaints if "custom.mine.hf_repo" in one]
    added = add_models(catalogs(), {"mine": entry_of(hf_repo=text)})
    assert added.models.at["mine", "hf_repo"] == ""


def test_an_honest_name_gets_a_working_kit(tmp_path, path_of_stubs):
    name = "Our model (v2) & friends, 8B"
    mine = model_id_of(name)
    added = add_models(catalogs(), {mine: entry_of(name=name, hf_repo="our-team/model_v2.1")})
    assert added.models.at[mine, "name"] == name + MARK
    row = estimate(
        {"work": "inference", "model": mine, "implementation": "vllm", "instance": "g6.xlarge"},
        added,
        solve=False,
    )
    kit = next(kit for kit in kits(row, added) if kit.id == "vllm")
    assert "vllm serve our-team/model_v2.1 " in kit.files["launch.sh"]
    write_folder(files_of(kit, row), str(tmp_path))
    assert run_all(tmp_path, path_of_stubs) == set()


def test_ids_of_the_catalog_are_never_replaced():
    with pytest.raises(CatalogError, match="already has a model"):
        add_models(catalogs(), {"llama-3.1-8b": entry_of()})
    with pytest.raises(CatalogError, match="cannot have the id"):
        add_models(catalogs(), {"a b": entry_of()})
    assert free_id("llama-3.1-8b", catalogs().models.index) == "llama-3.1-8b-own"
    once = add_models(catalogs(), {"mine": entry_of()})
    again = add_models(once, {"mine": entry_of(layers=4)})
    assert again.models.at["mine", "layers"] == 4
    forged = {
        f"custom.llama-3.1-8b.{name}": [json.dumps(size)] for name, size in entry_of().items()
    }
    choices, complaints = parse({**forged, "model": ["llama-3.1-8b"]}, catalogs())
    assert "custom_models" not in choices
    assert choices["model"] == "llama-3.1-8b"
    assert len(complaints) == 1
    assert "the catalog has a model of that name" in complaints[0]


def test_a_foreign_entry_keeps_sizes_and_loses_the_rest():
    entry = foreign_entry(
        "mine",
        entry_of(
            hidden=1e300,
            parameters=7,
            checks="x",
            stored_precision="nope; rm",
            layer_kinds=[{"kind": "dense", "layers": 2, "evil": "x"}],
            tied=True,
        ),
    )
    assert entry["tied"] is True
    assert entry["layers"] == 2
    assert entry.keys().isdisjoint(
        {"hidden", "parameters", "checks", "stored_precision", "layer_kinds"}
    )


def test_hidden_and_look_alike_letters_are_shown_as_escapes():
    assert visible("Ll\u0430ma\u202e 8B\u2060") == "Ll\\u0430ma\\u202e 8B\\u2060"
    assert visible("Modèle 日本 8B") == "Modèle 日本 8B"
    assert visible("two\nlines") == "two lines"


@pytest.mark.parametrize("text", [*HOSTILE, "\x7f", "\\", "日本 \U0001f600"])
def test_a_structured_file_gives_each_text_back(text):
    for form, read in (("yaml", yaml.safe_load), ("toml", tomllib.loads), ("json", json.loads)):
        written = file_text({"part.field": text, "part.list": [text]}, form, [text])
        assert read(written) == {"part": {"field": text, "list": [text]}}, form


@pytest.mark.parametrize("text", HOSTILE)
def test_a_warning_on_top_of_a_script_stays_a_comment(text, tmp_path, path_of_stubs):
    files = with_warning({"launch.sh": b"#!/bin/bash\necho\n", "a.yaml": b"a: 1\n"}, text)
    write_folder(files, str(tmp_path))
    assert run_all(tmp_path, path_of_stubs) == set()
    assert yaml.safe_load(files["a.yaml"]) == {"a": 1}


def test_a_kit_names_a_model_of_ones_own_with_its_mark():
    added = add_models(catalogs(), {"mine": entry_of(hf_repo="meta-llama/Llama-3.1-8B")})
    chosen = {"work": "inference", "implementation": "vllm", "instance": "g6.xlarge"}
    heads = {}
    for model in ("mine", "llama-3.2-1b"):
        row = estimate({**chosen, "model": model}, added, solve=False)
        kit = next(kit for kit in kits(row, added) if kit.id == "vllm")
        heads[model] = kit.files["launch.sh"]
    assert f"# Serving meta-llama/Llama-3.1-8B (mine{MARK}) on" in heads["mine"]
    assert MARK not in heads["llama-3.2-1b"]


@pytest.mark.long
@pytest.mark.parametrize("value", [1e15, "zzz"])
def test_any_value_of_a_field_is_counted_or_refused_in_a_sentence(value):
    sentences = []
    for name in sorted({*SIZE_FIELDS, *WORD_FIELDS}):
        try:
            add_models(catalogs(), {"mine": entry_of(**{name: value})})
        except CatalogError as error:
            sentences.append(str(error))
    assert all("mine" in sentence for sentence in sentences)


def test_a_foreign_model_is_simulated_here_only_with_a_block_of_this_machine():
    assert "simulated_here" not in foreign_entry("mine", entry_of(simulated_here=1))
    block = "simulated-llama-0123-block"
    assert foreign_entry("mine", entry_of(simulated_here=1, block=block))["simulated_here"] == 1
    with pytest.raises(CatalogError, match=block):
        add_models(catalogs(), {"mine": entry_of(simulated_here=1, block=block)})


def test_two_files_of_one_id_are_refused_by_name(tmp_path):
    config = json.dumps({"model_type": "llama", "vocab_size": 1000})
    for name in ("our model.json", "our-model.json"):
        (tmp_path / name).write_text(config)
    with pytest.raises(ConfigError, match=r"our-model\.json and .*our model\.json both give"):
        dict(added_models([str(tmp_path)], catalogs()))


def test_a_model_with_an_underscore_comes_back_from_its_link():
    query = {f"custom.My_model.{name}": [json.dumps(size)] for name, size in entry_of().items()}
    choices, complaints = parse({**query, "model": ["My_model"]}, catalogs())
    assert choices["custom_models"] == {"My_model": entry_of()}
    assert complaints == []
