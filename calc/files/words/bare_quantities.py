"""Quantities without a word about them, and what a text looks for instead of naming it."""

import re
from itertools import pairwise

from calc.catalogs.load import Catalogs
from calc.files.words.amounts import MONTH, Amounts
from calc.files.words.facts import Facts, is_power
from calc.files.words.frames import Claim
from calc.files.words.items import Item
from calc.units import DAY_HOURS

SURE_CONTEXT = 5e4  # tokens: a larger number without a word may as well be of documents
USUAL_LENGTHS = frozenset(2.0**power for power in range(11, 21))  # 2,048 to a million tokens
LONGEST_CONTEXT = 1.1e6  # tokens of a number without a word about it
FIRST_YEAR, FIRST_PLANNED_YEAR, LAST_YEAR = 1900, 2020, 2035  # of a range of data, of a plan
BARE = ("bare", "size", "bare_rate", "bare_share", "bare_range", "pair", "factor_unknown")
NOT = re.compile(r"\b(?:not|nicht|pas|no) (?:the |die |le |el )?$")
AGAIN = re.compile(  # for the 400; rows (say 200k)
    r"(?:\b(?:the|all|both|those|these|die|diese|les|ces|los|las|esos|esas) "
    r"|\((?:(?:say|ie|i\.e\.|so|about|roughly|also|d\.h\.|soit|o sea) |[~≈=] ?)?)$"
)
THE_TWO = re.compile(r"\b(?:of the|von den|der|des|de los|de las) [a-zà-ÿ]+$")
MAX = ("max ", "maximum ")  # with what there is a most of, as one phrase
RUNS = frozenset({"tune", "train", "pretrain"})
OF_RUN = frozenset({"run_tokens", "train_tokens", "examples", "audio_hours", "words_total"})


def put_bare(amounts: Amounts, model: str, catalogs: Catalogs) -> None:
    """Quantities that no frame read: a length such as 16k, the model's size, else a question."""
    parameters = float(catalogs.models["parameters"].get(model, 0.0)) if model else 0.0
    for claim in amounts.of(*BARE):
        if not amounts.is_open(claim):
            continue
        if _is_monthly_budget(claim, amounts) and not amounts.is_behind_unknown(claim):
            amounts.put("usd_most", claim, claim.item.value * MONTH / claim.rate_seconds)
            amounts.facts.assume(f"'{claim.item.text}' as US dollars")
        elif _is_said_before(claim, amounts):
            amounts.words(claim)
        elif claim.item.tags & {"N"} and not re.search(r"\d", claim.item.text):
            if THE_TWO.search(amounts.text[: claim.end]) and not amounts.is_of_unknown(claim):
                amounts.words(claim)  # cheaper of the two
            continue  # a word such as two, which is asked about at the end
        elif _is_size(claim, model, parameters):
            amounts.words(claim)
        elif _is_length(claim, amounts):
            amounts.put("context_tokens" if amounts.goal == "serve" else "sequence_tokens", claim)
        elif _is_other_size(claim, amounts) or _is_of_years(claim) or _is_of_day(claim, amounts):
            amounts.leave_out(claim)
        else:
            amounts.facts.ask("", amounts.with_key(claim) or amounts.with_noun(claim))
    for claim in amounts.of("factor", "no_effect", "not_used", "ratio", "data_span"):
        amounts.leave_out(claim)


def _is_size(claim: Claim, model: str, parameters: float) -> bool:
    """Return whether a number is the size of the model, or of one that is not named."""
    if claim.role != "size" and claim.item.extra.get("scale", "") not in ("b", "m"):
        return False
    return not model or bool(parameters and 0.7 < claim.item.value / parameters < 1.4)


def _is_other_size(claim: Claim, amounts: Amounts) -> bool:
    """Return whether a size is denied: the 14b, not the 32b."""
    denied = NOT.search(amounts.text[: claim.start])
    return claim.item.extra.get("scale", "") == "b" and denied is not None


def _is_length(claim: Claim, amounts: Amounts) -> bool:
    """Return whether a number is a length of the context, as 16k or 8192 are."""
    value, serves = claim.item.value, amounts.goal == "serve"
    is_round = claim.item.extra.get("scale", "") == "k" or value in USUAL_LENGTHS
    is_sure = is_power(value) or (serves and value < SURE_CONTEXT)
    others = {"context_tokens" if serves else "sequence_tokens", "prompt_tokens", "examples"}
    return (
        claim.role in ("bare", "pair")
        and is_round
        and is_sure
        and value <= LONGEST_CONTEXT
        and not amounts.facts.columns.keys() & others
    )


