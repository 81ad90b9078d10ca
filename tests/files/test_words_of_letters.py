"""Letters in plain words: what is told beside the request sets no column of the plan."""

import pytest
from examples import catalogs

from calc.cost.markets import USUAL_MARKETS
from calc.files.words.name_parts import of_size
from calc.files.words.read import read_words

SAID = [
    # Machines of one's own, by their card and the instance that they stand in
    ("our 4 L40S boxes (g6e.12xlarge): qwen3-8b, 9 people", {"have": "4 x g6e.12xlarge"}),
    ("we have 16 H100 (p5.48xlarge): qwen3-8b, 9 people", {"have": "2 x p5.48xlarge"}),
    ("our 8 A100 80GB box (p4de.24xlarge), lora qwen3-8b", {"have": "1 x p4de.24xlarge"}),
    ("we bought 2 servers with 8 H100 each, phi-4, 9 users", {"have": "16 x h100-80gb-sxm"}),
    # Earlier attempts, answers to one's own question, reports of others
    ("lora qwen3-8b. Our last run, with 5k rows, took 6 hours on 2 L4.", {"examples": None}),
    ("minimax m2.5 in int4? no; 9 coders", {"precision": None, "excludes": None}),
    ("seq is 4096 (as published in 2024): sft qwen3-8b", {"sequence_tokens": 4096}),
    ("two vendors quoted $20k a month. phi-4, 9 users", {"usd_most": None}),
    # Greetings and signatures
    ("Hey folks, full finetune qwen3-8b, 60M tokens", {"goal": "tune"}),
    ("Guten Tag, lora qwen3-8b, 9M Tokens", {"goal": "tune"}),
    (
        "phi-4, 9 users\n\nBest,\nAnn\n8 Oak Road, London\nTel 89 123",
        {"regions": None, "people": 9},
    ),
    ("Quick one: host phi-4 for 9 users", {"instances_most": None}),
    ("2025 we did it on an A100. What does it cost today on spot? phi-4", {"markets": ["spot"]}),
    ("our L4 box is maxed out with 9 users. 60 at once, phi-4", {"users": 60, "gpu": None}),
    ("phi-4: a prompt of 900 tokens that never varies + 90 in, 9 rps", {"excludes": None}),
    # Typing errors
    ("lora qwen3-8b, 70 millioon tokns, wthout H100s", {"train_tokens": 70e6, "excludes": "h100"}),
    ("phi-4, 9 useers, tensor paralllel 4", {"users": 9, "tensor_parallel": 4}),
    ("12 tries, 96 cores: phi-4 for 9 people", {"users": None, "people": 9}),
    ("lora phi-4 mit 900 Beispilen von je 90 Tokens", {"examples": 900}),
    ("lora phi-4 avec 900 exmples et 3 époque", {"examples": 900}),
    ("phi-4 para 30 usuaros con 9 a la vez", {"people": 30}),
    # What a parenthesis behind a negation says
    ("no g5, no g6 (phi-4 for 9 users, Paris)", {"model": "phi-4", "regions": ["eu-west-3"]}),
    ("phi-4, 9 users, no P instances (p4d, p5)", {"instance": None, "excludes": "p+p4d+p5"}),
    ("phi-4, 9 users, no H100 (A100 is ok)", {"excludes": "h100"}),
    # Counts in a service, inputs, lengths
    ("phi-4: 200 contracts and 9 lawyers", {"requests_total": None, "people": 9}),
    ("200k inputs of 3k tokens through phi-4, in a day", {"prompt_tokens": 3000}),
    ("phi-4 for 9 users, a context of 16 k\nthanks", {"context_tokens": 16384}),
    ("rloo qwen3-8b, 4 variants per prompt", {"prompt_tokens": None, "generations": 4}),
    ("phi-4, 3 rps on average and 12 at peak", {"requests_per_second": 12, "users": None}),
    ("lora llama-4-scout 200M tokens", {"model": "llama-4-scout-17b-16e"}),
    ("1) phi-4 2) 150 concurrent chats 3) 4k prompt", {"users": 150, "prompt_tokens": 4096}),
    ("a couple of hundred users, maybe 250, on phi-4", {"people": 250}),
    (
        "lora phi-4, 12k reasoning traces, 900 tokens each",
        {"examples": 12e3, "example_tokens": 900},
    ),
    ("lora phi-4, 2k examples per customer", {"generations": None, "examples": None}),
    ("sft phi-4, 50k traces, 8k max tokens", {"sequence_tokens": 8192, "example_tokens": None}),
    ("pretrain phi-4, 9B tokens, 16 H100 nodes of 8", {"gpus": 128, "instances_most": None}),
    ("any instance but p4d, phi-4, 9 users", {"excludes": "p4d", "instance": None}),
    ("We trained a 7B on 4 A10G. Now lora phi-4, 9k rows", {"gpu": None, "gpus": None}),
    ("100 tok/s for every single user, phi-4, 9 at once", {"users": 9, "people": None}),
    # Sums beside the limit
    ("it costs $51 a month, spend at most $75 a month: phi-4, 9 users", {"usd_most": 75}),
    ("we pay $3 an hour for an H100; lora qwen3-8b", {"gpu": None, "usd_per_hour_most": None}),
    ("finance has approved 350 dollars: lora qwen3-8b", {"usd_most": 350}),
    ("we have 45,000 rows of 1,100 tokens: lora qwen3-8b", {"usd_most": None, "examples": 45_000}),
    # Dates, labels, parts of a time, powers of ten
    ("phi-4 for 9 users, go-live 12/15/2026", {"prompt_tokens": None, "answer_tokens": None}),
    ("version 2, cuda 12.8, phi-4 for 9 users", {"context_tokens": None, "people": 9}),
    ("phi-4, 9 users, first token in a quarter of a second", {"first_token_seconds": 0.25}),
    ("full ft qwen3-8b on 3 x 10^9 tokens", {"train_tokens": 3e9}),
    ("gemma-3-12b just for me", {"users": 1}),
    # Lengths behind the word that they describe
    ("phi-4, 9 users, the answers are short, perhaps 250 tokens", {"answer_tokens": 250}),
    ("900k mails at 500 tokens summarized to 80 tokens each by phi-4", {"answer_tokens": 80}),
    ("sft flan-t5-xl, 9k pairs, source 512 tokens target 64 tokens", {"example_tokens": 576}),
    ("lora qwen3-30b-a3b with megatron, 9B tokens, ep 8", {"epochs": None}),
    ("phi-4 in 40 restaurants with 3 printers", {"people": None}),
    # Who writes, who is meant, and when
    ("we're a startup of 6 people: phi-4 for 200 users", {"people": 200}),
    ("wir sind ein Team von 8 Leuten, voll trainieren qwen3-8b", {"people": None}),
    ("users: 850 (named), 60 (concurrent), phi-4", {"people": 850, "users": 60}),
    ("phi-4, 60 conseillers, dont 15 en même temps", {"people": 60, "users": 15}),
    ("30 agents (AI agents, not people) on qwen3-8b", {"model": "qwen3-8b"}),
    ("sft qwen3-8b, 9k rows of the last 3 years", {"hours_most": None}),
    ("phi-4, 9 users, 3 days, 12 hours each day", {"hours_per_month": 36}),
    ("phi-4, 9 users, one spare in case one machine fails", {"spare": 1, "instances_most": None}),
    ("phi-4, 9k requests per working day", {"requests_per_second": 9000 / 86400}),
    ("phi-4, 9 rps, 1 year vs 3 year savings plan", {"markets": ["commit-3y", "commit-1y"]}),
    ("Current setup: phi-4, 9 rps on 2 L4. New: qwen3-8b, 20 rps", {"requests_per_second": 20}),
    ("phi-4: We estimate that 12 of our 90 staff chat at once.", {"users": 12, "people": 90}),
    ("Currently it is on one g5.xlarge. phi-4, 9 users", {"instance": None, "gpu": None}),
    ("| model | phi-4 |\n| concurrent users | 40 |", {"model": "phi-4", "users": 40}),
    ("1. phi-4? 2. We need 9 rps. 3. 900 tokens in.", {"prompt_tokens": 900}),
    ("embed 5M texts of 90 tokens, 7M texts, 9M texts, bge-m3", {"tokens_total": None}),
    # Sums and commitments
    ("mehr als 20 Dollar kann ich nicht zahlen: phi-4 voll, 9M Tokens", {"usd_most": 20}),
    ("phi-4, 9 users, over $500 a month", {"usd_most": None}),
    ("phi-4, 9 rps, a commitment for one year is OK", {"markets": [*USUAL_MARKETS, "commit-1y"]}),
    ("phi-4, 9 users in US East", {"regions": ["us-east-1", "us-east-2"]}),
    ("the cost should not exceed 300 dollars: lora qwen3-8b", {"usd_most": 300}),
    ("not above 6.5k USD monthly: phi-4, 9 users", {"usd_most": 6500}),
    ("25 cents per 1000 requests at most: phi-4, 9 rps", {"tokens_total": None}),
    ("subject: gpu budget 2027\nfull ft qwen3-8b, 9M tokens", {"usd_most": None}),
    ("I calculated about 5 hours and $300: lora qwen3-8b", {"hours_most": None, "usd_most": None}),
    # Loads and lengths
    ("0 tok/s per stream: phi-4, 16 streams", {"token_seconds": None, "users": 16}),
    ("at busy times 70 summaries are generated in parallel, phi-4", {"users": 70}),
    ("phi-4, 9 users, each takes 2,200 tokens and produces 300 tokens", {"answer_tokens": 300}),
    ("gleichzeitig arbeiten höchstens 6 damit: phi-4 betreiben", {"users": 6}),
    ("phi-4, 9 at once, 500 user tokens", {"prompt_tokens": 500, "people": None}),
    # Memory that is not the card's
    ("index 75 GB of html with embeddinggemma", {"gpu_memory_gb": None, "text_gigabytes": 75}),
    ("我们有 8 张 A100 80GB，lora qwen3-8b", {"have": "8 x a100-80gb-sxm"}),
    ("our two RTX 4090 and 128 GB of RAM: lora qwen3-8b", {"gpu_memory_gb": None}),
    ("our RTX 4070, they say 24 GB: lora qwen3-8b", {"gpu_memory_gb": None}),
    ("2 x A40 (own server): lora qwen3-8b", {"have": "2 x a40"}),
    # What comes out
    ("caption 35M thumbnails, qwen3-vl-2b, 40 tokens per caption", {"answer_tokens": 40}),
    ("12B model from Mistral, lora, 9k rows", {"model": "mistral-nemo-12b"}),
]


