"""The columns of a job beyond those of a scenario, and their defaults."""

from typing import Any

import numpy as np

from calc.cost.markets import MARKETS, USUAL_MARKETS
from calc.cost.obtainability import CLASSES
from calc.evaluate import Row
from calc.scenarios.inputs import BY_NAME, Input
from calc.units import WEEK_HOURS

METHODS = ("full", "lora", "qlora")
ANYWHERE = "anywhere"
JOB_MARKETS = tuple(MARKETS)  # a commitment is ranked where the job names it, and only there
TRAIN_TOKENS = 150_000_000  # 50,000 examples of 1,000 tokens, three times
EXAMPLE_TOKENS = 1_000
SEQUENCE_TOKENS, STEP_TOKENS = 4096, 131_072
# Tokens of a step from scratch, for models with at most so many parameters: GPT-3's below a billion
# (Brown et al. 2020, arXiv 2005.14165, table 2.1), TinyLlama's (its README), and Llama 2's from 7
# billion on (Touvron et al. 2023, arXiv 2307.09288, table 1). The last two warm up for 2,000 steps
# (section 2.2), so a short run is divided into as many, of STEP_TOKENS at least.
FROM_SCRATCH_STEPS = ((1e9, 2**19), (6e9, 2**21), (float("inf"), 2**22))
WARM_UP_STEPS = 2_000
# Where a service sets no limit on its first token: 5 s, and longer for prompts that take longer to
# read. A single 8-GPU machine reads a long prompt of a large model at thousands of tokens a second.
FIRST_TOKEN_SECONDS, PROMPT_TOKENS_PER_SECOND, TOKEN_SECONDS = 5.0, 4_000, 0.1
# Where a job sets no limit on instances: so many, or so many GPUs, whichever is more.
USUAL_INSTANCES, USUAL_GPUS, MOST_INSTANCES = 16, 128, 512
# Of training that generates its answers; the prompt as data.max_prompt_length of verl and
# max_prompt_length of TRL by default.
PROMPTS_PER_STEP, ROLLOUT_PROMPT_TOKENS = 128, 512
SHARDINGS = ("none", "zero1", "zero2", "zero3")  # the plainest first
TIE_RATIO = 1.005  # in money, time or headroom, nobody can tell these apart
BOTH_WITHIN = 1.01  # of costs and times that count as equal

# Assumptions of the ranking.
JUDGED = (
    "answers_per_day",
    "easiest_usd_ratio",
    "faster_ratio",
    "knee_pace_ratio",
    "knee_usd_ratio",
    "scarce_spot_seconds",
    "tie_ratio",
    "working_days_per_month",
)
# Named in addition to lowest cost, knee and easiest, if the job requests them.
ASKED_ANSWERS = ("fastest", "roomiest")
ADMITS = ("tight", "unverified")  # what qualifies beside what is known to run and surely fits
# a step of half to twice the tokens learns about the same; beyond, learning rate and schedule are
# others
STEP_FACTOR = 2.0

LIMITS = (
    "hours_most",
    "usd_most",
    "usd_per_hour_most",
    "gpu_hours_most",
    "instances_most",
    "first_token_seconds",
    "token_seconds",
)
OF_MONEY = LIMITS[:5]  # what a plan takes in all, against its pace
# Percentiles of the requests that a limit on time holds for; empty: the mean at the steady rate.
SHARES = ("", "50", "90", "99")
# The original format, and 8 bits if the maker or a known third party publishes them; nothing is
# quantized here.
PUBLISHED = "published"

SERVICE_CLASSES = ("interactive", "batch", "critical")

