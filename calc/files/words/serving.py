"""The columns of a service and of work that ends: load, lengths, amounts."""

import re
from dataclasses import replace

from calc.files.words.amounts import DAY, HOUR, LONG_RUN, LONGEST_LENGTH, Amounts
from calc.files.words.facts import Facts, as_counted
from calc.files.words.frames import Claim
from calc.files.words.loads import LENGTHS, LOAD_ROLES, NAMED_USERS, put_load
from calc.files.words.roles import PAGES
from calc.files.words.vocabulary import lexicon
from calc.job.columns import JOB_BY_NAME
from calc.job.lengths import prompt_of_mean_turn

LENGTHS_TO_CHOOSE = ("200 tokens", "500 tokens", "2,000 tokens")
MOST_CANDIDATES = 1000  # documents of one request of a reranker
MOST_IN_FLIGHT = 512  # requests without a time or a work that ends: those in flight
SHORTEST_CONTEXT = 512  # tokens: fewer without a word are of a prompt or of an answer
OF_TURN = "You wrote '{}'. How many tokens of a turn are the question, and how many its answer?"
ONE = re.compile(r"\b(?:prompt|completion)$")  # of one request: 1.1k prompt
ONE_REQUEST = re.compile(  # a question with its history is 900 tokens
    r"(?:^|[.;:,?!\n] ?)(?:and |und |et |y )?"
    r"(?:an?|each|every|one|the|die|eine|jede|une|la|chaque|una|cada) (?:\w+ )?"
    r"(?:question|request|prompt|query|call|anfrage|frage|requête|pregunta|consulta)\b"
    r"[^.;:,?!\n\d]*\b(?:with|including|plus|mit|samt|avec|con)\b[^.;:,?!\n\d]*$"
)
RATES = ("requests_per_second", "images_per_sequence")
FEWEST_THINGS = 20  # of work that ends, beside another count
MOST_PASSAGES = 200  # that a prompt quotes
MOST_PAGE_TOKENS = 5000  # of one page; more beside pages are those of all: 200 pages (120k)
MOST_IMAGES_EACH = 128  # of a request whose text says how many each has
MOST_IMAGES = 64  # of one request
OF_ENGINE = ("tensor_parallel", "pipeline_parallel", "expert_parallel", "context_parallel")
COLUMN_OF_LENGTH = {
    "context_tokens": "context_tokens",
    "seq_tokens": "context_tokens",
    "length_in": "prompt_tokens",
    "length_out": "answer_tokens",
}
OF_CONVERSATIONS = ("turns", "think_seconds")


def put_serving(amounts: Amounts) -> None:
    """Set the columns of a service."""
    _put_users(amounts)
    _put_lengths(amounts)
    _put_prompt_of_parts(amounts)
    put_load(amounts)
    _put_work(amounts)
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
            amounts.put("prompt_tokens" if _is_of_prompt(amounts, claim, column) else column, claim)
    for claim in amounts.of("length_both"):
        amounts.put("prompt_tokens", claim)
        amounts.put("answer_tokens", claim)
    for claim in amounts.of(*OF_CONVERSATIONS):
        amounts.put(claim.role, claim)
    for claim in amounts.of("turn_tokens"):
        amounts.ask("prompt_tokens", claim, OF_TURN.format(amounts.words(claim)))


def _is_of_prompt(amounts: Amounts, claim: Claim, column: str) -> bool:
    """Return whether a length is of the prompt whatever its words: 6k tokens per call."""
    if "prompt_tokens" in amounts.facts.columns:
        return False
    before = amounts.text[: claim.item.start]
    of_one = column == "context_tokens" and ONE_REQUEST.search(before)
    apart = amounts.embeds or amounts.of("answer_tokens")
    return bool(of_one or (apart and "per" in claim.cues))


def _put_prompt_of_parts(amounts: Amounts) -> None:
    """Set a prompt that is a question, or passages, behind a part that all requests share."""
    shared = amounts.value("shared_prompt_tokens")
    passages = _passages(amounts)
    questions = amounts.of("question_tokens")
    for claim in questions:
        amounts.put("prompt_tokens", claim, claim.item.value + shared + passages)
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


def _put_work(amounts: Amounts) -> None:
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
        if amounts.is_batch and claim.item.value < FEWEST_THINGS and [*counts, *requests]:
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