@pytest.mark.parametrize(("text", "said"), SAID)
def test_what_a_letter_tells_beside_its_request_is_not_the_request(text, said):
    columns = read_words(text, catalogs()).columns
    several = {name: value for name, value in said.items() if isinstance(value, list)}
    assert {name: columns.get(name) for name in several} == several
    others = {name: value for name, value in said.items() if name not in several}
    assert {name: columns.get(name) for name in others} == pytest.approx(others)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("lora qwen3-8b, 9M tokens by 2026-12-24", "deadline"),
        ("GRPO on 4x H20, qwen3-8b", "AWS does not rent the h20"),
    ],
)
def test_a_date_and_a_card_that_aws_lacks_are_asked_about(text, words):
    assert words in " ".join(one.text for one in read_words(text, catalogs()).questions)


@pytest.mark.parametrize(
    "text", ["we need a quote by friday: {}", "boss wants it by monday: cost of {}"]
)
def test_a_day_by_which_an_answer_is_due_is_no_deadline(text):
    assert read_words(text.format("lora phi-4, 9M tokens"), catalogs()).questions == ()


def test_a_date_without_effect_is_named():
    assert "march 15" in read_words("live on March 15: phi-4 for 9 users", catalogs()).not_counted


def test_a_size_alone_offers_models_whose_name_says_it():
    assert of_size(70, catalogs())[:2] == ("llama-3.3-70b", "llama-3.1-70b")
