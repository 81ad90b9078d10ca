"""Plain words as a job: what is read is set, what is open is asked, and both ask the same engine.

`published/requests.csv` has requests as people type them, with the columns that each one says
(written on 2026-11-28 after the manner of public issues, forums and guides).
"""

import csv
import json
import re
from pathlib import Path

import pytest
from examples import SMALL_LLAMA, catalogs

from calc import read_request
from calc.__main__ import main
from calc.answers.full_answer import full_answer
from calc.commands.sheet import sheet
from calc.files.request import PASTED, request_of
from calc.files.request_answer import answer_request, job_of_request
from calc.files.request_job import job_of_columns

pytestmark = pytest.mark.usefixtures("read_once")
REQUESTS = Path(__file__).parents[1] / "published" / "requests.csv"
LORA = "llama-3.1-8b lora on g6e.xlarge, 50k examples of 1000 tokens, 3 epochs"
FILES = (
    "model_name_or_path: gpt2\nmax_length: 512\nper_device_train_batch_size: 4\n",
    "vllm serve openai-community/gpt2 --max-model-len 512",
)
SCALES = {"k": 1e3, "m": 1e6, "b": 1e9, "t": 1e12}
# Columns whose value is a plain number or id, and which no other column stands for.
COMPARED = ("model", "goal", "method", "gpu", "users", "people", "examples", "epochs")
COMPARED += ("prompt_tokens", "answer_tokens", "lora_rank", "batch", "objective")
LEAST_RIGHT_RATIO, MOST_OPEN_RATIO = 0.8, 0.2


def requests():
    with REQUESTS.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def said_of(row):
    """Column -> the values that the request may mean, of columns with plain values."""
    pairs = [part.strip().partition("=") for part in row["columns"].split(";") if "=" in part]
    plain = re.compile(r"[\w.|-]+")
    return {
        name: value.split("|")
        for name, _, value in pairs
        if name in COMPARED and plain.fullmatch(value)
    }


def same(value, wanted):
    """Whether a value is the wanted one; 8k is 8,000 or 8,192."""
    one = value[0] if isinstance(value, list) and len(value) == 1 else value
    if str(one) == wanted:
        return True
    match = re.fullmatch(r"(\d+(?:\.\d+)?)([kmbt]?)", wanted)
    if not match or not isinstance(one, int | float):
        return False
    number = float(match[1]) * SCALES.get(match[2], 1)
    return one in (number, float(match[1]) * 1024 if match[2] == "k" else number)


def test_of_requests_as_people_type_them_none_is_misread_and_most_are_read():
    misread, is_open, rows = [], 0, requests()
    for row in rows:
        understood = read_request(row["text"], catalogs())
        asks = bool(understood.questions or understood.problem)
        is_open += asks and not (row["asks"] or row["refuses"])
        wrong = {
            name: understood.columns[name]
            for name, wanted in said_of(row).items()
            if name in understood.columns
            and not any(same(understood.columns[name], one) for one in wanted)
        }
        lost = {
            name
            for name in said_of(row).keys() & {"model", "goal", "examples", "users"}
            if not asks and not row["refuses"] and name not in understood.columns
        }
        if wrong or lost:
            misread.append((row["id"], row["text"], wrong, lost))
        if row["refuses"] and not asks:
            misread.append((row["id"], row["text"], understood.columns, "not refused"))
    assert misread == []
    assert is_open / len(rows) <= MOST_OPEN_RATIO


