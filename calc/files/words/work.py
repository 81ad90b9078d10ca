"""The columns of work that ends: documents, requests, tokens, images, hours of sound."""

import re
from dataclasses import replace

from calc.files.words.amounts import DAY, HOUR, LONG_RUN, LONGEST_LENGTH, Amounts
from calc.files.words.facts import as_counted
from calc.files.words.frames import Claim
from calc.files.words.loads import LENGTHS, LOAD_ROLES
from calc.files.words.vocabulary import lexicon

LENGTHS_TO_CHOOSE = ("200 tokens", "500 tokens", "2,000 tokens")
MOST_CANDIDATES = 1000  # documents of one request of a reranker
MOST_IN_FLIGHT = 512  # requests without a time or a work that ends: those in flight
SHORTEST_CONTEXT = 512  # tokens: fewer without a word are of a prompt or of an answer
ONE = re.compile(r"\b(?:prompt|completion)$")  # of one request: 1.1k prompt
RATES = ("requests_per_second", "images_per_sequence")
FEWEST_IN_GROUP = 10  # requests of each of the things beside them: 57 tasks, 14,042 questions
FEWEST_THINGS = 20  # of work that ends, beside another count
MOST_IMAGES_EACH = 128  # of a request whose text says how many each has
MOST_IMAGES = 64  # of one request


def put_work(amounts: Amounts) -> None:
    """Amounts of work that ends: documents, requests, tokens, images, hours of sound."""
    facts = amounts.facts
    _put_images_each(amounts)
    each = [claim for claim in amounts.of("each_tokens") if amounts.is_open(claim)]
    counts = [claim for claim in _counts(amounts) if amounts.is_open(claim)]
    if counts and not each and amounts.embeds:  # classify 10M tweets, 50 tokens
        each = [claim for claim in amounts.of("tokens") if claim.item.value <= LONGEST_LENGTH]
    if counts and amounts.embeds and "requests_per_second" in facts.columns:
        if each:
            _put_candidates(amounts, counts[0], each[0])
        else:
            amounts.ask("requests_per_second", counts[0])
        return
    _put_counts(amounts, counts, each)
    _put_length_of_each(amounts, counts, each)
    for claim in amounts.of("out_total"):
        amounts.put_text("tokens_total", claim, f"{claim.item.value:.15g}")
    for claim in amounts.of("tokens"):
        if claim not in each:
            _put_tokens(amounts, claim, bool(counts))
    _put_images_and_sound(amounts)
    facts.drop("epochs")
    for claim in amounts.of("epochs"):
        if claim.item.value > 1:
            amounts.ask("", claim)


def _put_counts(amounts: Amounts, counts: list[Claim], each: list[Claim]) -> None:
    """Set the documents or requests of work that ends; ask about those of a service."""
    is_service = bool(amounts.of(*LOAD_ROLES)) and not amounts.ends  # which does no work in all
    for claim in counts:
        of_each = claim.role == "documents" and "request" in claim.cues  # 25 documents per query
        if of_each or is_service:
            amounts.ask("", claim)
        else:
            _put_count(amounts, _with_samples(amounts, claim), each)


def _put_length_of_each(amounts: Amounts, counts: list[Claim], each: list[Claim]) -> None:
    """Set the length of each document or request, or of each answer where those are counted."""
    for claim in each:
        if amounts.embeds and counts:
            amounts.words(claim)
            continue
        of_images = any("image" in one.cues for one in amounts.of("images", "requests_rate"))
        of_answer = of_images or _are_produced(amounts, counts)
        column = "answer_tokens" if of_answer and not amounts.embeds else "prompt_tokens"
        amounts.put(column, claim)


