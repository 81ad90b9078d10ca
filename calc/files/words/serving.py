"""The columns of a service and of work that ends: load, lengths, amounts."""

import re

from calc.files.words.amounts import Amounts
from calc.files.words.facts import Facts, as_counted
from calc.files.words.frames import Claim
from calc.files.words.loads import NAMED_USERS, put_load
from calc.files.words.roles import PAGES
from calc.files.words.work import put_work
from calc.job.columns import JOB_BY_NAME
from calc.job.lengths import prompt_of_mean_turn

OF_TURN = "You wrote '{}'. How many tokens of a turn are the question, and how many its answer?"
SHORTEST_WINDOW = 2000  # tokens: a shorter context beside answers is a prompt
ONE_REQUEST = re.compile(  # a question with its history is 900 tokens
    r"(?:^|[.;:,?!\n] ?)(?:and |und |et |y )?"
    r"(?:an?|each|every|one|the|die|eine|jede|une|la|chaque|una|cada) (?:\w+ )?"
    r"(?:question|request|prompt|query|call|anfrage|frage|requête|pregunta|consulta)\b"
    r"[^.;:,?!\n\d]*\b(?:with|including|plus|mit|samt|avec|con)\b[^.;:,?!\n\d]*$"
)
MOST_PASSAGES = 200  # that a prompt quotes
MOST_PAGE_TOKENS = 5000  # of one page; more beside pages are those of all: 200 pages (120k)
OF_ENGINE = ("tensor_parallel", "pipeline_parallel", "expert_parallel", "context_parallel")
COLUMN_OF_LENGTH = {
    "context_tokens": "context_tokens",
    "seq_tokens": "context_tokens",
    "longest_each": "context_tokens",
    "length_in": "prompt_tokens",
    "length_out": "answer_tokens",
}
AT_PERCENTILE = "You wrote '{}'. How many tokens does a prompt have on average?"
OF_CONVERSATIONS = ("turns", "think_seconds")


def put_serving(amounts: Amounts) -> None:
    """Set the columns of a service."""
    _put_users(amounts)
    _put_lengths(amounts)
    _put_prompt_of_parts(amounts)
    put_load(amounts)
    put_work(amounts)
    _with_shared(amounts.facts)
    _put_answers_as_long(amounts)
    _put_share_cached(amounts)
    if not amounts.of("turn_tokens"):
        _with_turns(amounts.facts)


def _put_users(amounts: Amounts) -> None:
    """Set the people of a service, or its requests in flight."""
    in_flight = bool(amounts.of("people", *OF_ENGINE))  # an engine's users are those in flight
    for claim in amounts.of("users_plain"):  # users are people, of whom few wait at one moment
        amounts.put("users" if in_flight else "people", claim)
    if amounts.of("share_active") and not amounts.of("people"):  # a share of these is at once
        for claim in amounts.of("users"):
            amounts.facts.drop("users")
            amounts.put("people", claim)
    _put_users_each(amounts)
    for claim in amounts.of("people_open"):
        amounts.ask("people", claim, "", (f"{claim.item.value:,.10g} people",))
    for claim in amounts.of("users_session", "users_seqs", "batch"):
        amounts.facts.drop("batch")
        amounts.put("users", claim)


def _put_lengths(amounts: Amounts) -> None:
    """Set the lengths of contexts, prompts and answers, and the turns of a conversation."""
    for role, column in COLUMN_OF_LENGTH.items():
        for claim in amounts.of(role):
            if _is_of_answer(amounts, claim):
                amounts.put("answer_tokens", claim)
                continue
            amounts.put("prompt_tokens" if _is_of_prompt(amounts, claim, column) else column, claim)
    for claim in amounts.of("length_both"):
        amounts.put("prompt_tokens", claim)
        amounts.put("answer_tokens", claim)
    _put_both_of_sum(amounts)
    for claim in amounts.of("longest_prompt"):
        answer = float(amounts.facts.columns.get("answer_tokens", 0))
        amounts.put("context_tokens", claim, claim.item.value + answer)
    for claim in amounts.of("length_at_percentile"):
        if amounts.is_open(claim):
            text = AT_PERCENTILE.format(amounts.words(claim))
            amounts.ask("prompt_tokens", claim, text)
    for claim in amounts.of(*OF_CONVERSATIONS):
        amounts.put(claim.role, claim)
    for claim in amounts.of("turn_tokens"):
        amounts.ask("prompt_tokens", claim, OF_TURN.format(amounts.words(claim)))