@pytest.mark.parametrize(
    ("text", "columns"),
    [
        ("serve qwen3-32b, 8 concurrent requests, 2k in / 500 out", {"users": 8}),
        ("llama-3.1-8b, 20 million tokens in 3 days, full fine-tuning", {"hours_most": 72}),
        ("LoRA of llama-3.1-8b, rank 32, 10k examples of 500 tokens", {"examples": 10_000}),
        ("two nodes, 8 gpus each, H100: pretrain llama-3.1-8b on 1T tokens", {"gpus": 16}),
        ("serve qwen3-8b, prompt 4k, answer 200, 16 users at once", {"prompt_tokens": 4096}),
        ("serve qwen3-8b, 1_200 requests/min, 500 in, 100 out", {"requests_per_second": 20}),
        ("qwen3-8b, ttft p99 < 1.5 s, 20 users", {"first_token_seconds": 1.5}),
        ("qwen3-8b, ttft p99 < 1.5 s, 20 users", {"first_token_percentile": "99"}),
        ("embed 5M documents of 300 tokens with bge-m3", {"prompt_tokens": 300}),
        ("qwen2.5-vl-7b, 5 requests/s, one 1080p image each", {"images_per_sequence": 1}),
        ("qwen2.5-vl-7b, 5 requests/s, 1920x1080 images", {"tokens_total": None}),
        ("grpo of qwen3-4b, 64 prompts a step, 16 generations", {"prompts_per_step": 64}),
        ("lora of qwen3-8b, 10M tokens, 4 H100, 100 GPU hours", {"gpu_hours_most": 100}),
        ("tune qwen2.5-vl-7b on 15k images with 300 tokens of text each", {"example_tokens": 300}),
        (
            "we run llama 3.3 70b today (2 x p4d, $40k a month).\nNext: 45 users at once",
            {"model": "llama-3.3-70b", "users": 45, "instance": None, "usd_most": None},
        ),
        ("8-bit lora of llama-3.1-8b on an l4", {"precision": "int8", "fewest_bits": None}),
        ("llama-3.1-8b lora, load_in_4bit, on an l4", {"method": "qlora"}),
        ("full tuning of llama-3.1-70b by torchtune with cpu offload", {"offload": "states"}),
        ("full tuning of llama-3.1-8b, zero 3, cpu offload", {"offload": "optimizer"}),
        ("serve gemma-3-27b on an A40", {"have": "1 x a40"}),
        ("serve llama-3.1-8b on a 4070 ti super", {"have": "1 x rtx-4070-ti-super"}),
        ("serve llama-3.1-8b on a rtx 4070", {"have": "1 x rtx-4070"}),
        ("llama-3.3-70b, 500M tokens a month, bedrock?", {"requests_per_second": 0.124}),
        ("llama-3.3-70b, 500M tokens a month", {"requests_per_second": None}),
        ("serve mistral medium to 20 users at once", {"model": None, "users": 20}),
        ("serve qwen3-110b to 20 users at once", {"model": None, "users": 20}),
        (
            "embed 10M documents of 500 tokens with bge-m3",
            {"tokens_total": "5000000000", "prompt_tokens": 500},
        ),
        ("whisper-small, we have 300 hours of court recordings, in 12h", {"hours_most": 12}),
        ("qwen3-8b eval, 8 suites with 500 questions each, 300 in", {"requests_total": 4000}),
        ("gemma-3-4b: label 90k emails of 700 tokens between 1 and 5 am", {"hours_most": 4}),
        ("embed 6M tokens with embeddinggemma", {"model": "embeddinggemma-300m"}),
        ("1M requests, qwen3-8b, 2k context in, 150 out", {"prompt_tokens": 2048}),
        ("serve qwen3-8b to 30 users, context up to 32k", {"usd_most": None}),
        ("serve qwen3-8b to 30 users, we may pay up to 900 dollars", {"usd_most": 900}),
        ("qwen3-8b, 99% of first tokens within 1 s, 5 rps", {"first_token_percentile": "99"}),
        (
            "no one waits longer than 9 s for an answer of 300 tokens, qwen3-8b, 30 at once",
            {"request_seconds": 9, "answer_tokens": 300},
        ),
        ("serve phi-4 with one hot standby, 12 rps", {"spare": 1}),
        ("serve phi-4 by sglang to 40 people", {"inference_engine": "sglang"}),
        (
            "the same 2,000 token instructions, then 300 tokens, qwen3-8b, 120 out, 5 rps",
            {"shared_prompt_tokens": 2000, "prompt_tokens": 2300},
        ),
        ("serve phi-4, max_concurrency 128", {"users": 128}),
    ],
)
def test_numbers_land_in_their_columns(text, columns):
    found = read_request(text, catalogs()).columns
    assert {name: found.get(name) for name in columns} == columns


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("serve llama-3.1-70b, no p4d", "p4d"),
        ("fine-tune llama-3.1-8b without spot", "spot"),
        ("serve qwen3-8b, but not in the us", "us"),
    ],
)
def test_what_is_ruled_out_is_never_set(text, word):
    understood = read_request(text, catalogs())
    assert understood.columns.get("markets") != ["spot"]
    chosen = {name: value for name, value in understood.columns.items() if name != "excludes"}
    instances = chosen.get("instance", [])
    assert not [one for one in instances if str(one).startswith(word)]


