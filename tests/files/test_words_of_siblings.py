"""Requests that say one thing in the ways of several people, and numbers that stay a question."""

import pytest
from examples import catalogs

from calc import read_request

pytestmark = pytest.mark.usefixtures("read_once")


@pytest.mark.parametrize(
    ("text", "columns"),
    [
        # People: groups of them, their nouns by ending, what each sends
        ("phi-4 for 50 lawyers and 20 clerks", {"people": 70}),
        ("phi-4 for 50 lawyers, 20 clerks and 5 managers", {"people": 75}),
        ("Qwen3-14B für 35 Disponenten", {"people": 35}),
        ("phi-4 pour 40 vendeurs", {"people": 40}),
        ("phi-4, 90 offices, each has 3 receptionists", {"people": 270}),
        ("80 employees send 2,000 requests a day, phi-4", {"requests_per_second": 0.0231481481481}),
        ("phi-4, 900 users ask 8 questions an hour", {"requests_per_second": 2}),
        ("one power user of phi-4", {"people": 1}),
        # Lengths and amounts
        ("lora phi-4, 9k dialogs of 3 turns, 200 tokens per turn", {"example_tokens": 600}),
        ("phi-4, 250k texts, 90 tokens in, the same out, offline", {"answer_tokens": 90}),
        ("sft phi-4, 9k rows (mean 700, max 2048)", {"sequence_tokens": 2048, "usd_most": None}),
        ("sft phi-4, 9k train, 1k val, max len 512", {"examples": 9000}),
        ("lora phi-4, 900 mil tokens", {"train_tokens": 9e8}),
        ("lora phi-4, 20 mil ejemplos de 300 tokens", {"examples": 20_000}),
        ("lora phi-4 on 9 mln tokens", {"train_tokens": 9e6}),
        ("Project AB-77: lora phi-4, 9M tokens", {"train_tokens": 9e6}),
        (
            "sft phi-4, 8 gpus, tp 2, micro batch 1, grad accum 4, seq 8192, 100 steps",
            {"train_tokens": 13_107_200},
        ),
        (
            "bge-reranker-v2-m3, top 20 for 9k queries, 300 tokens each",
            {"tokens_total": "54000000"},
        ),
        ("90k texts a day, done in 3 hours, phi-4, 200 in, 9 out", {"hours_most": 3}),
        ("qwen2.5-vl-7b: ocr of 900 books, 200 pages per book", {"tokens_total": "180000 images"}),
        ("whisper-small, 2 TB of calls, 9,000 hours", {"text_gigabytes": None}),
        ("phi-4 for 9 people, 3 hours a day", {"hours_per_month": 91.2}),
        ("grpo phi-4, 9k prompts, k=4", {"generations": 4}),
        # Names and machines
        ("lama 3.1 8b for 9 users", {"model": "llama-3.1-8b"}),
        ("reading speed (5 tok/s) is enough, phi-4, 9 users", {"model": "phi-4"}),
        ("sft phi-4 on 9k r1 traces", {"model": "phi-4"}),
        ("lora phi-4 on two A100 40, 9M tokens", {"gpu": "a100-40gb-sxm"}),
        ("keine P4-Instanzen, phi-4 für 9 Nutzer", {"excludes": "p4d+p4de"}),
        ("g5 is slow, so skip it. phi-4, 9 users", {"excludes": "g5", "instance": None}),
        ("no spot, and the same goes for p5: phi-4, 9 users", {"excludes": "spot+p5"}),
        ("fp8 not needed, phi-4 for 9 users", {"precision": None}),
        ("fp8 is not allowed, phi-4 for 9 users", {"precision": None, "excludes": "fp8"}),
        (
            "spot preferred, lora phi-4, 9M tokens",
            {"markets": ["on-demand", "capacity-block", "spot"]},
        ),
        ("IT COSTS US 4K A MONTH. PHI-4 FOR 9 USERS", {"regions": None}),
        # Machines: sizes apart from their family, counts behind a form, memory of all cards
        ("g6e 12xl or 24xlarge: phi-4, 9 users", {"instances_most": None}),
        ("a 48xlarge of the p5: phi-4, 9 users", {"instance": ["p5.48xlarge"]}),
        ("g6.12xlarge, not the 48xlarge: phi-4, 9 users", {"excludes": "g6.48xlarge"}),
        ("A100-SXM4-40GB *8, lora phi-4, 9M tokens", {"gpu": "a100-40gb-sxm", "gpus": 8}),
        ("L4 * 4, phi-4, 9 users", {"gpus": 4}),
        ("48 GB total, 2x 24: phi-4 awq, 3 users", {"gpu_memory_gb": 24, "gpus": 2}),
        ("2x 24GB cards (48 GB total), phi-4", {"gpu_memory_gb": 24, "gpus": 2}),
        ("four GPUs with 96 GB in total, phi-4", {"gpu_memory_gb": 24, "gpus": 4}),
        # Lengths in parts and in shares
        ("phi-4, 9 users, ~6000 thinking tokens + 500 answer", {"answer_tokens": 6500}),
        ("phi-4, 9 rps, 4,000 tokens per request, split 90/10", {"prompt_tokens": 3600}),
        ("phi-4, 5k tokens a request, 80:20 in/out, 12 rps", {"answer_tokens": 1000}),
        ("phi-4, 9 rps, requests of 3,000 tokens, 85% prompt", {"answer_tokens": 450}),
        ("phi-4, 9 rps, 8 chunks of 512 tokens + 300 question", {"prompt_tokens": 4396}),
        ("phi-4, system prompt 3k, the user part adds 600, 9 rps", {"prompt_tokens": 3600}),
        ("phi-4, 9 chats at once, 8 turns, 300 tokens each question", {"context_tokens": None}),
        ("phi-4, 9 rps. Prompts avg 900, max 6000. Answers 200", {"context_tokens": 6200}),
        ("condense 900 reports (12k tokens each) to 400 tokens, phi-4", {"answer_tokens": 400}),
        ("phi-4, 9 rps, prompts 4k, prefix caching hits 50%", {"shared_prompt_tokens": 2048}),
        ("phi-4, 9 people, 8 hours a day 20 days a month", {"hours_per_month": 160}),
        ("lora phi-4, 90M tokens of support tickets", {"train_tokens": 9e7}),
        ("dpo phi-4, 24k chosen/rejected pairs", {"examples": 24_000}),
        ("sft phi-4 on 8k input/output examples", {"examples": 8000}),
        ("rerank top 50 for 20 qps, bge-reranker-v2-m3, 400 tokens each", {"prompt_tokens": 400}),
        ("phi-4 for 55 people, 3k a month max", {"usd_most": 3000}),
        # Facts over two sentences, dozens, speeds, drafts, what is looked for
        ("phi-4, 9 rps. The answers are short. Maybe 80 tokens.", {"answer_tokens": 80}),
        ("We have few users. About 30. Serve phi-4.", {"people": 30}),
        ("Serve phi-4 to our developers. There are 60 of them.", {"people": 60}),
        ("lora phi-4. Examples are short. We have 9,000 of them.", {"usd_most": None}),
        ("phi-4 for seven dozen users", {"people": 84}),
        ("how many tokens per second can a g6e.xlarge do with phi-4", {"goal": "serve"}),
        ("max context of phi-4 on an L4, 9 users", {"solve": "context_tokens"}),
        ("phi-4-mini as draft for phi-4, 9 users", {"model": "phi-4"}),
        ("phi-4, 9 users, $36,000 a year is what we can sign for", {"usd_most": 3000}),
        ("20k req/day, mostly between 8am and 6pm, phi-4", {"hours_per_month": None}),
        # Loads that grow or are of some hours, machines that replace others, words of no machine
        ("phi-4, load grows from 5 rps now to 25 rps by next year", {"requests_per_second": 25}),
        ("9-17 h 50 rps, otherwise 5 rps; phi-4", {"requests_per_second": 50}),
        ("between 9 and 17 o'clock 50 rps, otherwise 5 rps; phi-4", {"hours_per_month": None}),
        ("LoRA adapters: 200 of rank 8 for phi-4, 60 rps overall", {"adapters": 200}),
        (
            "we run 3 p4d today. Could a p5.48xlarge replace them? phi-4, 9 users",
            {"instance": ["p5.48xlarge"]},
        ),
        ("only x86 boxes; phi-4; 9 users", {"instances_most": None}),
        ("phi-4 per 120 dipendenti, 10 alla volta", {"gpu": None, "users": 10}),
        ("at least two instances for HA, phi-4, 30 rps", {"instances_most": None}),
        ("phi-4 auf 3 Mrd. Tokens weiter vorzutrainieren", {"goal": "tune"}),
        ("lora phi-4, 9k rows, mean 350, p95 900, max 2048", {"example_tokens": 350}),
        ("full phi-4, 9M tokens, adam 8bit", {"optimizer": "adamw-8bit", "fewest_bits": None}),
        ("clip ViT-L/14, 90M images", {"model": "clip-vit-large-patch14"}),
        # What each does and waits for, parts of requests, days by name
        (
            "every user waits max 10 s for a 500 token summary of a 6k token doc, phi-4",
            {"answer_tokens": 500, "requests_per_second": None},
        ),
        (
            "every user sends a request every 20 seconds, 40 users, phi-4",
            {"requests_per_second": 2},
        ),
        ("each call gives a 4k transcript; 1,800 calls/day; phi-4", {"answer_tokens": None}),
        ("30 seats, each seat runs 2 agents in parallel, phi-4", {"users": 60}),
        ("99% of requests answered in full within 6 s, phi-4, 9 rps", {"method": None}),
        ("first token in 1 s for 9 of 10 requests, phi-4", {"first_token_percentile": "90"}),
        ("lora phi-4, 10⁸ tokens", {"train_tokens": 1e8}),
        ("Tuesdays and Thursdays 10-16h, phi-4, 9 users", {"hours_per_month": 52.1142857143}),
        ("on Mondays from 8am to 8pm, phi-4, 9 users", {"hours_per_month": 52.1428571429}),
        ("phi-4 for 20 users 12x5", {"hours_per_month": 261}),
        ("sat and sun off, phi-4, 9 users, 10 hours a day", {"hours_per_month": 217.5}),
        ("phi-4, 800/s max, 20 tokens in, 5 out", {"requests_per_second": 800}),
        ("phi-4, 20 requests a minute, 90 a minute max", {"requests_per_second": 1.5}),
        # A part of what is counted, and a size that counts no tokens
        ("sft phi-4 on 10% of 5M rows, 300 tokens each", {"examples": 500_000}),
        ("sft phi-4, 20% of the 40k examples are for validation", {"examples": 40_000}),
        ("pretrain a 1b on as many tokens as $9k buys", {"run_tokens": None}),
        ("lora phi-4, 2k chats with 15 messages of 80 tokens each", {"example_tokens": 1200}),
        # Clauses about something else
        ("Wir haben es auf zwei T4 getestet. phi-4 für 30 Nutzer", {"have": None, "gpu": None}),
        (
            "phi-4, 9k texts to embed. 200 rps, which is another story",
            {"requests_per_second": None},
        ),
        ("my colleague asked whether a g6e would do: phi-4, 9 users", {"have": None}),
    ],
)
def test_siblings_of_a_phrase_are_read_alike(text, columns):
    found = read_request(text, catalogs()).columns
    assert {name: found.get(name) for name in columns} == columns


