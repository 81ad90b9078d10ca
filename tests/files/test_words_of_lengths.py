"""Numbers and their units: lengths in words, labels, decimals, other languages, corrections."""

import pytest
from examples import catalogs

from calc import read_request

pytestmark = pytest.mark.usefixtures("read_once")


@pytest.mark.parametrize(
    ("text", "columns"),
    [
        # Words are tokens by a usual factor
        ("sft phi-4 on 9k letters of 900 words each", {"example_tokens": 1200}),
        ("phi-4, 9 rps, questions of 90 words, 150-word answers", {"answer_tokens": 200}),
        ("lora phi-4, 500 letters, average 6k words", {"example_tokens": 8000}),
        ("pretrain bert-base on 3 billion words", {"words_total": 3_000_000_000}),
        # Numbers that stand beside each other, in words, or for the second time
        ("batch 4 512 tokens lora phi-4, 9k rows", {"batch": 4, "example_tokens": 512}),
        ("batch size 4 000 000 tokens, pretrain phi-4 on 1T tokens", {"step_tokens": 4_000_000}),
        ("lora phi-4 on three point five million tokens", {"train_tokens": 3_500_000}),
        ("phi-4, 40 pupils, context 8k, one L4 for the 40", {"people": 40}),
        ("full sft phi-4 at 16k context for 40M tokens", {"train_tokens": 40_000_000}),
        (
            "sft phi-4 on 90M tokens with a sequence length of 4096",
            {"train_tokens": 90_000_000, "sequence_tokens": 4096},
        ),
        # Data and machines
        ("one epoch of phi-4 over 2 GB of old letters", {"text_gigabytes": 2}),
        ("sft phi-4, 9M tokens on 2 nodes (16x H200)", {"gpus": 16}),
        ("sft phi-4, 9M tokens on 2 nodes (8x H200)", {"gpus": 16}),
        ("phi-4 on our two DGX H100 (8 GPUs each), 9 users", {"have": "16 x h100-80gb-sxm"}),
        ("phi-4 pretraining, 20 tokens per parameter", {"run_tokens": 20 * 14_659_507_200}),
        (
            "pretrain phi-4, 9k steps, 512 sequences x 2048 tokens per step",
            {"run_tokens": 9_437_184_000, "sequence_tokens": 2048},
        ),
        ("sft llama-3.1-8b in 4bit on 9k rows", {"method": "qlora", "fewest_bits": None}),
        ("p4d are sold out. sft phi-4, 9M tokens", {"excludes": "p4d", "instance": None}),
        # Loads
        ("phi-4, 90 requests an hour, bursts to 3 per second", {"requests_per_second": 3}),
        ("phi-4, 35 sessions at once, later maybe 50", {"users": 35}),
        ("phi-4, 150 rps? no, sorry, 15 rps", {"requests_per_second": 15}),
        ("phi-4 for 12 sessions in parallel, each up to 16k tokens", {"context_tokens": 16384}),
        ("the reply (60 tokens) has to be here within 2 s, phi-4", {"request_seconds": 2}),
        ("phi-4 for our lab, 14 of us, 16k windows", {"people": 14, "context_tokens": 16384}),
        ("phi-4, not a cent over $900 a month, 9 users", {"usd_most": 900}),
        ("we pay $900 a month for 90M tokens, would phi-4 do?", {"tokens_per_month": 90_000_000}),
        # Other languages
        ("servir phi-4 para 70 utilizadores em simultâneo", {"users": 70}),
        ("lora phi-4 com 8 milhões de tokens em até 9 horas", {"hours_most": 9}),
        ("phi-4 per 30 dipendenti, al massimo 900 dollari al mese", {"usd_most": 900}),
        ("phi-4 hosten voor 30 medewerkers, 8k context", {"people": 30}),
        ("phi-4, 25 jednoczesnych użytkowników, kontekst 8k", {"users": 25}),
        ("phi-4、同時利用者30人、月額予算は4000ドル以内", {"users": 30, "usd_most": 4000}),
        ("phi-4 für 30 Leute, dreijährige Bindung", {"markets": ["commit-3y"]}),
        ("phi-4 供 30 人使用，只能用 spot 以外的实例", {"excludes": "spot", "markets": None}),
    ],
)
def test_numbers_are_read_by_their_unit_and_noun(text, columns):
    found = read_request(text, catalogs()).columns
    assert {name: found.get(name) for name in columns} == columns