JOB_INPUTS = (
    Input("job", "text"),
    Input("service_class", "choice", "", ("", *SERVICE_CLASSES)),
    Input("goal", "choice", "tune", ("train", "tune", "serve")),
    Input("examples", "count", None),
    Input("example_tokens", "count", None),
    Input("epochs", "number", None),
    Input("method", "choice", "full", METHODS),
    Input("step_tokens", "count", STEP_TOKENS),
    Input("step_factor", "number", STEP_FACTOR),
    Input("users", "count", 8),
    Input("people", "count", None),
    Input("requests_per_second", "number", None),
    Input("context_tokens", "count", None),
    Input("answer_tokens", "count", 512),
    Input("first_token_seconds", "number", None),
    Input("token_seconds", "number", TOKEN_SECONDS),
    Input("first_token_percentile", "choice", "", SHARES),
    Input("token_percentile", "choice", "", SHARES),
    Input("regions", "text", "us-east-1"),
    Input("markets", "text", "+".join(USUAL_MARKETS)),  # blocks are sold of P families, for runs
    Input("hours_most", "number", None),
    Input("usd_most", "number", None),
    Input("usd_per_hour_most", "number", None),
    Input("gpu_hours_most", "number", None),
    Input("instances_most", "count", None, most=MOST_INSTANCES),
    Input("fewest_bits", "choice", PUBLISHED, (PUBLISHED, "16", "8", "4")),
    Input("quantize_own", "choice", "no", ("no", "yes")),
    Input("confidence", "choice", "75", ("50", "75", "95")),
    Input("admits", "text", ""),
    Input("obtainable", "choice", "wait-or-quota", CLASSES),
    Input("answers", "text", ""),
    Input("have", "text", ""),
)
# Normal quantiles over that of the slow end: the range of an estimate holds the middle 90 of 100
# cases, on a log scale.
CONFIDENCE_REACH = {"50": 0.0, "75": 0.6745 / 1.6449, "95": 1.0}
EXAMPLES = ("examples", "example_tokens", "epochs")  # which together are the tokens of a run
# Of a context without prompt and answer one part is generated, and no more than so many tokens:
# long contexts are read, and 99 in 100 answers of a chat have at most 601 tokens (Azure's trace of
# conversations, 2023).
CONTEXT_PARTS, CONTEXT_ANSWER_TOKENS = 8, 1024
# Limit on pace -> the column that it limits.
PACE = {
    "first_token_seconds": "time_to_first_token_seconds",
    "token_seconds": "time_per_output_token_seconds",
}
JOB_BY_NAME = {column.name: column for column in JOB_INPUTS}
# Columns of a scenario in which a job has another default.
USUAL: dict[str, Row] = {
    "training": {"train_tokens": TRAIN_TOKENS, "hours_most": WEEK_HOURS},
    "inference": {"goal": "serve", "prompt_tokens": 1024},
}
SAID_BY_JOB = (
    "work",
    "model",
    "train_tokens",
    "tokens_total",
    "sequence_tokens",
    "prompt_tokens",
    "hours_per_month",
    "region",
    "scenario",
)
# Scenario columns that fix, or list, a choice.
FIXABLE = tuple(name for name in BY_NAME if name not in SAID_BY_JOB)
SEVERAL = tuple(
    name for name in FIXABLE if name not in ("lora_targets", "private_prices")
)  # of these `a+b` is a list
# What an answer has beside a result row.
ANSWER_COLUMNS = (
    "answer",
    "market",
    "why",
    "why_codes",
    "problem_code",
    "tried",
    "possible",
    "usd",
    "hours",
    "usd_per_hour",
    "instances",
    "billed_hours",
    "billed_gpu_hours",
    "seconds",
    "misses",
    "missed_limits",
    "limits_cost",
    "rivals",
    "goodput_ratio",
)


def usual_limits_seconds(prompt_tokens: Any) -> Row:
    """The limits on time of a service that sets none, by column; for one prompt or many. [s]"""
    first = np.maximum(FIRST_TOKEN_SECONDS, prompt_tokens / PROMPT_TOKENS_PER_SECOND)
    return {"first_token_seconds": first, "token_seconds": TOKEN_SECONDS}
