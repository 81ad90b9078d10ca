"""The columns of each quantity, by its role and by what the work is."""

from dataclasses import dataclass

from calc.files.words.facts import Facts, counted
from calc.files.words.frames import Claim
from calc.units import DAY_HOURS

HOUR, DAY, MONTH = 3600.0, 86400.0, 2628000.0
MONTH_DAYS, MONTH_WORK_DAYS, MONTH_HOURS = 30.4, 21.75, 730.0
AMOUNTS = ("train_tokens", "run_tokens", "examples", "tokens_total")
LONG_RUN = 1e6  # tokens from which an amount is of a run and not of one sequence
LONGEST_LENGTH = 2e5  # tokens that an unnamed length may have
SAME = {  # roles that are columns of any work
    *("people", "users", "share_active", "requests_per_second", "first_token_seconds", "token_seconds", "request_seconds"),
    *("epochs", "step_tokens", "lora_rank", "generations", "completion_tokens", "accumulation_steps", "batch", "adapters"),
    *("tensor_parallel", "pipeline_parallel", "context_parallel", "expert_parallel", "hours_most", "usd_most"),
    *("layers", "hidden", "heads", "kv_heads", "ffn", "vocab", "spare", "quota_vcpus", "instances_most", "gpus_most"),
    *("prompt_tokens", "answer_tokens", "shared_prompt_tokens", "usd_per_million_tokens", "text_gigabytes", "words_total"),
    *("gpu_memory_gb", "tokens_per_second"),
}


@dataclass
class Amounts:
    """The claims of a text by role, and the work that they belong to."""

    facts: Facts
    claims: list[Claim]
    goal: str
    is_batch: bool
    embeds: bool  # the model answers with a vector or a number
    weekdays: bool
    text: str

    def of(self, *roles: str) -> list[Claim]:
        """The claims of these roles."""
        return [claim for claim in self.claims if claim.role in roles]

    def value(self, *roles: str) -> float:
        """The value of the first claim of these roles; 0 where there is none."""
        return next((claim.item.value for claim in self.of(*roles)), 0.0)

    def put(self, column: str, claim: Claim, value: float | None = None) -> None:
        """Set a column by a claim."""
        amount = claim.item.value if value is None else value
        column_value = counted(amount / HOUR) if column == "hours_most" and value is None else amount
        scale = claim.item.extra.get("scale", "") if value is None else ""
        self.facts.put(column, float(column_value), self.words(claim), scale)
        if "low" in claim.item.extra:
            self.facts.assumed.append(f"the upper end of '{claim.item.text}'")

    def words(self, claim: Claim) -> str:
        """The words of a claim."""
        return self.text[claim.start : claim.end]


def put_quantities(amounts: Amounts) -> None:
    """Set the columns of all claims."""
    for claim in amounts.claims:
        if claim.role in SAME:
            amounts.put(claim.role, claim)
    (_serving if amounts.goal == "serve" else _training)(amounts)
    _money(amounts)
    _times(amounts)
    _latency(amounts)
    _bytes(amounts)


def _serving(amounts: Amounts) -> None:
    facts = amounts.facts
    for claim in amounts.of("users_plain"):
        amounts.put("people" if amounts.of("users", "share_active") else "users", claim)
    for claim in amounts.of("users_session", "batch"):
        facts.columns.pop("batch", None)
        amounts.put("users", claim)
    for claim in amounts.of("context_tokens", "seq_tokens"):
        amounts.put("context_tokens", claim)
    for claim in amounts.of("length_in"):
        amounts.put("prompt_tokens", claim)
    for claim in amounts.of("length_out"):
        amounts.put("answer_tokens", claim)
    for claim in amounts.of("question_tokens"):
        amounts.put("prompt_tokens", claim, claim.item.value + amounts.value("shared_prompt_tokens"))
    _load(amounts)
    _work_of_batch(amounts)
    if cached := amounts.of("share_cached"):
        if prompt := facts.columns.get("prompt_tokens"):
            amounts.put("shared_prompt_tokens", cached[0], float(round(prompt * cached[0].item.value)))
        else:
            facts.ask("shared_prompt_tokens", amounts.words(cached[0]))


