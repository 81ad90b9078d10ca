"""Requests in plain words, judged fact by fact: none is misread or lost, most are read in full."""

import re

import pytest
from examples import catalogs
from requests_in_words import judged, requests

from calc.files.request import SIZES
from calc.files.request_job import job_of_columns
from calc.files.words.job import job_columns
from calc.files.words.read import read_words
from calc.files.words.request_reading import without_words
from calc.files.words.vocabulary import COLUMN_ROLES, frames, vocabulary
from calc.job.cells import JobError, listed
from calc.job.columns import JOB_BY_NAME
from calc.job.fields import JOB
from calc.job.resolve import resolve
from calc.scenarios.inputs import inputs_by_name

NUMBER = re.compile(r"\d+(\.\d+)?(e[+-]?\d+)?")
LEAST_RIGHT_RATIO = 0.75  # of the requests of a kind that leave nothing open


@pytest.fixture(scope="module")
def verdicts():
    return [(row, *judged(row, catalogs())) for row in requests()]


def test_no_request_is_misread_or_lost(verdicts):
    bad = ("misread", "lost")
    assert [(row["id"], verdict, why) for row, verdict, why in verdicts if verdict in bad] == []


@pytest.mark.parametrize("kind", sorted({row["kind"] for row in requests()}))
def test_most_requests_of_a_kind_are_read_in_full(verdicts, kind):
    several = [verdict for row, verdict, _ in verdicts if row["kind"] == kind and not row["asks"]]
    assert several.count("right") / len(several) >= LEAST_RIGHT_RATIO


def test_every_fact_becomes_a_column_of_a_job():
    """A fact that no column takes is turned into one that does, or asked."""
    known = {*inputs_by_name(), *JOB_BY_NAME, *JOB, *SIZES}
    for row in requests():
        understood = job_columns(read_words(row["text"], catalogs()), catalogs())
        assert understood.columns.keys() <= known, row["id"]


def values_in(cells):
    """The values of a cell as texts, numbers in one form."""
    words = [part for value in listed(cells) for part in str(value).split("+")]
    return {f"{float(word):g}" if NUMBER.fullmatch(word) else word for word in words}


def contradicted(columns):
    """The columns of a text whose resolved job has another value than the text names."""
    job = resolve(job_of_columns(columns, catalogs()), catalogs())
    taken = {**job.fixed, **job.assumed, **vars(job), "run_tokens": job.train_tokens}
    if job.rolls_out:  # of which an example is a prompt
        taken["example_tokens"] = job.prompt_tokens
    if not job.trains:  # whose context is its prompt and answer
        taken["context_tokens"] = job.sequence_tokens
    names = columns.keys() - {"tokens_total", "have"}  # which become counts of tokens and machines
    return {name for name in names if values_in(columns[name]) != values_in(taken[name])}


@pytest.mark.parametrize(
    "text",
    [
        "serve qwen3-32b to 350 people, never more than 40 of them at once, 6,000 in, 350 out",
        "grpo qwen3-8b, 9k prompts of 200 tokens, 16 answers each of at most 3,000 tokens",
        "kimi k2.6 agents, 20 sessions at once, 100k context, 2k out",
    ],
)
def test_no_default_takes_the_place_of_what_a_text_says(text):
    understood = job_columns(read_words(text, catalogs()), catalogs())
    assert understood.columns
    assert contradicted(understood.columns) == set()


@pytest.mark.long
def test_no_default_takes_the_place_of_what_any_request_says():
    found = {}
    for row in requests():
        understood = job_columns(read_words(row["text"], catalogs()), catalogs())
        if "model" in understood.columns and not understood.questions:
            try:
                found[row["id"]] = contradicted(understood.columns)
            except JobError:
                continue  # which says what is wrong with it
    assert len(found) > 300
    assert {name: columns for name, columns in found.items() if columns} == {}


