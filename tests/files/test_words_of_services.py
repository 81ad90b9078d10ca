"""Requests for services and work that ends, by words that no phrase of the vocabulary has whole."""

import pytest
from examples import catalogs

from calc import read_request

pytestmark = pytest.mark.usefixtures("read_once")


@pytest.mark.parametrize(
    ("text", "columns"),
    [
        ("qwen3-8b eval: 64 tasks, 20 samples each, 700 in", {"requests_total": 1280}),
        ("qwen3-embedding-8b on 9B tokens, three days", {"hours_most": 72}),
        (
            "read our 140,000 scanned contracts (12 pages each) with qwen2.5-vl-7b in 9 days",
            {"tokens_total": "1680000 images", "images_per_sequence": None},
        ),
        (
            "qwen3-8b, 400 players online at peak, of which 10% talk at the same moment",
            {"people": 400, "share_active": 0.1, "users": None},
        ),
        (
            "one in 20 of our 3,000 staff uses qwen3-8b at any moment",
            {"people": 3000, "share_active": 0.05},
        ),
        (
            "qwen3-8b, 30k tokens per prompt, of which 80% is the same, 9 devs",
            {"shared_prompt_tokens": 24000},
        ),
        (
            "bge-reranker-v2-m3, 25 docs per query with 400 tokens, 12 queries/s",
            {"requests_per_second": 300, "prompt_tokens": 400},
        ),
        ("modernbert-large must return within 20 ms, 80 rps", {"first_token_seconds": 0.02}),
        ("rag with qwen3-8b, 12k tokens of context per question", {"prompt_tokens": 12000}),
        (
            "qwen3-8b, 20 requests per minute, 210 per minute at peak",
            {"requests_per_second": 3.5},
        ),
        (
            "phi-4, 86,400 requests a day over all 24 hours, prompts of 900 tokens",
            {"requests_per_second": 1, "hours_per_month": 730},
        ),
        (
            "phi-4 for 9 users. We pay $900 a month, not a penny more",
            {"usd_most": 900, "usd_paid_now": None},
        ),
        ("phi-4 for 90 clerks, each clerk asks 2 questions a minute", {"requests_per_second": 3}),
        ("phi-4 for 90 devs, every one of them asks 120 questions/h", {"requests_per_second": 3}),
        ("phi-4 for 90 devs, each dev fires 2 requests/min", {"requests_per_second": 3}),
        ("phi-4 for 90 devs at 2 rpm each", {"requests_per_second": 3}),
        ("phi-4 for 90 people, 0.5 rps per user", {"requests_per_second": 45}),
        ("phi-4 on 9k pdfs each night between midnight and 5am", {"hours_most": 5}),
        ("phi-4 for 9 users from noon until midnight", {"hours_per_month": 364.8}),
        ("phi-4 for 9 users, spot is a no-go", {"excludes": "spot", "markets": None}),
        (
            "us-east-1 never has capacity, so us-west-2 only. phi-4 for 9 users",
            {"regions": ["us-west-2"], "excludes": "us-east-1"},
        ),
        ("max users on a single L40S with qwen3-8b", {"solve": "users"}),
        ("serve qwen3-8b at 20 rps, and one extra machine", {"spare": 1, "instances_most": None}),
        (
            "serve qwen2.5-vl-7b, 4 requests per second each with 2 images",
            {"requests_per_second": 4, "images_per_sequence": 2},
        ),
        (
            "whisper-small, 90,000 voice messages a day, 40 seconds each",
            {"audio_hours_per_day": 1000, "tokens_total": None, "requests_per_second": None},
        ),
        ("qwen3-8b, 15k pdfs each night, 6k in, 90 out, from 10pm to 6am", {"hours_most": 8}),
        ("whisper-base for 30 hours of talks on my 4080", {"have": "1 x rtx-4080"}),
        ("qwen3-8b for 9 users, no p4", {"excludes": "p4d+p4de", "instance": None}),
        (
            "qwen3-8b, 9 rps, prompt 900 tokens on average, 2 replicas would be nice",
            {"prompt_tokens": 900},
        ),
        (
            "We recently tested gemma-3-12b on an A10G.\nNow 6 rps, L4 or L40S",
            {"gpu": "l4+l40s"},
        ),
        (
            "embed 9M documents of 500 tokens with bge-m3, spot if they are cheaper",
            {"markets": ["on-demand", "capacity-block", "spot"]},
        ),
        ("qwen3-8b for 9 users, what does it cost a month?", {"hours_most": None}),
        (
            "qwen3-8b, 45 users, 90% of answers within 2.5 s",
            {"request_seconds": 2.5, "first_token_percentile": "90"},
        ),
        ("qwen3-8b answers must begin after 0.3 s, 9 calls at once", {"first_token_seconds": 0.3}),
        (
            "phi-4, 14,400 chats a day with 6 turns each, 700 in, 150 out",
            {"requests_per_second": 1},
        ),
        ("serve phi-4 with n+1 redundancy at 8 rps", {"spare": 1}),
        ("every tenth of 900 employees uses qwen3-8b at the same time", {"share_active": 0.1}),
        ("2M question/answer pairs by phi-4, 500 out each, 90 in", {"requests_total": 2_000_000}),
        ("kimi k2.6 @ 30 concurrent, 40k ctx each", {"model": "kimi-k2.6", "users": 30}),
        ("classify 10M tweets with modernbert-base, 50 tokens", {"tokens_total": "500000000"}),
        ("1M chat completions offline, qwen3-8b, 90 in, 30 out", {"requests_total": 1_000_000}),
        (
            "embed 9M texts of 500 tokens with bge-m3.\nLater we will add 20,000 texts a day",
            {"requests_per_second": None, "tokens_total": "4500000000"},
        ),
        (
            "glm-4.7 for 9 devs, 50k prompts of which 45k are cached",
            {"shared_prompt_tokens": 45000},
        ),
        ("gemma-3-12b, 2 seconds until the reply starts, 9 rps", {"first_token_seconds": 2}),
        ("sub-second ttft for 9 concurrent on phi-4", {"first_token_seconds": 1}),
        ("25 agents, each has 2 chats open at the same time, phi-4", {"users": 50}),
        ("phi-4, 9 sessions at once, 800 tokens per answer", {"answer_tokens": 800}),
        (
            "shared system prompt 4k, user message 300, answer 150, qwen3-14b, 18 rps",
            {"prompt_tokens": 4300, "people": None},
        ),
        ("price of 200M output tokens by phi-4 in a batch job", {"tokens_total": "200000000"}),
        ("process 1 billion tokens with qwen3-8b", {"tokens_total": "1000000000 tokens"}),
        ("generate 1 billion tokens with qwen3-8b", {"tokens_total": "1000000000"}),
        (
            "qwen3-14b: summaries of 12k call transcripts, 5k tokens each, 200 tokens out",
            {"requests_total": 12000, "users": None},
        ),
        ("phi-4, 40k requests, 3k in, 1k out, 24h turnaround", {"hours_most": 24}),
        (
            "phi-4 for 9 users, prompts with attachments are around 4,500 tokens long",
            {"prompt_tokens": 4500, "context_tokens": None},
        ),
        ("serve phi-4, int8 kv, 50 seqs x 16k", {"kv_precision": "int8", "precision": None}),
        (
            "phi-4 for 9 devs, 12k token prompts (9k of it identical)",
            {"shared_prompt_tokens": 9000, "prompt_tokens": 12000},
        ),
        (
            "phi-4 for 1,500 subscribers, a fifth of them online in the evening",
            {"people": 1500, "share_active": 0.2},
        ),
        ("glm-4.7 for 9 devs, 50k context of which 45k are cached", {"prompt_tokens": 50000}),
        ("vit-huge features for 900k x-ray images", {"tokens_total": "900000 images"}),
        ("phi-4 on 500 coding problems with 8 attempts each, 1k in", {"requests_total": 4000}),
        (
            "ocr of 2,000 books of 300 pages with qwen2.5-vl-7b",
            {"tokens_total": "600000 images", "requests_total": None},
        ),
        ("phi-4 for 9 users, the bill must not exceed 900 dollars", {"usd_most": 900}),
        (
            "phi-4, 9 users, prompt 850 tokens, of which 700 are identical",
            {"shared_prompt_tokens": 700},
        ),
        ("serve phi-4\nusers: 9\nhours per day: 12", {"hours_per_month": 364.8}),
        (
            "each of our 500 agents sends 36 requests per hour to phi-4",
            {"requests_per_second": 5, "people": 500},
        ),
        ("serve phi-4 to 9 users on weekends only", {"hours_per_month": 208.457142857}),
        ("two thirds of 300 users are active at once, phi-4", {"share_active": 0.666666666667}),
        ("serve minimax-m2.7 on our 8x H200 box to 30 devs", {"have": "8 x h200-sxm"}),
        # Loads of each of several things, and how much higher the peak is
        ("phi-4, 864k mails a day, peak factor 3, 90 in", {"requests_per_second": 30}),
        ("each shop has 20 clerks, 30 shops, phi-4", {"people": 600}),
        ("12 devs x 2 parallel agents, phi-4", {"users": 24}),
        ("9 devs, 20 completions per dev per minute: phi-4", {"requests_per_second": 3}),
        ("600 guests per hour, each asks 3 questions, phi-4", {"requests_per_second": 0.5}),
        ("400 gamers, a request every 20 s per gamer, phi-4", {"requests_per_second": 20}),
        ("4 tags for each of 9k texts (90 tokens) by phi-4, offline", {"requests_total": 36000}),
        ("20 cooks wait for a reply at the same time, phi-4", {"people": None}),
        ("how many concurrent 4k sessions of phi-4 fit an L4", {"users": None}),
        ("siglip2-so400m over 9M images, one pass", {"goal": "serve"}),
        ("whisper-small for 3000 hours", {"tokens_total": "3000 hours"}),
        ("phi-4 for 9 devs, ctx 50k, 90% cached", {"shared_prompt_tokens": 45000}),
        ("phi-4, ttft 1 s, 20 tokens per second", {"tokens_per_second": None}),
    ],
)
def test_numbers_land_in_their_columns(text, columns):
    found = read_request(text, catalogs()).columns
    assert {name: found.get(name) for name in columns} == columns


@pytest.mark.parametrize(
    ("text", "column", "words"),
    [
        ("we're billed $900 a month, what of qwen3-8b for 20 users", "usd_most", "$900 a month"),
        (
            "phi-4 at 2 rps: question 100 tokens, retrieved text 4,000 tokens, answer 90 tokens",
            "prompt_tokens",
            "4,000 tokens",
        ),
        (
            "phi-4, 7 rps, 90 in, 90 out, 15 tokens per second suffice",
            "token_seconds",
            "15 tokens per second",
        ),
        ("serve qwen3-8b to our department (55 heads)", "heads", "55 heads"),
    ],
)
def test_what_may_mean_two_things_is_asked_about(text, column, words):
    asked = read_request(text, catalogs()).questions
    assert (column, words) in {(one.column, one.words) for one in asked}