def _load(amounts: Amounts) -> None:
    """Rates of requests and tokens."""
    facts = amounts.facts
    for claim in amounts.of("requests_per_minute"):
        amounts.put("requests_per_second", claim, claim.item.value / 60)
    for claim in amounts.of("requests_rate"):
        amounts.put("requests_per_second", claim, claim.item.value / claim.rate_seconds)
        if claim.rate_seconds >= DAY:
            facts.assumed.append(f"'{amounts.words(claim)}' spread evenly over the time")
    for claim in amounts.of("tokens_rate_second", "tokens_rate_user_second"):
        _token_rate(amounts, claim, claim.item.value, "user" in claim.role)
    for claim in amounts.of("tokens_rate", "tokens_rate_user", "tokens_rate_total"):
        per_second = claim.item.value / claim.rate_seconds
        if claim.rate_seconds < DAY:
            _token_rate(amounts, claim, per_second, "user" in claim.role, "total" in claim.role)
        else:
            _tokens_a_day(amounts, claim, claim.item.value)
    if both := amounts.of("tokens_rate_both"):
        _tokens_a_day(amounts, both[0], sum(claim.item.value for claim in both))


def _token_rate(amounts: Amounts, claim: Claim, per_second: float, of_user: bool, of_all: bool = False) -> None:
    """A rate of tokens: of each user where users are named, else of all together."""
    if of_user or (not of_all and amounts.of("users", "users_plain", "people", "users_session")):
        amounts.put("token_seconds", claim, 1 / per_second)
    else:
        amounts.put("tokens_per_second", claim, per_second)


def _tokens_a_day(amounts: Amounts, claim: Claim, tokens: float) -> None:
    monthly = claim.rate_seconds > 8 * DAY
    column = "tokens_per_month" if monthly else "tokens_per_day"
    per = MONTH if claim.rate_seconds == MONTH else DAY
    amounts.put(column, claim, tokens * (MONTH if monthly else DAY) / claim.rate_seconds if claim.rate_seconds not in (DAY, MONTH) else tokens)
    words = amounts.words(claim)
    amounts.facts.ask(
        "requests_per_second",
        words,
        text=f"You wrote '{words}'. How many requests a second is that at the peak, and how many tokens has a request and its answer?",
    )
    del per


def _work_of_batch(amounts: Amounts) -> None:
    """Amounts of work that ends: documents, requests, tokens, images, hours of sound."""
    facts = amounts.facts
    each = amounts.of("each_tokens")
    counts = amounts.of("documents", "requests_count", "answers_count", "examples", "completions")
    for claim in amounts.of("prompts"):
        is_length = claim.item.value <= LONGEST_LENGTH and not (amounts.is_batch and not amounts.of("tokens"))
        if is_length and "prompt_tokens" not in facts.columns:
            amounts.put("prompt_tokens", claim)
        else:
            counts.append(claim)
    length = each[0].item.value if each else float(facts.columns.get("prompt_tokens", 0.0)) if amounts.embeds else 0.0
    if each and counts and (rate := facts.columns.get("requests_per_second")) and counts[0].item.value <= 1000:
        facts.columns["requests_per_second"] = counted(rate * counts[0].item.value)
        facts.put("prompt_tokens", each[0].item.value, amounts.words(each[0]))
        return
    for claim in counts:
        if amounts.embeds and length:
            facts.drop("prompt_tokens") if not each else None
            facts.put("tokens_total", f"{claim.item.value * length:.15g}", amounts.words(claim))
        else:
            amounts.put("requests_total", claim)
            if amounts.embeds or not (each or "prompt_tokens" in facts.columns or "answer_tokens" in facts.columns):
                facts.ask("prompt_tokens", amounts.words(claim), ("200 tokens", "500 tokens", "2,000 tokens"), f"You wrote '{amounts.words(claim)}'. How many tokens has each?")
    for claim in each:
        if not (amounts.embeds and counts):
            amounts.put("prompt_tokens", claim)
    for claim in amounts.of("tokens"):
        if amounts.is_batch or claim.item.value >= LONG_RUN:
            facts.put("tokens_total", f"{claim.item.value:.15g}", amounts.words(claim))
        elif "context_tokens" in facts.columns or "prompt_tokens" in facts.columns:
            facts.ask("", amounts.words(claim))
        else:
            amounts.put("context_tokens", claim)
    for claim in amounts.of("images"):
        facts.put("tokens_total", f"{claim.item.value:.15g} images", amounts.words(claim))
    for claim in amounts.of("audio_seconds"):
        facts.put("tokens_total", f"{counted(claim.item.value / HOUR)} hours", amounts.words(claim))
    for claim in amounts.of("audio_rate"):
        amounts.put("audio_hours_per_day", claim, claim.item.value / HOUR * DAY / claim.rate_seconds)
    for role in ("rank", "epochs", "examples"):
        facts.columns.pop(role, None)