@pytest.mark.parametrize(
    "text",
    [
        "sft phi-4 (tracked in #4417), 9k rows of 90 tokens",
        "vllm 0.11, phi-4, 9 users at once",
        "sft phi-4 on 9k rows of 90 tokens; torch 2.8, peft 0.17",
        "projet n° 3: phi-4 pour 9 employés",
        "sft... never mind, dpo of phi-4 with 9k pairs of 90 tokens",
        "sft phi-4 on nine thousand rows (say 9k), 90 tokens each",
        "please forget what I said about 70B. lora phi-4, 9M tokens",
        "lora phi-4, 9k rows of 90 tokens, it stops at step 37 of 1250",
        "phi-4 for 30ish users, the credits expire 12/31",
        "phi-4, 9 rps between 9 and 12",
        "phi-4 für 9 Nutzer (Kst. 4711)",
        "order PO 4500012345: phi-4, 9 users, business hours",
        "phi-4 for 30 (thirty) users on 1 (one) L4",
        "we replace bert-base (110M) by phi-4, 9 rps",
        "which of the two is cheaper, g6e or p5? phi-4 for 9 users",
    ],
)
def test_labels_and_what_is_taken_back_raise_no_question(text):
    assert read_request(text, catalogs()).questions == ()


@pytest.mark.parametrize(
    ("text", "column"),
    [
        ("mistral-small 3.9, 9 users at once", "model"),
        ("phi-4 by ollama for 9 users", "implementation"),
    ],
)
def test_a_release_or_an_engine_that_is_not_known_is_asked_about(text, column):
    reading = read_request(text, catalogs())
    assert [one.column for one in reading.questions] == [column]
    assert column not in reading.columns


def test_a_length_in_words_is_named_as_assumed():
    reading = read_request("sft phi-4 on 9k letters of 900 words each", catalogs())
    assert "'900 words' as 1,200 tokens (4 tokens for 3 words)" in reading.assumed


@pytest.mark.parametrize(
    ("text", "columns"),
    [
        # What is counted, and how much each of it has
        ("lora phi-4, 3k new tickets + 9k old ones, 90 tokens per ticket", {"examples": 12_000}),
        ("lora phi-4, 3k new tickets + 9k old ones, 90 tokens per ticket", {"example_tokens": 90}),
        ("phi-4, 9k prompts, 3k tokens each, 90 out", {"requests_total": 9000}),
        ("phi-4, 9k prompts, 3k tokens each, 90 out", {"prompt_tokens": 3000}),
        ("sft phi-4, 9k rows, mean len 900", {"example_tokens": 900, "sequence_tokens": None}),
        ("sft phi-4, 9k rows, p95 is 900 tokens", {"example_tokens": None}),
        ("9 rps, phi-4, 600 tokens context, 16 tokens out", {"prompt_tokens": 600}),
        ("lora phi-4, 12½ million tokens", {"train_tokens": 12_500_000}),
        ("phi-4 全量微调 9M tokens，预算一千二百美元", {"usd_most": 1200}),
        ("lora phi-4 with minus 5000 examples", {"examples": None}),
        # Loads
        ("phi-4, 9,000 questions a day, peak hour has 15% of them", {"requests_per_second": 0.375}),
        ("phi-4, we need 3x headroom over 7 req/s (so 21)", {"requests_per_second": 21}),
        ("20 adapters on phi-4, each adapter gets 0.2 rps", {"requests_per_second": 4}),
        ("90 users, a third of them active, each asks 8 times an hour, phi-4", {"people": 90}),
        (
            "90 users, a third of them active, each sends 12 prompts an hour, phi-4",
            {"requests_per_second": 0.1},
        ),
        ("phi-4, 9 coding agents around the clock", {"users": 9, "people": None}),
        ("cost per 1k requests of phi-4 at 9 rps", {"requests_total": None, "tokens_total": None}),
        (
            "phi-4, 9k letters a day, 90 tokens each, nightly from 22 to 4 o'clock",
            {"hours_most": 6, "requests_total": 9000},
        ),
        # Models and goals
        ("teacher llama-3.3-70b, student phi-4, distillation on 9M tokens", {"model": "phi-4"}),
        ("instead of the 70B model we plan with phi-4, 9 users", {"model": "phi-4"}),
        ("our fine-tuned phi-4 for 9 chats at once", {"goal": "serve"}),
        ("phi-4 fine-tuned on 9k rows", {"goal": "tune"}),
        ("full ft of phi-4 on our spare H100, 9M tokens", {"goal": "tune"}),
        ("the deadline isn't: 36 hours for full ft of phi-4 on 9M tokens", {"model": "phi-4"}),
        ("we have 90 H100 hours: sft phi-4", {"have": None, "gpu_hours_most": 90}),
    ],
)
def test_each_number_keeps_to_what_it_counts(text, columns):
    found = read_request(text, catalogs()).columns
    assert {name: found.get(name) for name in columns} == columns


