"""`python -m calc`: a table in, the same rows with their results out; 0, or 2 with one sentence on standard error."""

import csv
import io
import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from examples import at_random, catalogs, written

from calc import estimate
from calc.__main__ import main
from calc.scenarios.inputs import INPUTS

pytestmark = pytest.mark.usefixtures("read_once")

ROOT = Path(__file__).resolve().parent.parent
TABLE = "scenario,model,batch,owner\nfirst,gpt2,2,me\nsecond,nope,,you\nthird,llama-3.2-1b,x,\n"
LLAMA = {"model_type": "llama", "hidden_size": 64, "num_hidden_layers": 2, "num_attention_heads": 4}
LLAMA |= {"intermediate_size": 128, "vocab_size": 1000, "num_key_value_heads": 2, "tie_word_embeddings": False}


def run(*arguments, given=b""):
    """The command in a process of its own, as people run it."""
    return subprocess.run([sys.executable, "-m", "calc", *arguments], input=given, capture_output=True, cwd=ROOT)


@pytest.fixture
def scenarios(tmp_path):
    path = tmp_path / "scenarios.csv"
    path.write_text(TABLE, encoding="utf-8")
    return path


def test_every_row_is_there_in_order_with_inputs_defaults_and_results_and_goes_in_again(scenarios, tmp_path):
    assert main([str(scenarios), "-o", str(tmp_path / "out.csv")]) == 0
    rows = written(tmp_path / "out.csv")
    assert [[row[name] for name in ("scenario", "owner", "sequence_tokens", "batch")] for row in rows] == [
        *(["first", "me", "1024", "2"], ["second", "you", "2048", "1"], ["third", "", "2048", "x"])
    ]
    assert [bool(row["memory_bytes"]) for row in rows] == [True, False, False]
    assert rows[1]["problem"].startswith("model 'nope' is not in the catalog; ")
    assert rows[2]["problem"].startswith("batch 'x' is not a whole number")
    assert {column.name for column in INPUTS} <= set(rows[0])
    assert main([str(tmp_path / "out.csv"), "-o", str(tmp_path / "again.csv")]) == 0
    assert (tmp_path / "again.csv").read_bytes() == (tmp_path / "out.csv").read_bytes()


def test_the_numbers_are_those_of_python(tmp_path):
    table = at_random(60, seed=11).astype(object).where(lambda frame: frame.notna(), "")
    table.to_csv(tmp_path / "in.csv", index=False)
    assert main([str(tmp_path / "in.csv"), "-o", str(tmp_path / "out.csv")]) == 0
    results = pd.read_csv(tmp_path / "out.csv")
    expected = estimate(table, catalogs())
    wanted = [name for name in expected if expected[name].dtype.kind == "f" and expected[name].notna().any()]
    np.testing.assert_array_equal(results[wanted].to_numpy(float), expected[wanted].to_numpy(float))


def test_standard_input_and_output_and_nothing_else(monkeypatch, capsys):
    done = run(given=TABLE.encode())
    assert (done.returncode, done.stderr) == (0, b"")
    rows = list(csv.DictReader(io.StringIO(done.stdout.decode("utf-8"))))
    assert [row["scenario"] for row in rows] == ["first", "second", "third"]
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(TABLE.encode())))
    assert main(["-"]) == 0
    assert capsys.readouterr().out.splitlines() == done.stdout.decode("utf-8").splitlines()


def test_neither_streamlit_nor_altair_is_imported():
    asked = [sys.executable, "-X", "importtime", "-m", "calc", "--help"]
    done = subprocess.run(asked, capture_output=True, cwd=ROOT, text=True)
    imported = {line.rsplit("|", 1)[-1].strip().split(".")[0] for line in done.stderr.splitlines()}
    assert {"calc", "numpy", "pandas"} <= imported
    assert not imported & {"streamlit", "altair", "views", "refresh", "validation", "benchmarks"}
    assert done.stdout.startswith("usage: python -m calc ")


def test_a_header_alone_gives_a_header_alone(tmp_path):
    (tmp_path / "in.csv").write_text("model,batch\n")
    assert main([str(tmp_path / "in.csv"), "-o", str(tmp_path / "out.csv")]) == 0
    assert written(tmp_path / "out.csv") == []