def _training(amounts: Amounts) -> None:
    facts = amounts.facts
    run = "run_tokens" if amounts.goal == "train" else "train_tokens"
    for claim in amounts.of("context_tokens", "seq_tokens"):
        amounts.put("sequence_tokens", claim)
    for claim in amounts.of("examples", "documents", "prompts", "requests_count", "images"):
        amounts.put("examples", claim)
    for claim in amounts.of("each_tokens"):
        amounts.put("example_tokens", claim)
    rolls_out = bool({"generations", "completion_tokens"} & facts.columns.keys()) or facts.columns.get("objective") in ("grpo", "ppo", "rloo", "online-dpo")
    for claim in amounts.of("answer_tokens", "answers_count", "completions"):
        facts.drop("answer_tokens")
        if rolls_out:
            amounts.put("completion_tokens", claim)
        else:
            facts.ask("", amounts.words(claim))
    if "prompt_tokens" in facts.columns and not rolls_out:
        facts.ask("prompt_tokens", facts.words["prompt_tokens"])
        facts.drop("prompt_tokens")
    for claim in amounts.of("tokens"):
        _run_or_length(amounts, claim, run)
    steps, step_tokens = amounts.of("steps"), float(facts.columns.get("step_tokens", 0))
    for claim in steps:
        if step_tokens:
            amounts.put(run, claim, claim.item.value * step_tokens)
        else:
            facts.ask("step_tokens", amounts.words(claim), text=f"You wrote '{amounts.words(claim)}'. How many tokens has a step?")
    for claim in amounts.of("audio_seconds"):
        amounts.put("audio_hours", claim, claim.item.value / HOUR)
    for claim in amounts.of("users_plain", "users_session", "users", "people", "requests_rate", "requests_per_second"):
        facts.drop(claim.role)
        facts.not_counted.append(amounts.words(claim))
    if run in facts.columns and (epochs := facts.columns.get("epochs")) and "examples" not in facts.columns and not steps:
        facts.columns[run] = counted(facts.columns[run] * epochs)
        facts.assumed.append(f"{facts.words[run]} in each of {epochs:g} epochs")
        facts.drop("epochs")


def _run_or_length(amounts: Amounts, claim: Claim, run: str) -> None:
    """Tokens without a word about them: of the run, of an example, or of a sequence."""
    facts, tokens = amounts.facts, claim.item.value
    if tokens >= LONG_RUN:
        amounts.put(run, claim)
    elif amounts.of("examples", "documents") and "example_tokens" not in facts.columns:
        amounts.put("example_tokens", claim)
    elif tokens <= LONGEST_LENGTH and "sequence_tokens" not in facts.columns and (tokens <= 32768 or "batch" in facts.columns):
        amounts.put("sequence_tokens", claim)
    else:
        facts.ask(run, amounts.words(claim), ("tokens of the whole run", "tokens of one sequence"))


def _money(amounts: Amounts) -> None:
    facts, serves = amounts.facts, amounts.goal == "serve"
    for claim in amounts.of("usd"):
        amounts.put("usd_most", claim)
    for claim in amounts.of("usd_bare", "usd_bare_rate"):
        if claim.rate_seconds not in (0.0, MONTH) or (claim.item.value < 100 and not claim.rate_seconds):
            facts.ask("", amounts.words(claim))
        elif not serves or claim.rate_seconds or claim.item.extra.get("scale"):
            amounts.put("usd_most", claim)
        else:
            facts.ask("", amounts.words(claim))
    for claim in amounts.of("usd_rate"):
        rate = claim.rate_seconds
        if rate == HOUR:
            amounts.put("usd_per_hour_most", claim)
        elif serves and rate >= DAY:
            amounts.put("usd_most", claim, claim.item.value if rate == MONTH else claim.item.value * MONTH / rate)
        else:
            facts.ask("usd_most", amounts.words(claim), text=f"You wrote '{amounts.words(claim)}'. How many dollars may the whole run cost?")
    for claim in amounts.of("usd_paid"):
        amounts.put("usd_paid_now", claim)
    for claim in amounts.of("foreign"):
        words = amounts.words(claim)
        facts.ask("usd_most", words, text=f"You wrote '{words}'. Prices here are in US dollars: what budget in USD (cost, $) is that?")