def _put_tokens(amounts: Amounts, claim: Claim, has_counts: bool) -> None:
    """Set a number of tokens: a length of requests, or the whole work; ask if it may be either."""
    facts, tokens = amounts.facts, claim.item.value
    is_length = tokens <= LONGEST_LENGTH and "prompt_tokens" not in facts.columns
    of_request = amounts.embeds or facts.columns.keys() & {"answer_tokens", "images_per_sequence"}
    if is_length and any(map(amounts.is_of_unknown, amounts.of("tokens"))):
        amounts.ask("prompt_tokens", claim)
    elif is_length and of_request and not (amounts.is_batch and not has_counts):
        amounts.put("prompt_tokens", claim)
    elif tokens >= LONG_RUN and facts.columns.keys() & {*RATES, "users", "people"}:
        amounts.ask("tokens_total", claim)
    elif tokens >= (LONGEST_LENGTH if amounts.is_batch else LONG_RUN):
        unit = "" if _are_produced(amounts, [claim]) else " tokens"  # prompts among them
        amounts.put_text("tokens_total", claim, f"{tokens:.15g}{unit}")
    elif "text" in claim.cues and "prompt_tokens" not in facts.columns:
        amounts.put("prompt_tokens", claim)
    elif _may_be_prompt(amounts, claim):
        if tokens > facts.columns.get("prompt_tokens", tokens):
            facts.drop("prompt_tokens")  # which may be a part of the prompt alone
        amounts.ask("prompt_tokens", claim)
    else:
        amounts.put("context_tokens", claim)


def _may_be_prompt(amounts: Amounts, claim: Claim) -> bool:
    """Return whether tokens without a word may be those of a prompt, not of the context."""
    has_length = bool(amounts.facts.columns.keys() & {"context_tokens", "prompt_tokens"})
    is_short = claim.item.value < SHORTEST_CONTEXT or "requests_per_second" in amounts.facts.columns
    return has_length or is_short or amounts.is_behind_unknown(claim)


def _put_images_and_sound(amounts: Amounts) -> None:
    """Set the images or the hours of sound of work that ends, and of sound a rate by the day."""
    for claim in _of_work(amounts.of("images"), amounts):
        amounts.put_text("tokens_total", claim, f"{claim.item.value:.15g} images")
    for claim in amounts.of("audio_seconds"):
        amounts.put_text("tokens_total", claim, f"{as_counted(claim.item.value / HOUR)} hours")
    for claim in amounts.of("audio_rate"):
        hours = claim.item.value / HOUR * DAY / claim.rate_seconds
        amounts.put("audio_hours_per_day", claim, hours)


def _with_samples(amounts: Amounts, claim: Claim) -> Claim:
    """A count of requests, each of which is answered several times: 164 tasks, 20 samples each."""
    several = amounts.of("generations", "examples_each", "times_each")
    if len(several) != 1:
        return claim
    amounts.facts.drop("generations")
    amounts.facts.assume(f"'{amounts.words(several[0])}' for each of '{amounts.words(claim)}'")
    times = several[0].item.value
    return claim._replace(item=replace(claim.item, value=claim.item.value * times))


def _are_produced(amounts: Amounts, counts: list[Claim]) -> bool:
    """Return whether the things counted are what comes out: generate 500k descriptions."""
    of_others = {claim.first for claim in amounts.of("times_each")}  # 5 tags for each of 9k texts
    counts = [claim for claim in counts if claim.first not in of_others]
    before = [amounts.text[: claim.start].split()[-1:] for claim in counts]
    makes = {phrase for phrase, tags in lexicon().tags.items() if "produce" in tags}
    return any(word and word[0] in makes for word in before)


def _put_images_each(amounts: Amounts) -> None:
    """Images of each request of a service; many images are work of their own."""
    documents = amounts.of("documents", "things")
    for claim in amounts.of("images_each", "images"):
        if claim.role == "images_each" and amounts.is_batch and len(documents) == 1:
            images = claim.item.value * documents[0].item.value  # 300k invoices, 2 pages each
            amounts.put_text("tokens_total", claim, f"{images:.15g} images")
            amounts.facts.assume(
                f"'{amounts.words(claim)}' for each of '{amounts.words(documents[0])}'"
            )
        elif claim.role == "images_each" and claim.item.value > MOST_IMAGES_EACH:
            amounts.ask("images_per_sequence", claim)
        elif claim.role == "images_each" or claim not in _of_work([claim], amounts):
            amounts.put("images_per_sequence", claim)


