"""Data sets of any form: how many examples there are, and how long they are."""

import io
import json

import numpy as np
import pandas as pd
import pytest

from calc.__main__ import main
from calc.files.configs.problem import ConfigProblem
from calc.files.data_sets import data_set, padding, tokens_in

CHATS = [
    {
        "messages": [
            {"role": "user", "content": "a" * 40 * n},
            {"role": "assistant", "content": "b" * 80},
        ]
    }
    for n in (1, 2, 3, 4)
]
ALPACA = [{"instruction": "i" * 20, "input": "", "output": "o" * 60, "id": 1}] * 3
PAIRS = [{"prompt": "p" * 40, "chosen": "c" * 40, "rejected": "r" * 80}] * 2


def lines(rows):
    return "\n".join(map(json.dumps, rows)).encode()


def parquet(rows):
    target = io.BytesIO()
    pd.DataFrame(rows).to_parquet(target)
    return target.getvalue()


@pytest.mark.parametrize(
    ("name", "content", "examples", "tokens"),
    [
        ("chats.jsonl", lines(CHATS), 4, [38, 48, 58, 68]),  # a quarter of characters, 4 a message
        ("alpaca.json", json.dumps(ALPACA).encode(), 3, [20, 20, 20]),
        ("alpaca.parquet", parquet(ALPACA), 3, [20, 20, 20]),
        ("alpaca.csv", pd.DataFrame(ALPACA).to_csv(index=False).encode(), 3, [20, 20, 20]),
        ("alpaca.tsv", pd.DataFrame(ALPACA).to_csv(index=False, sep="\t").encode(), 3, [20] * 3),
        ("pairs.jsonl", lines(PAIRS), 2, [20, 30, 20, 30]),
        ("broken.ndjson", lines(ALPACA) + b"\n{cut of", 3, [20, 20, 20]),
    ],
)
def test_the_examples_of_a_data_set_have_their_lengths(name, content, examples, tokens):
    data = data_set(name, content)
    assert data.examples == examples
    assert data.tokens.tolist() == tokens


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("plan.csv", b"model,text\nqwen3-8b,a\nqwen3-8b,b\n"),
        ("log.jsonl", lines([{"loss": 1.0, "step": 1}, {"loss": 0.9, "step": 2}])),
        ("config.json", b'{"model_type": "llama", "text": "a"}'),
        ("one.jsonl", lines(CHATS[:1])),
        ("words.jsonl", b"not json\nat all"),
        ("list.json", b'["a", "b"]'),
        ("empty.csv", b""),
        ("run.yaml", b"text: a"),
    ],
)
def test_other_files_are_no_data_sets(name, content):
    assert data_set(name, content) is None


def test_a_file_that_is_only_called_parquet_is_refused_in_a_sentence():
    with pytest.raises(ConfigProblem, match="cannot be read as Parquet"):
        data_set("data.parquet", b"PAR1 and no more")


def test_padding_is_what_the_longest_of_a_batch_leaves():
    longest, share = padding(np.array([10.0, 20.0]), 2)
    assert longest == 40
    assert share == pytest.approx(0.25)
    assert padding(np.array([5.0, 5.0, 5.0]), 2) == (10.0, 0.0)


@pytest.mark.parametrize(
    ("text", "tokens"), [("abcd" * 5, 5), ("\u6f22\u5b57\u6f22", 2), ("\u0434" * 5, 2)]
)
def test_each_script_has_its_characters_a_token(text, tokens):
    assert tokens_in(text) == tokens


@pytest.mark.long
@pytest.mark.usefixtures("read_once")
def test_a_data_set_makes_the_amount_of_a_job_and_of_a_run(tmp_path, capsys):
    data, config = tmp_path / "chats.jsonl", tmp_path / "axolotl.yml"
    data.write_bytes(lines(CHATS))
    config.write_text(
        "base_model: Qwen/Qwen3-8B\nadapter: lora\nlora_r: 16\nsequence_len: 50\n"
        "micro_batch_size: 2\nnum_epochs: 3\ndatasets: [{path: chats.jsonl}]\n"
    )
    assert main(["show", str(data)]) == 3
    asked = capsys.readouterr()
    assert "4 examples, 212 tokens" in asked.out
    assert "Which model" in asked.err
    assert main(["show", str(data), "--model", "qwen3-8b", "--method", "lora", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["estimate"]["sequence_tokens"] == 68
    assert main(["show", f"{config}+{data}", "--gpu", "l4", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    cut = 38 + 48 + 50 + 50  # at the run's own length
    assert told["scenario"]["train_tokens"] == 3 * cut
    assert not any("amount of work" in line for line in told["lines"])