@pytest.mark.parametrize(
    ("text", "columns"),
    [
        ("KV cache of phi-4 for 40 sequences of 16k each", {"users": 40, "context_tokens": 16384}),
        ("phi-4, one request at a time", {"users": 1}),
        ("qlora of a 405b, 9k rows of 90 tokens", {"model": "llama-3.1-405b"}),
        ("pretrain our own 405b on 9B tokens", {"model": None}),
        ("phi-4, keep it warm for demos, 3 hours every tuesday", {"hours_most": None}),
        ("move phi-4 from A100 to H200, 9 rps", {"gpu": "h200-sxm"}),
        ("spot is fine, but no capacity blocks: sft phi-4", {"markets": ["on-demand", "spot"]}),
        ("9 rps, phi-4, 6k of 7k tokens are the same", {"shared_prompt_tokens": 6000}),
        ("8 bit weights, 16 bit kv cache, phi-4 for 9 users", {"fewest_bits": "8"}),
        ("phi-4, batch mode, 9 billion output tokens", {"goal": "serve"}),
        ("our budget is 900 H100-hours: sft phi-4", {"gpu_hours_most": 900, "usd_most": None}),
        ("phi-4, users wait max 2s, 25 at the same time", {"users": 25}),
        ("what's the bill if phi-4 sits on two p5.48xlarge", {"instances_most": 2}),
    ],
)
def test_a_word_beside_a_number_does_not_take_it_for_something_else(text, columns):
    found = read_request(text, catalogs()).columns
    assert {name: found.get(name) for name in columns} == columns


@pytest.mark.parametrize(
    ("text", "columns"),
    [
        ("sft phi-4, 9k rows, longest 3.9k tokens, typical 620", {"example_tokens": 620}),
        ("translate nine million characters of text by phi-4", {"tokens_total": "2250000 tokens"}),
        ("our 4-person team wants to chat with phi-4", {"people": 4}),
        ("our 4-person team serves phi-4 at 9 rps", {"people": None}),
        ("we pay $900 a month for mixtral. Would phi-4 hold 9 users at once?", {"model": "phi-4"}),
        ("v2 of our bot (replaces the llama-2-13b one) has phi-4, 9 users", {"model": "phi-4"}),
        ("whisper: 90 hours of calls, whisper-large-v3", {"model": "whisper-large-v3"}),
        ("whisper-large-v3 for 9 agents, 6h of talking per agent per day", {"tokens_total": None}),
        ("phi-4, 2T tokens on 1024 A100", {"goal": "train"}),
    ],
)
def test_what_is_said_of_another_thing_is_not_taken(text, columns):
    found = read_request(text, catalogs()).columns
    assert {name: found.get(name) for name in columns} == columns


@pytest.mark.parametrize("name", ["xlm-roberta-large", "bge-base-en-v1.5", "qwen2.5-14b-1m"])
def test_a_name_that_contains_another_is_not_taken_for_it(name):
    reading = read_request(f"{name} for 9 users", catalogs())
    assert "model" not in reading.columns
    assert "is not in the catalog" in reading.problem