@pytest.mark.parametrize(
    ("text", "words", "column"),
    [
        ("12 cooks and 30 waiters use phi-4", "12 cooks and 30 waiters", "people"),
        (
            "200 employees ask 90 questions a day, phi-4",
            "90 questions a day",
            "requests_per_second",
        ),
        ("phi-4, 12 rps, 900 tokens", "900 tokens", "prompt_tokens"),
        ("sft phi-4, 9M tokens, Deadline Freitag", "names a day", "hours_most"),
        ("freeze the last layers of phi-4, 9k rows", "Training a part", "train_tokens"),
        ("sft phi-4, 30% of the 40k rows are longer than 2k tokens", "2k", "example_tokens"),
        ("half of what a p5 costs: phi-4, 9 users", "half of what a p5 costs", "instance"),
        ("phi-4, 9 users, mon-fri 7am-7pm + saturday mornings", "saturday", "hours_per_month"),
        ("lora phi-4. The data: chats. 8k of them.", "8k", "sequence_tokens"),
        ("phi-4, 9 rps, p50 of 1k and p95 of 6k prompt tokens", "p95 of 6k", "prompt_tokens"),
        (
            "twice as fast as people read (5 tok/s), 9 users, phi-4",
            "twice as fast",
            "token_seconds",
        ),
        ("phi-4, double the 20 rps of today", "double the 20 rps", "requests_per_second"),
        ("lora phi-4, 9M tokens, max 300", "max 300", "usd_most"),
        ("serve phi-4, 40 users, 300 tokens per turn", "300 tokens per turn", "prompt_tokens"),
        ("phi-4 for 9 users, top_z = 4", "top_z = 4", "users"),
        ("lora mixtral 8x7b, 9k rows, ep=4", "ep=4", "epochs"),
        ("nothing bigger than a single g6e.xlarge. phi-4, 9 users", "g6e.xlarge", "instance"),
    ],
)
def test_a_number_without_a_sure_meaning_is_asked_about(text, words, column):
    reading = read_request(text, catalogs())
    assert words in " ".join(one.text for one in reading.questions)
    assert column not in reading.columns


def test_numbers_of_an_earlier_attempt_are_named():
    reading = read_request("until now 12 or 14 of them. phi-4 for 9 users", catalogs())
    assert {"12", "14"} <= set(reading.not_counted)