def _put_both_of_sum(amounts: Amounts) -> None:
    """Divide the tokens of a request by their shares: 4,000 tokens, split 90/10; 80% prompt."""
    for claim in amounts.of("tokens_of_both"):
        parts = amounts.of("share_part", "share_in", "share_out")
        shares = [one.item.value for one in parts]
        shares += [one.item.extra["second"] for one in parts if "second" in one.item.extra]
        if amounts.of("share_out") and not amounts.of("share_in"):
            shares = [1 - shares[0]]
        whole = sum(shares) if len(shares) > 1 else 1.0
        part = shares[0] / whole if shares and whole else 0.0
        if not 0 < part < 1:
            amounts.ask("prompt_tokens", claim)
            continue
        amounts.put("prompt_tokens", claim, float(round(claim.item.value * part)))
        amounts.put("answer_tokens", claim, float(round(claim.item.value * (1 - part))))
        for one in parts:
            amounts.words(one)


def _is_of_answer(amounts: Amounts, claim: Claim) -> bool:
    """Return whether a short length is of the answer: a prompt of 600 tokens, 450 tokens long."""
    is_short = claim.role == "seq_tokens" and claim.item.value < SHORTEST_WINDOW
    columns = amounts.facts.columns
    has_prompt = "prompt_tokens" in columns or bool(amounts.of("each_tokens"))
    is_long = is_short and "long" in claim.cues
    return is_long and has_prompt and "answer_tokens" not in columns


def _is_of_prompt(amounts: Amounts, claim: Claim, column: str) -> bool:
    """Return whether a length is of the prompt whatever its words: 6k tokens per call."""
    if "prompt_tokens" in amounts.facts.columns:
        return False
    before = amounts.text[: claim.item.start]
    of_one = column == "context_tokens" and ONE_REQUEST.search(before)
    apart = amounts.embeds or amounts.of("answer_tokens")
    is_short = column == "context_tokens" and claim.item.value < SHORTEST_WINDOW
    return bool(of_one or (apart and ("per" in claim.cues or is_short)))


def _put_prompt_of_parts(amounts: Amounts) -> None:
    """Set a prompt that is a question, or passages, behind a part that all requests share."""
    shared = amounts.value("shared_prompt_tokens")
    passages = _passages(amounts)
    parts = amounts.value("context_part")
    for claim in amounts.of("context_part"):
        amounts.words(claim)
    questions = amounts.of("question_tokens")
    turns = amounts.value("turns")
    for claim in questions:
        tokens = claim.item.value
        if turns > 1:  # of a mean turn, which has the earlier ones before it
            answers = float(amounts.facts.columns.get("answer_tokens", 0)) * (turns - 1) / 2
            tokens = float(round(tokens * (turns + 1) / 2 + answers))
            amounts.facts.assume(f"prompts of {tokens:,.0f} tokens in a mean turn")
        amounts.put("prompt_tokens", claim, tokens + shared + passages + parts)
    if passages and not questions:
        amounts.put("prompt_tokens", amounts.of("each_tokens")[0], passages + shared)


def _put_answers_as_long(amounts: Amounts) -> None:
    """Set the answers of a translation, which are as long as its prompts."""
    facts = amounts.facts
    if "as_long" in amounts.tags and "prompt_tokens" in facts.columns:
        facts.put("answer_tokens", facts.columns["prompt_tokens"], facts.words["prompt_tokens"])
        facts.assume("answers as long as the prompts")