def _times(amounts: Amounts) -> None:
    facts, serves = amounts.facts, amounts.goal == "serve"
    hours = 0.0
    for claim in amounts.of("duration"):
        if serves and not amounts.is_batch:
            amounts.put("hours_per_month", claim, claim.item.value / HOUR) if claim.item.value >= HOUR else facts.ask("", amounts.words(claim))
        else:
            amounts.put("hours_most", claim)
    if serves and not amounts.is_batch and amounts.of("hours_most"):
        value, words = facts.columns["hours_most"], facts.words["hours_most"]
        facts.drop("hours_most")
        if value < 0.1:
            facts.put("request_seconds", float(value * HOUR), words)
        elif value <= 744:
            facts.put("hours_per_month", float(value), words)
        else:
            facts.ask("hours_per_month", words)
    for claim in amounts.of("overnight"):
        facts.columns.setdefault("hours_most", 12)
        facts.words.setdefault("hours_most", amounts.words(claim))
        facts.assumed.append(f"'{amounts.words(claim)}' as 12 hours")
    for claim in amounts.of("weekend"):
        if "hours_most" not in facts.columns:
            facts.put("hours_most", 48.0, amounts.words(claim))
            facts.assumed.append(f"'{amounts.words(claim)}' as 48 hours")
    days = MONTH_WORK_DAYS if amounts.weekdays else MONTH_DAYS
    for claim in amounts.of("clock_range"):
        hours = claim.item.value - claim.item.extra.get("low", 0.0)
        hours += 12 if hours <= 0 or (claim.item.value <= 7 and hours < 0) else 0
        amounts.put("hours_per_month", claim, hours * days)
    for claim in amounts.of("duration_rate"):
        if not serves:
            facts.ask("hours_most", amounts.words(claim))
            continue
        hours, rate = claim.item.value / HOUR, claim.rate_seconds or DAY
        month = hours * days if rate == DAY else hours * MONTH / rate
        if hours <= DAY_HOURS or rate != DAY:
            amounts.put("hours_per_month", claim, month)
    for claim in amounts.of("always"):
        if serves:
            facts.put("hours_per_month", MONTH_HOURS, amounts.words(claim))


def _latency(amounts: Amounts) -> None:
    facts = amounts.facts
    for claim in amounts.of("token_seconds_rest"):
        facts.ask("token_seconds", amounts.words(claim))
    for claim in amounts.of("percentile"):
        share = claim.item.value * (100 if "PCT" in claim.item.tags else 1)
        kind = "first_token" if {"first_token_seconds", "request_seconds"} & facts.columns.keys() else "token"
        planned = next((one for one in ("50", "90", "99") if float(one) >= share - 1e-9), "99")
        if {"first_token_seconds", "request_seconds", "token_seconds"} & facts.columns.keys():
            facts.put(f"{kind}_percentile", planned, amounts.words(claim))
            if float(planned) != share:
                facts.assumed.append(f"'{amounts.words(claim)}' as {planned} of 100 requests")
        else:
            facts.ask("first_token_percentile", amounts.words(claim))


def _bytes(amounts: Amounts) -> None:
    facts = amounts.facts
    for claim in amounts.of("bytes"):
        small = claim.item.value < 1 or claim.item.value > 300
        amounts.put("text_gigabytes" if small else "gpu_memory_gb", claim)
    if "text_gigabytes" in facts.columns and not facts.columns.keys() & set(AMOUNTS):
        words = facts.words["text_gigabytes"]
        facts.ask(
            "train_tokens",
            words,
            text=f"You wrote '{words}'. How many tokens are in this text? A gigabyte of English has "
            "about 250 million tokens.",
        )