def _is_of_years(claim: Claim) -> bool:
    """Return whether a number is a year, or a range of years: newspapers, 1950 to 2020."""
    first = FIRST_YEAR if claim.role == "bare_range" else FIRST_PLANNED_YEAR
    low = claim.item.extra.get("low", claim.item.value)
    is_bare = claim.role in ("bare", "pair", "bare_range") and not claim.item.extra.get("scale")
    return is_bare and first <= low <= claim.item.value <= LAST_YEAR


def _is_of_day(claim: Claim, amounts: Amounts) -> bool:
    """Return whether a range is of the hours in which a rate holds: 9 rps between 9 and 12."""
    hours = claim.role == "bare_range" and claim.item.value <= DAY_HOURS
    return hours and bool(amounts.of("requests_per_second", "requests_rate"))


def _is_said_before(claim: Claim, amounts: Amounts) -> bool:
    """Return whether a number repeats one that has a meaning: it grows to 400, for the 400."""
    known = {one.item.value for one in amounts.claims if not one.role.startswith("bare")}
    known |= {value for value in amounts.facts.columns.values() if isinstance(value, int | float)}
    return bool(AGAIN.search(amounts.text[: claim.start])) and claim.item.value in known


def _put_largest(facts: Facts, tags: set[str]) -> None:
    """Set what a text wants the largest value of: the biggest batch, the longest context."""
    serves = facts.columns.get("goal") == "serve"
    length = "context_tokens" if serves else "sequence_tokens"
    sought = {"batch": "users" if serves else "batch", "context": length, "seq": length}
    sought |= dict.fromkeys(("user", "people", "concurrent", "session"), "users" if serves else "")
    column = next((column for tag, column in sought.items() if tag in tags), "")
    if column and column not in facts.columns and "N" not in tags:
        facts.columns.setdefault("solve", column)


def _put_longest_run(facts: Facts, behind: list[Item]) -> None:
    """Set that the tokens of a run are looked for: the largest fine-tune for 5,000 dollars."""
    of_run = any(
        item.tags & RUNS or item.text == facts.words.get("method", "full") for item in behind
    )
    trains = facts.columns.get("goal") in ("tune", "train")
    if trains and of_run and not facts.columns.keys() & OF_RUN:
        facts.columns.setdefault("solve", "train_tokens")


def _is_monthly_budget(claim: Claim, amounts: Amounts) -> bool:
    """Return whether a number a month without a noun is what a service may cost."""
    open_budget = "usd_most" not in amounts.facts.columns and amounts.goal == "serve"
    return open_budget and claim.role == "bare_rate" and claim.rate_seconds >= MONTH


def put_target(facts: Facts, items: list[Item]) -> None:
    """Set the column that a text looks for: how many users, how many tokens."""
    machines = {"gpu", "gpus", "instance", "have"} & facts.columns.keys()
    open_load = not facts.columns.keys() & {"users", "people", "requests_per_second"}
    asked = any(item.tags & {"concurrent", "how_many"} for item in items)  # how many users
    if facts.columns.get("goal") == "serve" and machines and open_load and asked:
        facts.columns["solve"] = "users"
        return
    for number, item in enumerate(items):
        tags = {tag for other in items[number + 1 : number + 4] for tag in other.tags}
        if "largest" in item.tags:
            near = {tag for other in items[number + 1 : number + 3] for tag in other.tags}
            _put_largest(facts, near)
            _put_longest_run(facts, items[number + 1 : number + 4])
        elif item.text.startswith(MAX) and "N" not in tags:  # max context for qwen3-8b
            _put_largest(facts, set(item.tags))
        if "how_many" not in item.tags:
            continue
        if (
            tags & {"user", "people", "concurrent", "request", "session"}
            and facts.columns.get("goal") == "serve"
            and not facts.columns.keys() & {"users", "people", "requests_per_second"}
        ):
            facts.columns["solve"] = "users"
        elif (
            "token" in tags
            and facts.columns.get("goal") in ("tune", "train")
            and not facts.columns.keys() & OF_RUN
        ) or (  # how far do 500 dollars go
            facts.columns.get("goal") in ("tune", "train")
            and {"usd_most", "hours_most"} & facts.columns.keys()
            and not facts.columns.keys() & {*OF_RUN, "solve"}
        ):
            facts.columns["solve"] = "train_tokens"
    _put_open_run(facts, items)


def _put_open_run(facts: Facts, items: list[Item]) -> None:
    """Set that the tokens of a run within limits are looked for: on what (tokens) in 2 days?"""
    is_limited = facts.columns.keys() & {"hours_most", "usd_most"}
    is_run = facts.columns.get("goal") in ("tune", "train")
    if is_limited and is_run and not facts.columns.keys() & {*OF_RUN, "solve"}:
        counted = any(question.column in OF_RUN for question in facts.questions)
        alone = any(
            "token" in item.tags and "N" not in before.tags for before, item in pairwise(items)
        )
        if alone and not counted:
            facts.columns["solve"] = "train_tokens"