def test_each_column_knows_the_words_that_it_came_from():
    text = "qwen3 32b for 20 people"
    understood = read_request(text, catalogs())
    assert understood.words["model"] == "qwen3 32b"
    assert all(words in text for name, words in understood.words.items() if name != "goal")


@pytest.mark.parametrize(
    "text", ["gpt-4o for 20 users", "serve llama-3.1-8b on a tpu v5e", "qwen3 8b on my macbook m3"]
)
def test_what_cannot_be_planned_is_refused_with_what_to_ask_instead(text):
    understood = read_request(text, catalogs())
    assert understood.problem.startswith("You wrote")
    assert understood.problem.endswith(".")


@pytest.mark.sample(2)
@pytest.mark.parametrize(
    ("text", "lines"),
    [
        (
            "full fine-tune llama-3.1-8b, p4d or p5",
            ("Compared: 1 × p4d.24xlarge $", "p5.48xlarge $"),
        ),
        (
            "serve llama-3.1-8b to 9 users on L4 or A10G",
            ("Compared: 1 × g6.xlarge $", "g5.xlarge $"),
        ),
        ("llama-3.3-70b or bedrock, 500M tokens a month", ("Bedrock: $", "167 million generated")),
        (
            "serve qwen3-8b, bedrock, 2M tokens a day",
            ("bedrock (no price of qwen3-8b by the token",),
        ),
    ],
)
def test_what_a_text_compares_stands_side_by_side(capsys, text, lines):
    assert main(["show", text]) == 0
    printed = capsys.readouterr().out
    assert [line for line in lines if line not in printed] == []


def test_a_number_that_is_not_understood_is_asked_about_and_nothing_is_priced(capsys):
    assert main(["show", "serve qwen3-8b with 17 frobs for 20 people"]) == 3
    printed = capsys.readouterr()
    assert "17" in printed.err
    assert "$" not in printed.out
    assert main(["show", "--assume", "serve qwen3-8b with 17 frobs for 20 people"]) == 0
    (line,) = [one for one in capsys.readouterr().out.split("\n") if "not counted" in one]
    assert "17" in line


def pasted(text, **columns):
    return request_of([(PASTED, text.encode())], catalogs(), columns)


def lines(text, **columns):
    request = pasted(text, **columns)
    return sheet(answer_request(request), request)


def test_the_number_of_cards_that_is_asked_for_is_not_taken_as_one():
    """Nobody rents such a card, so that no search finds how many."""
    asked = read_request("how many H20 do I need to serve deepseek-r1", catalogs())
    (question,) = asked.questions
    assert (question.column, question.choices[0]) == ("have", "2 x h20")
    assert "have" not in asked.columns
    named = read_request("serve deepseek-r1 on at most 16 H20 GPUs", catalogs())
    assert (named.columns["have"], named.questions) == ("16 x h20", ())


def test_words_are_answered_by_the_ranked_table():
    request = pasted(LORA)
    row = answer_request(request).row
    best = full_answer(job_of_columns(request.columns, catalogs()), catalogs()).rows[0]
    assert [row[name] for name in ("instance", "batch", "memory_bytes", "usd")] == [
        best[name] for name in ("instance", "batch", "memory_bytes", "usd")
    ]
    assert (row["instance"], row["tuning"], row["fits"]) == ("g6e.xlarge", "lora", "yes")