def test_every_tag_of_a_frame_has_words_or_a_dimension():
    known = {
        *vocabulary().words,
        "N",
        "RATE",
        "CARD",
        "INST",
        "RANGE",
        "PCTL",
        "RATIO",
        "CLOCKS",
        "DAYS",
        "PAIR",
        "ALONE",
        "TEAM",
        "MODEL",
        ",",
        "/",
        "noun",
    }
    known |= {unit.dimension for unit in vocabulary().units.values()}
    known |= {f"column:{name}" for name in COLUMN_ROLES}
    used = {tag for frame in frames() for tags, _ in frame.elements for tag in tags}
    assert used - known == set()


def test_a_number_before_on_is_no_count_of_machines():
    text = "llama-3.1-8b lora, batch=4 sequence_tokens=4096 on g6.xlarge"
    columns = read_words(text, catalogs()).columns
    assert columns["sequence_tokens"] == 4096
    assert columns["instance"] == ["g6.xlarge"]
    assert "instances_most" not in columns


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("not 20 users, 200. qwen3-14b", {"people": 200}),
        ("qwen3-14b for 20 users, sorry, 200", {"people": 200}),
        ("two L40S, not four: lora qwen3-32b, 4k examples", {"gpus": 2, "model": "qwen3-32b"}),
        ("don't use more than 3 instances, qwen3-14b, 90 users", {"instances_most": 3}),
        ("sft, then dpo? only sft now: qwen3-8b, 9k rows", {"objective": None}),
        ("compare full with lora, but only the full one: qwen3-8b, 9k rows", {"method": "full"}),
        ("grpo qwen3-4b, 5k problems, group of 16", {"generations": 16, "examples": 5000}),
        ("the pilot used one T4, now qwen3-8b for 30 people", {"people": 30, "gpu": None}),
        ("glm-4.7, each task makes 30 calls, 200 tasks/hour", {"requests_per_second": 5 / 3}),
        ("whisper-small over 6000 calls, 7 min each", {"tokens_total": "700 hours"}),
        ("phi-4 in 120 shops, at most 30 in use at the same time", {"users": 30}),
        ("full ft qwen3-8b, 2B tokens, 4M token batch", {"step_tokens": 4e6}),
        ("bge-m3 at 80 rps, does it need 2 nodes?", {"instances_most": None}),
        ("qwen3-8b, 900 chats/hour, 4 messages per chat", {"requests_per_second": 1}),
        ("qwen3-8b reward model, 9k pairs, 60 tokens per response", {"example_tokens": 60}),
        ("qwen3-8b, 2 qps, 350 tokens foo", {"prompt_tokens": None}),
        ("qlora qwen3-8b, 9k rows of 700 tokens, max 6k", {"usd_most": None}),
        ("megatron full ft qwen3-30b-a3b, 9B tokens, tp 4, ep 8", {"epochs": None}),
        ("our run was done on 4 A100s and took 20 hours: dpo qwen3-8b", {"hours_most": None}),
        ("nemotron for 30 people", {"model": None}),
        ("qwen3-8b w/ 20 rps?? no, 2 rps", {"requests_per_second": 2}),
        (
            "qwen3-8b, system prompt 6k, turn 300 tokens, output 9, 9 users",
            {"prompt_tokens": 6300},
        ),
        ("gemma-4-31b, 12 lawyers, 50-page contracts (35k tokens)", {"prompt_tokens": None}),
        ("qwen3-8b for 2 people, 12 rps", {"people": None, "requests_per_second": 12}),
        ("lora qwen3-8b, 3/4 of a million rows", {"examples": 750_000}),
        ("small qwen (under 2b) at 9 rps", {"usd_most": None}),
        ("lora qwen3-8b, 1.5k*1000 examples", {"examples": None}),
        ("sft qwen3-8b, 3,000 traces, up to 16k tokens", {"sequence_tokens": 16384}),
        ("qwen 2.5 coder 32b instruct, 8 devs", {"model": "qwen2.5-32b"}),
        ("faster than our 4 A100 box: qwen3-8b, 9 people", {"gpu": None, "gpus_most": None}),
        ("lora qwen3-8b, 90k rows, we use only 20k of them", {"examples": 20_000}),
        ("serve qwen3-8b, a request every 2 seconds", {"requests_per_second": 0.5}),
        ("qwen3-8b, 9 nurses, two shifts of 8 hours on workdays", {"hours_per_month": 348}),
        ("grpo qwen3-8b, 16 completions per prompt, 900 tokens each", {"completion_tokens": 900}),
        ("full ft qwen3-8b, 3k budget", {"usd_most": 3000}),
        ("qwen3-8b at 9 rps, ideally within 3 days", {"hours_per_month": None}),
        ("qwen3-8b, 9 people, 8 hours a day, tue to thu", {"hours_per_month": 104.228571429}),
        ("sft bge-m3 on 9k question/text pairs (300 tokens)", {"examples": 9000}),
        ("phi-4 at 4 req/s, bursts to 11", {"requests_per_second": 11}),
        ("phi-4 at 4 req/s, peak 20 users", {"requests_per_second": 4}),
        ("eval of 3 systems x 900 questions by phi-4, 90 in, 30 out", {"requests_total": 2700}),
        ("max 4 GPUs per server, lora phi-4, 2 servers", {"gpus_most": 8, "gpus": None}),
        ("full ft phi-4, 9k traces, 60M tokens, 3 epochs", {"train_tokens": 180e6}),
        ("phi-4 translates 90k lines, 40 tokens on either side", {"answer_tokens": 40}),
        ("batch=2 epochs=3 gpu=l4: lora qwen3-8b", {"gpus": None, "epochs": 3}),
        ("120 people, a fifth would be chatting at once: phi-4", {"share_active": 0.2}),
        ("lora qwen3-8b, 9k rows. Step 1 is done.", {"train_tokens": None}),
        ("phi-4 for 9 users, 40 pages of text (30k tokens)", {"prompt_tokens": 30e3}),
        ("sft phi-4 on 9k mails (each up to 512 tokens)", {"example_tokens": None}),
        ("full ft phi-4 at seq 4096, 60M tokens, 32 global batch", {"step_tokens": 131_072}),
        ("lora phi-4, 9k rows, we filter down to 5k", {"examples": 5000}),
        ("student project, 3 people: lora phi-4, 9k rows", {"people": None, "examples": 9000}),
        ("phi-4 in fp8, sorry, int8, 9 users", {"precision": "int8"}),
        ("wir haben heute 2 g5.xlarge im einsatz und möchten L40S: phi-4, 9 rps", {"gpu": "l40s"}),
        ("as last time but 32k instead of 16k ctx: qwen3-8b, 9 rps", {"context_tokens": 32768}),
        ("phi-4, 5 agents each running 4 parallel threads", {"users": 20}),
        ("phi-4 for 50 users, and grow to 400; plan for the 400", {"people": 400}),
        ("phi-4 at 3 rps (700/250): g6e or p5", {"prompt_tokens": 700, "answer_tokens": 250}),
        ("phi-4, Verträge bis 40 Seiten (ca. 30.000 Token), 9 Nutzer", {"prompt_tokens": 30e3}),
        ("phi-4, 86.400 requêtes par jour, entre 8h et 20h", {"requests_per_second": 2}),
        ("distill deepseek-r1 into phi-4, 9k traces", {"model": "phi-4"}),
        ("qwen3-vl-8b reads 900 invoices (avg 2 pages)", {"tokens_total": "1800 images"}),
        ("clip? no -> phi-4, 9 users", {"model": "phi-4"}),
        ("30 teams x 8 people on phi-4", {"people": 240}),
        ("nous sommes 12, phi-4, assistant", {"people": 12}),
        ("two options please: phi-4 on g6e or p5, 9 users", {"people": 9}),
        ("bge-m3 bettet 9 Mio Produkttexte ein, je 100 Tokens", {"tokens_total": "900000000"}),
        ("sft phi-4 on 9k chats (mean len 900 tokens, max 8k)", {"example_tokens": 900}),
        ("phi-4 at 9 rps on weekdays and weekends", {"requests_per_second": 9}),
        ("lora phi-4, 30M tokens in total over 3 epochs", {"train_tokens": 30e6}),
        ("phi-4, 5 r/s steady, 3x at peaks", {"requests_per_second": 15}),
        ("1 200 élèves, un quart connecté en même temps, phi-4", {"share_active": 0.25}),
        ("100 hours of H100, lora phi-4, 9k rows", {"gpu_hours_most": 100, "hours_most": None}),
        ("phi-4, users send 4 messages a day, 90,000 users", {"requests_per_second": 4.16667}),
        ("36k requests a day, 5 hours a day: phi-4", {"requests_per_second": 2}),
        ("phi-4, 1.5M calls a month, 100 hours a month", {"requests_per_second": 4.16667}),
        ("replace our 6 g5.48xlarge by L40S: phi-4, 9 rps", {"gpu": "l40s", "instance": None}),
        ("moving from gemma-3-4b to phi-4, 9 users", {"model": "phi-4"}),
        ("heute: 9 nutzer, T4\nziel: phi-4, 60 nutzer", {"people": 60, "gpu": None}),
        ("phi-4 for 45 brokers, of whom 20 at once", {"people": 45, "users": 20}),
        ("45 tellers, davon 20 gleichzeitig, phi-4", {"people": 45, "users": 20}),
        ("8 tenants, each with its own adapter: phi-4, 5 rps", {"adapters": 8, "goal": "serve"}),
        ("roberta-base on 9k labelled reviews, 60 tokens per review, 2 epochs", {"goal": "tune"}),
        ("two-stage plan: lora phi-4, 9k rows", {"examples": 9000}),
        ("sft t5-base, 9k essay/summary pairs of 90 tokens", {"examples": 9000}),
        ("lora phi-4, 1.5M rows, of which 300k remain", {"examples": 300_000}),
        ("phi-4 for 9 users, four days, 6 hours each", {"hours_per_month": 24}),
        ("rate 9M texts by phi-4, 90 tokens in, single token out", {"answer_tokens": 1}),
    ],
)
def test_what_a_text_corrects_compares_or_multiplies(text, said):
    columns = read_words(text, catalogs()).columns
    assert {name: columns.get(name) for name in said} == pytest.approx(said)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("g5.xlarge or L40S? gemma-3-12b, 40 users", {"gpu": None}),
        ("p4d with A100, lora qwen3-8b", {"gpu": None}),
        ("p4d with H100, lora qwen3-8b", {"gpu": None, "instance": None}),
        ("g5.12xlarge with 4 A10, lora qwen3-8b", {"have": None, "gpus": 4}),
        ("A100 40 or 80GB, lora qwen3-8b", {"gpu": "a100-40gb-sxm+a100-80gb-sxm"}),
        ("an H100 NVL pair for qwen3-8b, 20 users", {"have": "2 x h100-94gb-nvl"}),
        ("2 nodes; spot only; 8 gpus each; H100: lora qwen3-8b", {"gpus": 16}),
        ("sft qwen3-8b on 4 servers, 8 H100 per server", {"gpus": 32}),
        ("qwen 8b or 14b for 25 users", {"model": None}),
        ("8b or 70b llama 3.1 for 30 users", {"model": None}),
        ("llama-3.1-8b or mistral for 20 users", {"model": None}),
        ("train qwen3-4b and 8b tokens", {"model": "qwen3-4b", "run_tokens": 8e9}),
        ("qwen3-4b from scratch, a quarter of a million dollars", {"usd_most": 250_000}),
        ("dreiviertel? eine halbe Million Tokens, lora qwen3-8b", {"train_tokens": 500_000}),
        ("grpo qwen3-8b,n=8,1024 prompt + 4096 response", {"generations": 8}),
        ("lora qwen3-8b / 20M tokens / seq 8192", {"sequence_tokens": 8192, "train_tokens": 2e7}),
        ("lora qwen3-8b - seq 32k - 200M tokens", {"sequence_tokens": 32768}),
        ("don't want fp8, bf16 only. qwen3-8b, 9 rps", {"precision": "bf16", "excludes": "fp8"}),
        ("qwen3-8b on L4, 9 rps. How much would it be?", {"solve": None}),
        ("rloo qwen3-8b, 10k prompts and 1k completions", {"examples": 10_000}),
        ("orpo with gemma-2-9b on 45k pairs, lora adapters", {"method": "lora"}),
        ("it ends in 10 days, want it done in 3: lora qwen3-8b", {"hours_most": 72}),
        ("how many users can qwen3-8b on L4 take", {"goal": "serve", "solve": "users"}),
        (
            "full ft qwen3-8b, deepspeed zero 3",
            {"sharding": "zero3", "implementation": "deepspeed"},
        ),
        ("sft qwen3-8b, 9k rows, single pass", {"epochs": 1}),
        ("lora qwen3-8b, seq 2^13, 10^8 tokens", {"sequence_tokens": 8192, "train_tokens": 1e8}),
        ("deepseek r1 distill 32b, 20 users", {"model": "deepseek-r1-distill-qwen-32b"}),
        ("gemma 3 (the 4b one) for 12 users", {"model": "gemma-3-4b"}),
        ("spot or nothing: qlora qwen3-8b", {"method": "qlora"}),
        ("no longer than 24 hours: lora qwen3-8b", {"model": "qwen3-8b", "hours_most": 24}),
        ("qwen3-8b, 4 A100 nodes, lora", {"instances_most": 4, "gpus": None}),
        ("is one g5.xlarge cheaper than two g6.xlarge for qwen3-8b?", {"instances_most": None}),
        ("between 4 and 8 H100, lora qwen3-8b", {"gpus": [4, 8]}),
        ("lora qwen3-8b on 1 or 2 L40S, 2 or 3 epochs", {"gpus": [1, 2], "epochs": 3}),
        ("at least 32 GPUs, lora qwen3-8b", {"gpus": [32, 64]}),
        ("train qwen3-8b over 8 H100 with lora", {"gpus": 8}),
        ("don't use more than 4 GPUs, lora qwen3-8b", {"gpus_most": 4}),
        ("gemma-3-4b, 400 people, $3 per user per month", {"usd_most": 1200}),
        ("sft qwen3-8b, 9k prompts (300 + 500 tokens)", {"example_tokens": 800}),
        ("train the last 4 layers of qwen3-8b, 8M tokens", {"layers": None}),
        ("it doesn't have to be in the us. phi-4, 40 users", {"excludes": None}),
        ("300 users, 10 percent active, phi-4", {"share_active": 0.1, "users": None}),
        ("no multi-gpu, qlora qwen3-8b", {"gpus": 1}),
        ("nothing multi-node, qlora qwen3-8b", {"instances_most": 1}),
        ("volta only, phi-4 for 9 users", {"gpu": "v100-16gb+v100-32gb"}),
        ("no turing, phi-4 for 9 users", {"excludes": "t4+t4g"}),
        ("H100 or better, lora qwen3-8b", {"gpu": None}),
        ("A100 but no 80GB, lora qwen3-8b", {"gpu": "a100-40gb-sxm"}),
        ("merged lora of phi-4, 25 users", {"goal": None, "method": None}),
        ("Qwen3-30B-A3B-Instruct-2507, 48 at once", {"model": "qwen3-30b-a3b-2507"}),
        ("lora qwen3-8b, 8 GPUs max", {"gpus_most": 8, "gpus": None}),
        ("lora qwen3-8b on 8 H100 max 16k context", {"gpus": 8, "sequence_tokens": 16384}),
        ("less than 8 GPUs, lora qwen3-8b", {"gpus_most": 7}),
        ("fewer than 3 nodes of p5, lora qwen3-8b", {"instances_most": 2}),
        ("two A100 40GB and two L4, lora qwen3-8b", {"gpus": None, "gpu": None}),
        ("two L4 or two A10G, lora qwen3-8b", {"gpus": 2, "gpu": "l4+a10g"}),
        ("lora qwen3-8b, seq 8192, 16 sequences per step", {"step_tokens": 131_072}),
        ("1 in 0 users at once, phi-4, 0 left, about 3", {"model": "phi-4", "users": None}),
        ("Now: 20 users on a T4\nGoal: phi-4, 60 users", {"people": 60, "gpu": None}),
        ("a friend of mine ran it on 8 H100. phi-4, 9 users", {"gpu": None, "people": 9}),
        ("lora qwen3-8b on a single 80 GB gpu", {"gpus": 1}),
        ("lora qwen3-8b in 3 days (48 hours)", {"hours_most": None}),
        ("nothing leaves eu-west-1: phi-4, 9 rps", {"regions": ["eu-west-1"], "excludes": None}),
        ("Daten dürfen Irland nicht verlassen: phi-4, 9 rps", {"regions": ["eu-west-1"]}),
        ("lora qwen3-8b in 2 days (max 60 hours)", {"hours_most": None}),
        ("lora qwen3-8b on 2M texts, of which 400k are old", {"examples": None}),
        ("how many users can one L40S take with phi-4", {"users": None, "solve": "users"}),
        ("whisper-small, calls: 9,000 of them, 6 minutes each", {"tokens_total": "900 hours"}),
        ("phi-4, 9 users, down to 1/3 of that", {"prompt_tokens": None}),
        ("phi-4 chatbot, 300 widgets a day", {"requests_per_second": None}),
        ("yearly budget 60,000 USD for phi-4, 150 people", {"usd_most": 5000}),
        ("01-ai/Yi-34B pour GPU, 20 utilisateurs", {"model": "yi-34b", "gpus": None}),
    ],
)
def test_each_number_and_name_keeps_its_own_place(text, said):
    columns = read_words(text, catalogs()).columns
    assert {name: columns.get(name) for name in said} == said


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("qwen3-8b for 20 users, nothing with liquid cooling", "liquid cooling"),
        ("full ft of phi-4, half the budget of $2k, 60M tokens", "half the budget"),
        ("H100 or better, lora qwen3-8b", "h100 or better"),
        ("full ft qwen3-8b, 9M tokens, for 20 users", "20 users"),
        ("phi-4 for 9 users, nothing bigger than g5.48xlarge", "bigger than g5.48xlarge"),
        ("lora phi-4, 9M tokens. Deadline: Dec 19", "deadline"),
        ("phi-4 for 9 users, int4 or awq", "int4 and awq"),
        ("phi-4 for 9 users, it must stay in Zürich", "zürich"),
        ("phi-4 for 9 users, region Atlantis", "atlantis"),
        ("summaries by phi-4, 9M tokens, 9:1 in/out", "9:1"),
    ],
)
def test_what_bounds_the_plan_in_words_unknown_is_asked_about(text, words):
    assert words in " ".join(one.text for one in read_words(text, catalogs()).questions)


def test_at_least_so_much_memory_allows_cards_with_more():
    understood = read_words("at least 80GB per gpu, phi-4 for 9 users", catalogs())
    assert "h200-sxm" in job_columns(understood, catalogs()).columns["gpu"]


def test_a_service_beside_a_run_of_training_is_asked_about():
    understood = read_words("fine-tune qwen3-8b with lora, then serve it for 50 users", catalogs())
    assert "50 users" in understood.questions[0].text


def test_us_in_the_id_of_a_region_is_no_country():
    columns = read_words("LORA QWEN3-8B, SPOT ONLY, US-EAST-1", catalogs()).columns
    assert columns["regions"] == ["us-east-1"]


@pytest.mark.parametrize(
    ("text", "words", "rest"),
    [
        ("serve qwen3 8b, 977, to 40 people", "977", "serve qwen3 8b, , to 40 people"),
        ("No multi-node, please", "no multi - node", ", please"),
        ("40 people of 1940", "40", "people of 1940"),
        ("40 and 40", "40", ""),  # which of them is meant is not known
        ("977", "977", ""),
        ("977", "", ""),
    ],
)
def test_words_that_stand_once_are_left_out(text, words, rest):
    assert without_words(text, words) == rest