def test_a_reader_that_stops_early_is_no_fault():
    """The table is longer than what a pipe holds, so that writing it fails once the reader has gone."""
    command = f"{sys.executable} -m calc | head -c 10; exit ${{PIPESTATUS[0]}}"
    lines = "model,owner\n" + "gpt2,me\n" * 300
    done = subprocess.run(["bash", "-c", command], input=lines.encode(), capture_output=True, cwd=ROOT)
    assert (done.stdout, done.stderr, done.returncode) == (b"owner,scen", b"", 0)


def test_a_config_becomes_a_model_by_the_name_of_its_file(tmp_path):
    (tmp_path / "my-model.json").write_text(json.dumps(LLAMA))
    (tmp_path / "in.csv").write_text("model\nmy-model\ngpt2\n")
    asked = [str(tmp_path / "in.csv"), "-o", str(tmp_path / "out.csv")]
    assert main([*asked, "--model-config", str(tmp_path / "my-model.json")]) == 0
    mine, known = written(tmp_path / "out.csv")
    block = 64 * 64 * 2 + 64 * 32 * 2 + 3 * 64 * 128 + 2 * 64
    assert mine["parameters"] == str(2 * 64 * 1000 + 64 + 2 * block)
    assert mine["problem"] == known["problem"] == ""


def test_a_folder_of_configs_and_an_id_that_the_catalog_has_too(tmp_path):
    (folder := tmp_path / "configs").mkdir()
    for name in ("a", "gpt2"):
        (folder / f"{name}.json").write_text(json.dumps(LLAMA), encoding="utf-8-sig")
    (tmp_path / "in.csv").write_text("model\na\ngpt2\n")
    assert main([str(tmp_path / "in.csv"), "-o", str(tmp_path / "out.csv"), "--model-config", str(folder)]) == 0
    first, second = written(tmp_path / "out.csv")
    assert first["parameters"] == second["parameters"]
    assert main([str(tmp_path / "in.csv"), "-o", str(tmp_path / "plain.csv")]) == 0
    assert written(tmp_path / "plain.csv")[1]["parameters"] == "124439808"


UNUSABLE = {  # test_export.py has every kind of file that is no table
    "no table": ("in.csv", None, "in.csv: No such file or directory; check the path."),
    "no model": ("in.csv", b"name,batch\ngpt2,1\n", "in.csv has no column 'model' (its columns: name, batch); the first line "),
    "long row": ("in.csv", b"model\ngpt2,1\n", "in.csv is not a CSV table (Expected 1 fields in line 2, saw 2); give every "),
    "capitals": ("in.csv", b"model,Batch\ngpt2,1\n", "The column 'Batch' would not be read; write its name as batch."),
    "no config": ("my.json", None, "my.json: No such file or directory; check the path."),
    "no JSON": ("my.json", b"{", "my: this is not JSON (line 1); give a config.json as the hub has it."),
    "no UTF-8": ("my.json", b"\xff\xfe", "my.json is not UTF-8 text (byte 0); give a config.json."),
    "a list": ("my.json", b"[]", "my: this is no config; give a JSON object with a model_type."),
    "no type": ("my.json", b"{}", "my: model_type is missing; give the config.json of a model."),
    "another type": ("my.json", b'{"model_type": "rwkv"}', "my: model_type rwkv is not covered"),
}


@pytest.mark.parametrize("fault", UNUSABLE)
def test_an_unusable_table_or_config_ends_with_2_and_one_sentence(fault, scenarios, tmp_path, capsys):
    name, content, sentence = UNUSABLE[fault]
    if content is not None:
        (tmp_path / name).write_bytes(content)
    given = [str(tmp_path / name)] if name == "in.csv" else [str(scenarios), "--model-config", str(tmp_path / name)]
    assert main([*given, "-o", str(tmp_path / "out.csv")]) == 2
    said = capsys.readouterr()
    assert said.err.removeprefix(f"{tmp_path}/").startswith(sentence)
    assert (said.out, said.err[-2:], said.err.count("\n")) == ("", ".\n", 1)
    assert not (tmp_path / "out.csv").exists()


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


def test_an_unknown_option_ends_with_2(capsys):
    with pytest.raises(SystemExit) as stopped:
        main(["--colour", "red"])
    assert stopped.value.code == 2
    assert "unrecognized arguments: --colour" in capsys.readouterr().err