@pytest.mark.long
@pytest.mark.parametrize(
    "columns",
    [
        {"goal": "train", "model": "llama-3.2-1b", "train_tokens": "2e10", "hours_most": "336"},
        {"model": "qwen2.5-7b", "objective": "dpo", "examples": "6000", "example_tokens": "1200"},
        {"goal": "train", "model": "vit-large-patch16", "examples": "1280000", "epochs": "90"},
        {"goal": "serve", "model": "qwen3-8b", "people": "40", "markets": "commit-1y"},
    ],
)
def test_columns_alone_are_answered_as_a_table_of_jobs_has_them(columns):
    row = answer_request(request_of([], catalogs(), columns)).row
    assert row["usd"] == full_answer(columns, catalogs()).rows[0]["usd"]


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("train vit-large from scratch on 1.28M images for 90 epochs", 1.28e6 * 197 * 90),
        ("pretrain gpt2 on 50k examples of 500 tokens, 3 epochs", 7.5e7),
        ("fine-tune vit-base on 10k images for 2 epochs", 1e4 * 197 * 2),
        ("fine-tune qwen3-4b on 10k examples", 1e4 * 1000 * 3),
    ],
)
def test_examples_in_words_are_the_tokens_of_their_run(text, tokens):
    assert job_of_request(pasted(text))["train_tokens"] == tokens


def test_columns_are_estimated_as_they_stand(capsys):
    assert main(["show", "--model", "gpt2", "--batch=2", "--instance", "g6.xlarge", "--json"]) == 0
    estimate = json.loads(capsys.readouterr().out)["estimate"]
    assert [estimate[name] for name in ("model", "batch", "instance", "sequence_tokens")] == [
        "gpt2",
        2,
        "g6.xlarge",
        1024,
    ]


@pytest.mark.sample(2)
@pytest.mark.parametrize("text", [LORA, "qwen3 32b for 20 people", *FILES])
def test_an_estimate_has_twenty_lines_at_most_and_says_first_what_was_understood(text):
    written = lines(text)
    assert 3 <= len(written) <= 20
    assert written[0].startswith("Understood: ")


def test_the_lines_have_components_peak_card_verdict_time_money_and_changes():
    text = "\n".join(lines(LORA))
    for words in (
        "Memory: ",
        ": fits, ",
        "  Weights ",
        "Peak: backward",
        "Card: ",
        "Time: ",
        "Money: about $",
        "Change: ",
        "Assumed: ",
    ):
        assert words in text


def test_a_config_json_is_a_model_and_files_are_a_run(tmp_path, capsys):
    (tmp_path / "ours.json").write_text(json.dumps(SMALL_LLAMA), encoding="utf-8")
    assert main(["show", str(tmp_path / "ours.json"), "--instance", "g6.xlarge"]) == 0
    assert "Memory: " in capsys.readouterr().out
    served = lines(FILES[1], instance="g6.xlarge")
    assert any(line.startswith("Serve GPT-2, 1 request in flight") for line in served)


@pytest.mark.parametrize(
    ("words", "code", "sentence"),
    [
        (["lora", "on", "an", "L4"], 3, "No model is named"),
        (["train_runtime: 11832.2, train_samples_per_second: 13.19"], 3, "No model is named"),
    ],
)
def test_what_cannot_be_shown_is_one_sentence(capsys, words, code, sentence):
    assert main(["show", *words]) == code
    assert sentence in capsys.readouterr().err


@pytest.mark.parametrize(
    ("text", "columns"),
    [  # from issues of stanford_alpaca, LLaMA-Factory, InstructUIE, vLLM and OpenRLHF
        ("Can we use A100 40G to finetune llama-7B?", {"gpu": "a100-40gb-sxm"}),
        ("lora on llama 2 70b, 8*a-100 (80gb)", {"gpus": 8, "gpu": "a100-80gb-sxm"}),
        ("tune flan-t5 11B with A100 * 8", {"gpus": 8, "model": "flan-t5-xxl"}),
        ("sft of qwen2.5-7b on a Nvidia A100 with 40GB memory", {"gpu": "a100-40gb-sxm"}),
        ("qwen2.5-32b can not fine tuning on 80GB A100", {"goal": "tune", "gpu": "a100-80gb-sxm"}),
        ("llama-3.1-8b, if I set --max-model-len to 29k it throws", {"goal": "serve"}),
        ("全量微调qwen2-72B，训练maxlen为32768，128张A800", {"have": "128 x a800-80gb-sxm"}),
    ],
)
def test_questions_of_public_threads_keep_their_cards_and_counts(text, columns):
    read = read_request(text, catalogs()).columns
    assert {name: read.get(name) for name in columns} == columns
