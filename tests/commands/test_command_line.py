"""`python -m calc` and its `answer`: a table in, its rows with results out; 0, or 2 with one
sentence on standard error.
"""

import csv
import importlib
import io
import json
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from examples import catalogs, recorded, written

from calc import answer
from calc.__main__ import main
from calc.commands.command import COMMANDS
from calc.scenarios.inputs import INPUTS

pytestmark = pytest.mark.usefixtures("read_once")

ROOT = Path(__file__).resolve().parents[2]
TABLE = "scenario,model,batch,owner\nfirst,gpt2,2,me\nsecond,nope,,you\nthird,llama-3.2-1b,x,\n"
LLAMA = {"model_type": "llama", "hidden_size": 64, "num_hidden_layers": 2, "num_attention_heads": 4}
LLAMA |= {
    "intermediate_size": 128,
    "vocab_size": 1000,
    "num_key_value_heads": 2,
    "tie_word_embeddings": False,
}


@pytest.fixture
def scenarios(tmp_path):
    path = tmp_path / "scenarios.csv"
    path.write_text(TABLE, encoding="utf-8")
    return path


def test_every_row_is_there_in_order_with_inputs_defaults_and_results_and_goes_in_again(
    scenarios, tmp_path
):
    assert main([str(scenarios), "-o", str(tmp_path / "out.csv")]) == 0
    rows = written(tmp_path / "out.csv")
    assert [
        [row[name] for name in ("scenario", "owner", "sequence_tokens", "batch")] for row in rows
    ] == [
        *(["first", "me", "1024", "2"], ["second", "you", "2048", "1"], ["third", "", "2048", "x"])
    ]
    assert [bool(row["memory_bytes"]) for row in rows] == [True, False, False]
    assert rows[1]["problem"].startswith("model 'nope' is not in the catalog; ")
    assert rows[2]["problem"].startswith("batch 'x' is not a whole number")
    assert {column.name for column in INPUTS} <= set(rows[0])
    assert main([str(tmp_path / "out.csv"), "-o", str(tmp_path / "again.csv")]) == 0
    assert (tmp_path / "again.csv").read_bytes() == (tmp_path / "out.csv").read_bytes()


def test_standard_input_and_output_and_nothing_else(monkeypatch, capsys):
    done = subprocess.run(
        [sys.executable, "-m", "calc"], input=TABLE.encode(), capture_output=True, cwd=ROOT
    )
    assert (done.returncode, done.stderr) == (0, b"")
    rows = list(csv.DictReader(io.StringIO(done.stdout.decode("utf-8"))))
    assert [row["scenario"] for row in rows] == ["first", "second", "third"]
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(TABLE.encode())))
    assert main(["-"]) == 0
    assert capsys.readouterr().out.splitlines() == done.stdout.decode("utf-8").splitlines()


def test_neither_streamlit_nor_altair_is_imported():
    done = subprocess.run(
        [sys.executable, "-X", "importtime", "-m", "calc", "--help"],
        capture_output=True,
        cwd=ROOT,
        text=True,
    )
    imported = {line.rsplit("|", 1)[-1].strip().split(".")[0] for line in done.stderr.splitlines()}
    assert {"calc", "numpy", "pandas"} <= imported
    assert not imported & {"streamlit", "altair", "views", "refresh", "validation", "benchmarks"}
    assert done.stdout.startswith("usage: python -m calc ")


@pytest.mark.long
def test_a_reader_that_stops_early_is_no_fault():
    """The table is longer than what a pipe holds, so that writing it fails once the reader has
    gone.
    """
    command = f"{sys.executable} -m calc | head -c 10; exit ${{PIPESTATUS[0]}}"
    lines = "model,owner\n" + "gpt2,me\n" * 300
    done = subprocess.run(
        ["bash", "-c", command], input=lines.encode(), capture_output=True, cwd=ROOT
    )
    assert (done.stdout, done.stderr, done.returncode) == (b"owner,scen", b"", 0)


def test_a_config_becomes_a_model_by_the_name_of_its_file_and_never_replaces_one_of_the_catalog(
    tmp_path, capsys
):
    (folder := tmp_path / "configs").mkdir()
    for name in ("my-model", "gpt2"):
        (folder / f"{name}.json").write_text(json.dumps(LLAMA), encoding="utf-8-sig")
    (tmp_path / "in.csv").write_text("model\nmy-model\ngpt2\n")
    block = 64 * 64 * 2 + 64 * 32 * 2 + 3 * 64 * 128 + 2 * 64
    small = str(2 * 64 * 1000 + 64 + 2 * block)
    table, result = str(tmp_path / "in.csv"), str(tmp_path / "out.csv")
    assert main([table, "-o", result, "--model-config", str(folder / "my-model.json")]) == 0
    rows = written(tmp_path / "out.csv")
    assert [row["parameters"] for row in rows] == [small, "124439808"]
    assert [row["problem"] for row in rows] == ["", ""]
    assert main([table, "-o", result, "--model-config", str(folder)]) == 2
    assert "already has a model 'gpt2'" in capsys.readouterr().err