def _of_work(images: list[Claim], amounts: Amounts) -> list[Claim]:
    """The images that are work that ends, not those of a request."""
    loads = {"requests_per_second", "users", "people"} & amounts.facts.columns.keys()
    return [claim for claim in images if not (loads and claim.item.value <= MOST_IMAGES)]


def _counts(amounts: Amounts) -> list[Claim]:
    """Counts of documents or requests; 60k prompts of a service are a length."""
    facts = amounts.facts
    counts = amounts.of("documents", "examples")
    requests = amounts.of("requests_count") if amounts.ends else []
    for claim in amounts.of("things"):
        others = [one.item.value for one in [*counts, *requests]]
        is_group = bool(others) and claim.item.value * FEWEST_IN_GROUP <= max(others)
        if amounts.is_batch and (is_group or (others and claim.item.value < FEWEST_THINGS)):
            amounts.leave_out(claim)
        elif amounts.is_batch and (amounts.ends or amounts.of(*LENGTHS)):
            counts.append(claim)
        elif amounts.is_open(claim):
            amounts.ask("", claim)
    if not amounts.ends:  # 24 requests of a service are in flight
        for claim in amounts.of("requests_count"):
            loads = facts.columns.keys() & {"users", "requests_per_second"}
            if claim.item.value <= MOST_IN_FLIGHT and not loads:
                amounts.ask("users", claim, choices=("at once", "a second", "in all"))
            else:
                counts.append(claim)
    counts += requests
    for role, column in (
        ("prompts", "prompt_tokens"),
        ("answers_count", "answer_tokens"),
        ("completions", "answer_tokens"),
    ):
        for claim in amounts.of(role):
            of_one = role != "answers_count" and ONE.search(amounts.text[: claim.end])
            ends = amounts.is_batch and not amounts.of("tokens") and not of_one
            is_length = of_one or column not in facts.columns  # two lengths are asked about
            if claim.item.value <= LONGEST_LENGTH and not ends and is_length:
                amounts.put(column, claim)
            else:
                counts.append(claim)
    return counts


def _put_candidates(amounts: Amounts, count: Claim, each: Claim) -> None:
    """Documents of each request, as a reranker has them; many more are work of their own."""
    rate = amounts.facts.columns["requests_per_second"]
    if count.item.value > MOST_CANDIDATES:
        amounts.ask("requests_per_second", count)
        return
    amounts.facts.columns["requests_per_second"] = as_counted(rate * count.item.value)
    amounts.facts.assume(f"'{amounts.words(count)}' in each request")
    amounts.put("prompt_tokens", each)


def _put_count(amounts: Amounts, claim: Claim, each: list[Claim]) -> None:
    """So many documents or requests: tokens to embed, or requests with their lengths."""
    facts = amounts.facts
    length = each[0].item.value if each else float(facts.columns.get("prompt_tokens", 0.0))
    if amounts.embeds and length:
        if each:  # documents as long as that, also in the plan
            facts.drop("prompt_tokens")
            amounts.put("prompt_tokens", each[0])
        amounts.put_text("tokens_total", claim, f"{claim.item.value * length:.15g}")
        return
    amounts.put("requests_total", claim)
    has_length = each or facts.columns.keys() & {"prompt_tokens", "answer_tokens"}
    if amounts.embeds or not has_length:
        text = f"You wrote '{amounts.words(claim)}'. How many tokens does each have?"
        amounts.ask("prompt_tokens", claim, text, LENGTHS_TO_CHOOSE)
