"""Plain words as a job, and one estimate as text: what is read is set, what is not read is said,
and both ask the same engine.
"""

import json

import pytest
from examples import catalogs, recorded

from calc.__main__ import main
from calc.answers.full_answer import full_answer as options
from calc.commands.sheet import sheet
from calc.files.request import PASTED, answered, job_of_columns, request_of
from calc.files.words.read import read_words, vocabulary
from calc.job.columns import JOB_BY_NAME
from calc.job.fields import JOB
from calc.scenarios.inputs import inputs_by_name

pytestmark = pytest.mark.usefixtures("read_once")
LORA = "llama-3.1-8b lora on g6e.xlarge"
FILES = (
    "model_name_or_path: gpt2\nmax_length: 512\nper_device_train_batch_size: 4\n",
    "vllm serve openai-community/gpt2 --max-model-len 512",
)


def pasted(text, **columns):
    return request_of([(PASTED, text.encode())], catalogs(), columns)


def lines(text, **columns):
    request = pasted(text, **columns)
    return sheet(answered(request), request)


@pytest.mark.parametrize(("text", "columns", "remark"), recorded("cases/words.json"))
def test_words_set_these_columns_and_the_rest_is_named(text, columns, remark):
    worded = read_words(text, catalogs())
    assert (worded.columns, f"{worded.question} {worded.remark}".strip()) == (columns, remark)


def test_the_vocabulary_names_columns_that_there_are():
    sizes = {"layers", "hidden", "heads", "kv_heads", "ffn", "vocab"}
    named = {entry["column"] for entry in vocabulary()["amounts"]}
    named |= {
        name
        for kind in ("amounts", "phrases")
        for entry in vocabulary()[kind]
        for name in entry.get("sets", {})
    }
    assert named - sizes <= {*inputs_by_name(), *JOB_BY_NAME, *JOB}


def test_no_word_is_dropped():
    """Every word is in a phrase that was read, is silent, or is named as not understood."""
    text = "zyx qwen3 32b quux for 20 people, plugh"
    worded = read_words(text, catalogs())
    silent = set(vocabulary()["silent"].split())
    accounted = " ".join((*worded.read, *worded.unread))
    assert [
        word
        for word in text.replace(",", "").split()
        if word not in silent and word not in accounted
    ] == []
    assert worded.remark == "Not understood, and left out: 'zyx', 'quux', 'plugh'."


def test_two_values_of_one_column_are_not_guessed_between():
    assert read_words("llama-3.1-8b lora batch 2 batch 4", catalogs()).unread == ["'batch 4'"]


def test_words_are_answered_by_the_ranked_table():
    request = pasted(LORA)
    row = answered(request).row
    best = options(job_of_columns(request.columns), catalogs()).rows[0]
    assert [row[name] for name in ("instance", "batch", "memory_bytes", "usd")] == [
        best[name] for name in ("instance", "batch", "memory_bytes", "usd")
    ]
    assert (row["instance"], row["tuning"], row["fits"]) == ("g6e.xlarge", "lora", "yes")


def test_columns_are_estimated_as_they_stand(capsys):
    assert main(["show", "--model", "gpt2", "--batch=2", "--instance", "g6.xlarge", "--json"]) == 0
    estimate = json.loads(capsys.readouterr().out)["estimate"]
    assert [estimate[name] for name in ("model", "batch", "instance", "sequence_tokens")] == [
        "gpt2",
        2,
        "g6.xlarge",
        1024,
    ]


@pytest.mark.parametrize(
    "text", [LORA, "qwen3 32b for 20 people", "dpo of gpt2 with trl on g6.xlarge zyx", *FILES]
)
def test_an_estimate_has_twenty_lines_at_most(text):
    assert 3 <= len(lines(text)) <= 20


def test_the_lines_have_components_peak_card_verdict_time_money_and_changes():
    text = "\n".join(lines(LORA))
    for words in (
        "Memory: ",
        ": fits ",
        "  Weights ",
        "Peak: backward",
        "Card: ",
        "Time: ",
        "Money: about $",
        "Change: ",
        "Assumed: 150,000,000",
    ):
        assert words in text


def test_a_config_json_is_a_model_and_files_are_a_run(tmp_path, capsys):
    config = {
        "architectures": ["LlamaForCausalLM"],
        "model_type": "llama",
        "hidden_size": 1024,
        "num_hidden_layers": 8,
        "num_attention_heads": 16,
        "num_key_value_heads": 8,
        "intermediate_size": 4096,
        "vocab_size": 32000,
    }
    (tmp_path / "ours.json").write_text(json.dumps(config), encoding="utf-8")
    assert main(["show", str(tmp_path / "ours.json"), "--instance", "g6.xlarge"]) == 0
    assert "Memory: " in capsys.readouterr().out
    served = lines(FILES[1], instance="g6.xlarge")
    assert served[0].startswith("Understood: ")
    assert any(line.startswith("Serve GPT-2, 1 request at once") for line in served)


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["lora", "on", "an", "L4"], "No model is named"),
        (["llama 8b lora"], "'llama 8b' may be llama-3-8b, llama-3.1-8b: name one of them."),
        (["CUDA out of memory. Tried to allocate 2.00 GiB"], "This is an error or a log"),
    ],
)
def test_what_cannot_be_shown_is_one_sentence(capsys, words, sentence):
    assert main(["show", *words]) == 2
    assert capsys.readouterr().err.startswith(sentence)