def test_an_empty_folder_and_a_place_that_cannot_be_written(scenarios, tmp_path, capsys):
    (tmp_path / "configs").mkdir()
    assert main([str(scenarios), "--model-config", str(tmp_path / "configs")]) == 2
    assert main([str(scenarios), "-o", str(tmp_path / "no" / "out.csv")]) == 2
    assert main([str(tmp_path)]) == 2
    assert capsys.readouterr().err.replace(str(tmp_path), "TMP").splitlines() == [
        "TMP/configs: there is no *.json in this folder; put config.json files there.",
        "TMP/no/out.csv: No such file or directory; check the path.",
        "TMP: Is a directory; check the path.",
    ]


JOBS = """job,model,method,work,instance,instances_most,users,team
first,llama-3.2-1b,,,p4d.24xlarge+g6e.xlarge,1,,a
second,nope,,,,,,b
third,llama-3.1-8b,,inference,g6e.12xlarge,1,5,c
"""


@pytest.fixture
def jobs(tmp_path):
    path = tmp_path / "jobs.csv"
    path.write_text(JOBS, encoding="utf-8")
    return path


def test_answers_are_those_of_python_and_estimate_reads_them_again(jobs, tmp_path):
    assert main(["answer", str(jobs), "-o", str(tmp_path / "answers.csv")]) == 0
    rows = written(tmp_path / "answers.csv")
    assert list(dict.fromkeys(row["job"] for row in rows)) == ["first", "second", "third"]
    assert {row["team"] for row in rows if row["job"] == "third"} == {"c"}
    assert rows[0]["answer"].startswith("least-money")
    bad = next(row for row in rows if row["job"] == "second")
    assert bad["problem"].startswith("model 'nope' is not in the catalog; ")
    assert (bad["answer"], bad["usd"], bad["model"]) == ("", "", "")
    assert main([str(tmp_path / "answers.csv"), "-o", str(tmp_path / "again.csv")]) == 0
    again = written(tmp_path / "again.csv")
    for row, other in (pair for pair in zip(rows, again, strict=True) if pair[0]["answer"]):
        assert {
            name for name in row if row[name] != other[name] and not name.startswith("max_")
        } == set()
    expected = answer(list(csv.DictReader(JOBS.splitlines())), catalogs())
    assert [row["why"] for row in rows] == expected["why"].tolist()
    assert [float(row["usd"] or "nan") for row in rows] == pytest.approx(
        expected["usd"].tolist(), rel=0, abs=0, nan_ok=True
    )


@pytest.mark.long
def test_chunks_and_added_models(jobs, tmp_path, monkeypatch, capsys):
    (tmp_path / "mine.json").write_text(json.dumps(LLAMA), encoding="utf-8")
    with jobs.open("a", encoding="utf-8") as stream:
        stream.write("fourth,mine,,,g6e.xlarge,1,,\n")
    command = ["answer", str(jobs), "--model-config", str(tmp_path / "mine.json")]
    assert main(command) == 0
    answers = capsys.readouterr().out
    assert answers.count("fourth,") >= 1
    monkeypatch.setattr("calc.commands.answer.CHUNK_JOBS", 1)
    assert main(command) == 0
    assert capsys.readouterr().out == answers


# Bytes as text, each its own character; null: no such file.
UNUSABLE = recorded("cases/command_line.json")["unusable"]


@pytest.mark.parametrize(
    ("command", "name", "content", "sentence"), UNUSABLE.values(), ids=UNUSABLE
)
def test_an_unusable_file_ends_with_2_and_one_sentence(
    command, name, content, sentence, scenarios, tmp_path, capsys
):
    if content is not None:
        (tmp_path / name).write_bytes(content.encode("latin-1"))
    files = (
        [str(tmp_path / name)]
        if name.endswith(".csv")
        else [str(scenarios), "--model-config", str(tmp_path / name)]
    )
    assert main([*command, *files, "-o", str(tmp_path / "out.csv")]) == 2
    written_out, error = capsys.readouterr()
    assert error.removeprefix(f"{tmp_path}/").startswith(sentence)
    assert (written_out, error[-2:], error.count("\n")) == ("", ".\n", 1)
    assert not (tmp_path / "out.csv").exists()


def test_an_installed_headroom_has_its_entry_point_and_every_data_file():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    module, _, function = project["project"]["scripts"]["headroom"].partition(":")
    assert callable(getattr(importlib.import_module(module), function))
    endings = {
        path.suffix
        for room in ("calc", "catalogs", "views", "shelf")
        for path in (ROOT / room).rglob("*")
        if path.is_file() and path.suffix not in (".py", ".pyc", ".md")
    }
    patterns = project["tool"]["setuptools"]["package-data"]["*"]
    assert endings <= {pattern.removeprefix("*") for pattern in patterns}


def test_each_command_says_what_it_takes(capsys):
    for name, command in COMMANDS.items():
        with pytest.raises(SystemExit) as ended:
            main([name, "--help"])
        printed = " ".join(capsys.readouterr().out.split())
        assert ended.value.code == 0
        assert command.purpose in printed
        assert "--model-config" in printed