def _put_share_cached(amounts: Amounts) -> None:
    """Set the part of the prompt that is cached from its share."""
    for claim in amounts.of("share_cached"):
        _take_context_as_prompt(amounts.facts)
        if prompt := amounts.facts.columns.get("prompt_tokens"):
            amounts.put("shared_prompt_tokens", claim, float(round(prompt * claim.item.value)))
        else:
            amounts.ask("shared_prompt_tokens", claim)


def _with_turns(facts: Facts) -> None:
    """A conversation whose prompts nobody measured: the usual tokens and the earlier answers."""
    turns = float(facts.columns.get("turns", 1))
    if turns <= 1 or facts.columns.keys() & {"prompt_tokens", "context_tokens"}:
        return
    answer = float(facts.columns.get("answer_tokens", str(JOB_BY_NAME["answer_tokens"].default)))
    prompt = prompt_of_mean_turn(turns, answer)
    facts.columns["prompt_tokens"] = prompt
    facts.assume(f"prompts of {prompt:,} tokens in a mean turn, earlier answers included")


def _put_users_each(amounts: Amounts) -> None:
    """Sessions that each person has open at once: those of all together."""
    people = float(amounts.facts.columns.get("people", 0))
    for claim in amounts.of("users_each"):
        if people:
            words = amounts.facts.words["people"]
            amounts.facts.drop("people")
            amounts.put("users", claim, claim.item.value * people)
            amounts.facts.assume(f"'{amounts.words(claim)}' for each of '{words}'")
        else:
            amounts.ask("users", claim)


def _with_shared(facts: Facts) -> None:
    """The shared part is a part of the prompt: a shorter prompt is what comes after it."""
    shared, prompt = (
        facts.columns.get(name, 0) for name in ("shared_prompt_tokens", "prompt_tokens")
    )
    if shared and not prompt:
        _take_context_as_prompt(facts)
    if prompt and prompt < shared:
        facts.columns["prompt_tokens"] = as_counted(float(prompt) + float(shared))
        facts.assume(f"'{facts.words['prompt_tokens']}' after the shared part")


def _take_context_as_prompt(facts: Facts) -> None:
    """Take a context as the prompt that a part of is cached: 50k, of which 45k are cached."""
    if "context_tokens" in facts.columns and "prompt_tokens" not in facts.columns:
        facts.columns["prompt_tokens"] = facts.columns.pop("context_tokens")
        facts.words["prompt_tokens"] = facts.words.pop("context_tokens")


def _passages(amounts: Amounts) -> float:
    """Tokens of the passages in each prompt: a few documents of a length, in a service."""
    each = amounts.of("each_tokens")
    beside = {claim.first for claim in each}
    counts = [
        claim
        for claim in amounts.of("documents", "things")
        if claim.role == "documents" or claim.first in beside  # 5 snippets of 800 tokens
    ]
    steady = amounts.of("requests_per_second", "requests_rate", *NAMED_USERS)
    if not steady or amounts.embeds:
        return 0.0
    few = [claim for claim in counts if claim.item.value <= MOST_PASSAGES]
    for claim in counts:
        if claim in few or claim.role != "documents":
            continue
        if "serve" in amounts.tags:  # an assistant searches them
            amounts.leave_out(claim)
        else:
            amounts.ask("requests_total", claim)
    if not each and "prompt_tokens" in amounts.facts.columns:  # 60 pages, 45k tokens in
        for claim in few:
            if PAGES.search(amounts.text, claim.start, claim.end):
                amounts.leave_out(claim)
    if not each or len(few) != 1:
        return 0.0
    words = amounts.words(few[0])
    of_all = each[0].item.value > MOST_PAGE_TOKENS and PAGES.search(words)
    tokens = each[0].item.value * (1 if of_all else few[0].item.value)
    amounts.facts.assume(f"'{words}' in each prompt")
    amounts.words(each[0])
    return float(tokens)
