"""`python -m calc answer`: jobs in, answers out, which `python -m calc` reads again and gives the same figures."""

import csv
import json

import pytest
from examples import catalogs, written

from calc import answer
from calc.__main__ import main

pytestmark = pytest.mark.usefixtures("read_once")

JOBS = """job,model,method,work,instance,instances_most,users,team
first,llama-3.2-1b,,,p4d.24xlarge+g6e.xlarge,1,,a
second,nope,,,,,,b
third,llama-3.1-8b,,inference,g6e.12xlarge,1,5,c
"""
LLAMA = {"model_type": "llama", "hidden_size": 64, "num_hidden_layers": 2, "num_attention_heads": 4}
LLAMA |= {"intermediate_size": 128, "vocab_size": 1000, "num_key_value_heads": 2, "tie_word_embeddings": False}


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
        assert {name for name in row if row[name] != other[name] and not name.startswith("max_")} == set()
    expected = answer(list(csv.DictReader(JOBS.splitlines())), catalogs())
    assert [row["why"] for row in rows] == expected["why"].tolist()
    assert [float(row["usd"] or "nan") for row in rows] == pytest.approx(expected["usd"].tolist(), rel=0, abs=0, nan_ok=True)


def test_chunks_and_added_models(jobs, tmp_path, monkeypatch, capsys):
    (tmp_path / "mine.json").write_text(json.dumps(LLAMA), encoding="utf-8")
    with jobs.open("a", encoding="utf-8") as stream:
        stream.write("fourth,mine,,,g6e.xlarge,1,,\n")
    given = ["--model-config", str(tmp_path / "mine.json")]
    assert main(["answer", str(jobs), *given]) == 0
    whole = capsys.readouterr().out
    assert whole.count("fourth,") >= 1
    monkeypatch.setattr("calc.__main__.CHUNK_JOBS", 1)
    assert main(["answer", str(jobs), *given]) == 0
    assert capsys.readouterr().out == whole


UNUSABLE = {
    "no file": (None, "jobs.csv: No such file or directory; check the path."),
    "no model": ("job,users\na,1\n", "jobs.csv has no column 'model' (its columns: job, users); the first line "),
    "capitals": ("model,Hours most\ngpt2,1\n", "The column 'Hours most' would not be read; write its name as hours_most."),
    "twice": ("model,users,users\ngpt2,1,2\n", "The column 'users' stands twice in the table; keep one of them."),
}


@pytest.mark.parametrize("fault", UNUSABLE)
def test_an_unusable_table_ends_with_2_and_one_sentence(fault, tmp_path, capsys):
    content, sentence = UNUSABLE[fault]
    if content is not None:
        (tmp_path / "jobs.csv").write_text(content, encoding="utf-8")
    assert main(["answer", str(tmp_path / "jobs.csv"), "-o", str(tmp_path / "out.csv")]) == 2
    said = capsys.readouterr()
    assert said.err.removeprefix(f"{tmp_path}/").startswith(sentence)
    assert said.err.count("\n") == 1
    assert not (tmp_path / "out.csv").exists()