@pytest.mark.parametrize(
    ("text", "columns"),
    [
        (
            "reward model first (phi-4, 9k comparisons), the PPO comes later",
            {"objective": "reward"},
        ),
        ("roberta-large classification: 9k reviews x 180 tokens x 2 epochs", {"goal": "tune"}),
        ("phi-4, 9 users at once, prompts with history 5k, reply 300", {"prompt_tokens": 5000}),
        ("phi-4, 9 rps, 1k prompt, 150 answer", {"answer_tokens": 150, "requests_total": None}),
        (
            "phi-4, 720 visitors a day, 5 questions each, 10:00-18:00",
            {"requests_per_second": 0.125, "hours_per_month": 243.2},
        ),
        ("A with 12 rps, B with 3 rps, phi-4", {"requests_per_second": None}),
        ("phi-4 eval: 57 tasks, 14,000 questions, 90 out, done in 90 minutes", {"hours_most": 1.5}),
        ("phi-4 eval: 57 tasks, 14,000 questions, 90 out", {"requests_total": 14_000}),
        ("whisper-large-v3, 3 years of calls, 9k hours", {"tokens_total": "9000 hours"}),
        ("lora phi-4, 9M tokens, a week is fine", {"hours_most": 168}),
        ("cap: ten thousand a quarter, phi-4, 9 users at once", {"usd_most": 3333.33333333}),
        ("cheaper of the two: g6e or an API? phi-4 for 9 users", {"instances_most": None}),
        ("phi-4 für 9 Nutzer, keine Maschinen außerhalb Europas", {"excludes": None}),
        ("5 analysts, one question each per 2 minutes, phi-4", {"requests_per_second": 0.0416667}),
        ("one request an hour from each of 90 users, phi-4", {"requests_per_second": 0.025}),
        ("30 requests per 10 seconds, phi-4", {"requests_per_second": 3}),
        ("two replicas of phi-4 so that one can die, 9 qps", {"spare": 1}),
        (
            "45M prompt tokens, 9M completion tokens a month, phi-4",
            {"tokens_per_month": 54_000_000},
        ),
        ("budget for the quarter: 900 USD, phi-4 for 9 users", {"usd_most": 300}),
        ("3M requests last month, 90 in, 9 out, phi-4", {"requests_per_second": 1.14155251142}),
        ("last month we spent $4k. phi-4 for 9 users", {"usd_most": None}),
        ("our rack: 2 servers, each 4x L40S, phi-4", {"gpus": 8}),
        ("average 3, max 12 concurrent chats, phi-4", {"users": 12}),
        ("phi-4 / lora r=64 / 9M tokens / any gpu", {"train_tokens": 9_000_000}),
        ("the pilot (5 users, one L4) is over. phi-4 for 90 people", {"users": None, "gpu": None}),
        ("budget 48k USD for the bot (i.e. 4k/month), phi-4, 9 users", {"usd_most": 4000}),
        ("between $500 and $700 monthly, phi-4 for 9 users", {"usd_most": 700}),
        ("treinar LoRA no phi-4 com 15 mil exemplos de 700 tokens", {"examples": 15_000}),
        (
            "synthetic data by phi-4: 9k samples, from a 600 token prompt and 90 tokens long",
            {"answer_tokens": 90},
        ),
        ("our users are used to text appearing on the screen after 1.2 s, phi-4", {"have": None}),
        ("sft phi-4 on 9M tokens, Spot kommt für uns nicht in Frage", {"excludes": "spot"}),
        ("quota: 192 vCPUs for P, 0 for G. sft phi-4", {"excludes": "g"}),
        ("7 days of a p5en, how far do I get with pretraining phi-4?", {"solve": "train_tokens"}),
        ("H200s, 2 nodes of 8. phi-4 for 9 users", {"gpus": 16, "instances_most": None}),
        ("40M tokens a day go to phi-4 and 6M come back per day", {"tokens_per_day": 46_000_000}),
        ("bert-base mlm from scratch: 9B tokens, batch 256, 512 long", {"sequence_tokens": 512}),
        ("full sft of phi-4 with 8bit adamw", {"optimizer": "adamw-8bit", "fewest_bits": None}),
        ("would 4x L40S do for phi-4?", {"gpus": 4, "gpus_most": None}),
        ("phi-4 für 9 Nutzer, kein US-Standort", {"excludes": "us"}),
        ("combien de H200 pour servir phi-4 à 60 utilisateurs simultanés ?", {"users": 60}),
        ("the old cluster (16 V100) is gone, now sft of phi-4, p4d ok", {"gpu": None}),
        ("9 rps, 95% of the questions within 4 s, phi-4", {"request_seconds": 4}),
        ("two L40S that we already own, plus rent more: phi-4", {"have": "2 x l40s"}),
        ("phi-4 on 4xL40S, 20 users at once 8k", {"users": 20, "context_tokens": 8192}),
        ("phi-4 + lora + 9M tokens + 8xA100-80 + spot", {"gpus": 8, "train_tokens": 9_000_000}),
        ("what throughput can I expect of phi-4 on 4x L4?", {"solve": "users"}),
        ("p5.48xlarge for 2 days: on what (tokens) can I lora phi-4?", {"solve": "train_tokens"}),
        ("phi-4를 동시 사용자 40명에게 서비스, 월 예산 3,000달러", {"users": 40, "usd_most": 3000}),
    ],
)
def test_what_stands_beside_a_number_says_what_it_is(text, columns):
    found = read_request(text, catalogs()).columns
    assert {name: found.get(name) for name in columns} == columns


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("22 requests/s in the peak, 4 on average, phi-4", "4 on average"),
        ("90 requests an hour, bursts to 3 per second, phi-4", "90 requests an hour"),
        ("average 3, max 12 concurrent chats, phi-4", "average 3"),
    ],
)
def test_of_two_numbers_in_one_phrase_the_one_that_is_left_out_is_named_alone(text, words):
    assert words in read_request(text, catalogs()).not_counted
