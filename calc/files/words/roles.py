"""Roles of quantities that the rest of the text decides: the model's kind, the objective."""

import re
from dataclasses import replace
from itertools import pairwise

from calc.evaluate import Row
from calc.files.words.frames import Claim
from calc.files.words.model_kind import SEEING, Kind
from calc.files.words.persons import settle_persons
from calc.files.words.sound import as_sound, of_each_person

PAGES = re.compile(r"\b(?:pages?|seiten?|páginas?|scans?)\b")
UP_FOR, SHORTEST_WINDOW = re.compile(r"for |during |over "), 900.0  # seconds
HOUR, DAY = 3600.0, 86400.0  # seconds
EACH = r"\b(?:one|each|every|per|a|an|pro|je|jede[rs]?|par|chaque|por|cada)[ -]"
OF_EACH = frozenset(
    {"people", "users", "users_plain", "users_session", "requests_rate", "requests_per_second"}
)
FARTHEST_EACH = 40  # letters between a load and the thing that each is: one tenant = 200 seats
LOADS = OF_EACH | {"requests_count", "requests_rate_user", "requests_per_minute", "examples"}
COUNTS = frozenset({"things", "adapters"})  # of what each has a load
LAST_WORD = re.compile(r"([^\W\d_]+?)s?$")
OF_EXPERTS = frozenset({"megatron", "vllm"})  # programs whose ep are experts in parallel
EP, EP_KEY = re.compile(r"ep[ =:]?\d"), re.compile(r"ep[=:]?\d")
PARALLEL = frozenset({"tensor_parallel", "pipeline_parallel"})
FURTHER_YEARS = re.compile(
    r" ?(?:or|vs\.?|versus|and|/|,|oder|und|ou|o) ?"
    r"(?:1|3|one|three)[- ]?y\w* (?:saving|commit|reserv)"
)
ANSWERS = frozenset({"answer_tokens", "answers_count"})
THINKS = re.compile(
    r"\b(?:thinking|reasoning|cot|chain of thought|denken|réflexion|raisonnement|razonamiento)\b"
)
INTO = ("to", "into", "down to", "auf", "à", "a")  # between a length and a shorter one
LENGTHS = frozenset({"prompt_tokens", "each_tokens", "tokens", "bare"})
LENGTHS_OF_REQUESTS = LENGTHS - {"bare"} | {"context_tokens", "question_tokens"}
DESCRIBES = re.compile(
    r" (?:are|is|were|have|has|had|exceed|contain|need|go|sind|haben|sont|ont|son|tienen)\b"
)
COMPARES = re.compile(
    r"\b(?:longer|shorter|länger|kürzer|plus longs?|más largos?) (?:than|als|que|de) $"
)
NIGHTLY = re.compile(  # work of each night
    r"\b(?:(?:each|every|per) night|nightly|overnight|(?:jede|pro) nacht|(?:chaque|par) nuit"
    r"|(?:cada|por) noche)\b"
)
SCANNED = re.compile(r"\bocr\b|\bscan")
ONE_NODE = re.compile(r"\b(?:box|node|machine|instance)$")  # of 8 cards: an 8 A100 box
ROLLS_OUT = frozenset({"grpo", "ppo", "rloo", "online-dpo"})


def settled_roles(claims: list[Claim], plain: str, columns: Row, kind: Kind) -> list[Claim]:
    """Claims whose role was open, with the one that the model or the objective gives them."""
    has_text = "each_tokens" in {claim.role for claim in claims} and not SCANNED.search(plain)
    claims = [_as_document(claim, plain, kind, has_text) for claim in claims]
    claims = _with_lengths_of_pages(claims, plain)
    claims = _with_thoughts(_as_shortened(claims, plain), plain)
    claims = _of_parts(_as_whole_of_shares(claims), plain)
    claims = [_as_compared(_as_spread(claim, plain), plain) for claim in claims]
    claims = [_as_rate(claim) for claim in claims]
    claims = settle_persons(_as_named_users(claims), plain)
    is_loaded = any(claim.role in LOADS for claim in claims)
    claims = _renamed(claims, "team_size", "not_used" if is_loaded else "people")
    has_people = any(claim.role == "people" for claim in claims)  # 80k MAU, 10k DAU
    claims = _renamed(claims, "people_rarely", "not_used" if has_people else "people")
    claims = [_as_commitment(claim, plain) for claim in claims]
    claims = _as_recordings(claims, kind)
    claims = [_of_parameters(claim, kind) for claim in claims]
    claims = _in_all_nodes(_of_groups(claims, kind), kind)
    claims = _as_work_of_window(_as_shifts(claims), plain)
    claims = as_sound(claims, plain, kind)
    claims = _of_each_thing([of_each_person(claim, plain) for claim in claims], plain)
    of_group = "generations" if columns.get("objective") in ROLLS_OUT else "people"
    roles = {"group_size": of_group}
    said = {claim.role for claim in claims}
    if columns.get("implementation") in OF_EXPERTS or PARALLEL & said:  # tp 4, ep 8
        roles["epochs"] = "expert_parallel"
    elif _assigns_ep(claims, plain, kind):  # ep=8 of a run may as well be epochs
        roles["epochs"] = "bare" if "examples" in said else "expert_parallel"
    return [
        claim._replace(role=roles[claim.role])
        if claim.role in roles and (claim.role != "epochs" or _is_ep(claim, plain))
        else claim
        for claim in claims
    ]


def _renamed(claims: list[Claim], role: str, new: str) -> list[Claim]:
    """Claims, those of a role with another."""
    return [claim._replace(role=new) if claim.role == role else claim for claim in claims]


def _is_ep(claim: Claim, plain: str) -> bool:
    """Return whether epochs are written ep, which beside tp and pp are experts in parallel."""
    return bool(EP.match(plain, claim.start, claim.end))


def _assigns_ep(claims: list[Claim], plain: str, kind: Kind) -> bool:
    """Return whether a text sets ep of a model that has experts: mixtral, ep=8."""
    keyed = (claim for claim in claims if claim.role == "epochs")
    return kind.has_experts and any(EP_KEY.match(plain, claim.start) for claim in keyed)


def _as_spread(claim: Claim, plain: str) -> Claim:
    """GPUs that the work is spread over, before another limit (8 H100 max 16k), or of one box."""
    if claim.role == "nodes" and claim.item.value > 1 and "CARD" in claim.cues:
        return claim._replace(role="gpus") if ONE_NODE.search(plain, 0, claim.end) else claim
    spread = claim.role == "gpus_least" and plain.startswith("over ", claim.start)
    of_next = claim.role == "gpus_most" and claim.item.start == claim.start
    of_next = of_next and plain[claim.end : claim.end + 2].strip().isdecimal()
    return claim._replace(role="gpus") if spread or of_next else claim


def _as_rate(claim: Claim) -> Claim:
    """A number a second or a minute, which no budget is: 800/s max."""
    is_short = claim.role == "usd_bare_rate" and 0 < claim.rate_seconds < HOUR
    return claim._replace(role="bare_rate") if is_short else claim


def _as_compared(claim: Claim, plain: str) -> Claim:
    """Tokens that some things are longer than, which are not their mean length."""
    is_compared = claim.role == "tokens" and COMPARES.search(plain, 0, claim.start)
    return claim._replace(role="length_at_percentile") if is_compared else claim


def _as_named_users(claims: list[Claim]) -> list[Claim]:
    """All users and those at once, where a key names the first: users: 850 (60 concurrent)."""
    users = [claim for claim in claims if claim.role == "users"]
    keyed = [claim for claim in users if "concurrent" not in claim.cues]
    if len(keyed) != 1 or len(users) != 2 or "people" in {claim.role for claim in claims}:
        return claims
    if keyed[0].item.value < max(claim.item.value for claim in users):
        return claims
    return [claim._replace(role="people") if claim is keyed[0] else claim for claim in claims]


def _as_commitment(claim: Claim, plain: str) -> Claim:
    """A time that stands before the one of a commitment: 1 year vs 3 year savings plan."""
    of_row = claim.role == "duration" and FURTHER_YEARS.match(plain, claim.end)
    return claim._replace(role="commit_seconds") if of_row else claim


def _as_document(claim: Claim, plain: str, kind: Kind, has_text: bool) -> Claim:
    """Pages with so many tokens, or for a model that sees no images, are text.

    Things for a model of images alone are images.
    """
    if claim.role in ("things", "documents") and kind.name in SEEING:
        return claim._replace(role="images")
    is_page = claim.role == "images" and PAGES.search(plain, claim.start, claim.end)
    is_text = is_page and (has_text or not kind.sees_pages)
    return claim._replace(role="documents") if is_text else claim


def _with_lengths_of_pages(claims: list[Claim], plain: str) -> list[Claim]:
    """Tokens behind pages that are read as text: contracts of 40 pages (30,000 tokens)."""
    texts = {
        claim.first
        for claim in claims
        if claim.role == "documents" and PAGES.search(plain, claim.start, claim.end)
    }
    return [
        claim._replace(role="each_tokens")
        if claim.role == "answer_tokens" and claim.first in texts
        else claim
        for claim in claims
    ]


def _as_shortened(claims: list[Claim], plain: str) -> list[Claim]:
    """A length and the shorter one that it is brought to, as prompt and answer.

    Documents of 3,000 tokens into 250 tokens; from 4,000 to 300 tokens.
    """
    settled = list(claims)
    for number, (long, short) in enumerate(pairwise(claims)):
        joined = plain[long.end : short.start].strip(" ()") in INTO
        is_length = long.role in LENGTHS and short.role in ("tokens", "each_tokens")
        if joined and is_length and short.item.value < long.item.value:
            settled[number] = long._replace(role="prompt_tokens")
            settled[number + 1] = short._replace(role="answer_tokens")
    return settled


def _with_thoughts(claims: list[Claim], plain: str) -> list[Claim]:
    """Thoughts and the answer after them as one answer: 6,000 thinking tokens + 500 answer."""
    answers = [claim for claim in claims if claim.role in ANSWERS]
    thoughts = [claim for claim in answers if THINKS.search(plain, claim.start, claim.end)]
    if len(answers) != 2 or len(thoughts) != 1:
        return claims
    first, last = answers
    several = first.item.value + last.item.value
    item = replace(first.item, value=several, end=last.item.end, extra={})
    whole = first._replace(role="answer_tokens", item=item, end=last.end)
    return [whole if claim is first else claim for claim in claims if claim is not last]


def _as_whole_of_shares(claims: list[Claim]) -> list[Claim]:
    """The one length beside shares of prompt and answer as both: 5k tokens a request, 80:20."""
    said = {claim.role for claim in claims}
    lengths = [claim for claim in claims if claim.role in LENGTHS_OF_REQUESTS]
    if "share_part" not in said or {"tokens_of_both", "examples"} & said or len(lengths) != 1:
        return claims
    return [
        claim._replace(role="tokens_of_both") if claim is lengths[0] else claim for claim in claims
    ]


def _of_parts(claims: list[Claim], plain: str) -> list[Claim]:
    """Counts of which a share is taken: 10% of 5M rows; not: 10% of 5M rows are short."""
    claims = [
        claim._replace(role="bare_share")
        if claim.role == "part_of_all" and DESCRIBES.match(plain, claim.end)
        else claim
        for claim in claims
    ]
    shares = {claim.first: claim.item.value for claim in claims if claim.role == "part_of_all"}
    several = []
    for claim in claims:
        if claim.first in shares and claim.role not in ("part_of_all", "each_tokens"):
            value = float(round(claim.item.value * shares[claim.first]))
            several.append(claim._replace(item=replace(claim.item, value=value)))
        elif claim.role != "part_of_all":
            several.append(claim)
    return several


def _as_recordings(claims: list[Claim], kind: Kind) -> list[Claim]:
    """Recordings of a length are sound in all where the model hears; else both are open."""
    if "recordings" not in {claim.role for claim in claims}:
        return claims
    seconds = next(claim.item.value for claim in claims if claim.role == "seconds_each")
    several = []
    for claim in claims:
        of_rate = claim.rate_seconds > 0
        if claim.role == "recordings" and kind.hears:
            item = replace(claim.item, value=claim.item.value * seconds)
            role = "audio_rate" if of_rate else "audio_seconds"
            several.append(claim._replace(role=role, item=item))
        elif claim.role == "recordings":
            several.append(claim._replace(role="requests_rate" if of_rate else "documents"))
        elif claim.role != "seconds_each":
            several.append(claim)
        elif not kind.hears:
            several.append(claim._replace(role="bare"))
    return several


def _of_groups(claims: list[Claim], kind: Kind) -> list[Claim]:
    """Things of which each group has so many, as all of them: 8 tests with 500 questions each.

    Passages of each query are so many in all for a reranker; others read them in one prompt.
    """
    groups = {claim.first: claim.item.value for claim in claims if claim.role == "groups"}
    of_query = {claim.first for claim in claims if {"request", "document"} <= claim.cues}
    several = []
    for claim in claims:
        is_text = claim.first in of_query and not kind.embeds
        if claim.first not in groups or (is_text and claim.role != "groups"):
            several.append(claim)
        elif is_text:
            several.append(claim._replace(role="requests_count"))
        elif claim.role == "each_tokens":
            several.append(claim)
        elif claim.role != "groups":
            item = replace(claim.item, value=claim.item.value * groups[claim.first])
            several.append(claim._replace(item=item, cues=claim.cues - {"request"}))
    return several


def _of_parameters(claim: Claim, kind: Kind) -> Claim:
    """Tokens of each parameter as those of a run: chinchilla, 20 tokens per parameter."""
    if claim.role != "tokens_each_parameter" or kind.model not in kind.catalogs.models.index:
        return claim
    parameters = float(kind.catalogs.models["parameters"][kind.model])
    item = replace(claim.item, value=claim.item.value * parameters)
    return claim._replace(role="tokens", item=item)


def _in_all_nodes(claims: list[Claim], kind: Kind) -> list[Claim]:
    """GPUs behind nodes that are more than a node has, as its part of them: 2 nodes (16x H200)."""
    most = float(kind.catalogs.instances["gpus"].max())
    nodes = {claim.first: claim.item.value for claim in claims if claim.role == "nodes"}
    several = []
    for claim in claims:
        count = nodes.get(claim.first, 1.0)
        of_all = claim.role == "gpus_each" and claim.item.value > most
        if of_all and count > 1 and claim.item.value % count == 0:
            item = replace(claim.item, value=claim.item.value / count)
            claim = claim._replace(item=item)
        several.append(claim)
    return several


def _of_each_thing(claims: list[Claim], plain: str) -> list[Claim]:
    """Loads of each of several things, as those of all: one tenant has 200 seats, 5 tenants."""
    counts = [claim for claim in claims if claim.role in COUNTS and claim.item.value > 1]
    several = list(claims)
    for count in counts:
        noun = LAST_WORD.search(plain, count.item.end, count.end)
        loads = [claim for claim in claims if claim.role in OF_EACH]
        of_each = [claim for claim in loads if noun and _is_of_each(claim, noun[1], plain)]
        for claim in of_each:
            item = replace(claim.item, value=claim.item.value * count.item.value)
            several[several.index(claim)] = claim._replace(item=item)
        if of_each and count.role == "things":
            several.remove(count)
    return several


def _is_of_each(claim: Claim, noun: str, plain: str) -> bool:
    """Return whether a clause says that a claim is of each thing of this name."""
    start = max(claim.start - FARTHEST_EACH, 0)
    before = re.split(r"[.,;:!?\n]", plain[start : claim.start])[-1]
    behind = re.split(r"[.,;:!?\n]", plain[claim.end : claim.end + FARTHEST_EACH])[0]
    named = re.compile(rf"{EACH}{re.escape(noun)}\b|/{re.escape(noun)}\b")
    return bool(named.search(before) or named.search(behind))


def _as_shifts(claims: list[Claim]) -> list[Claim]:
    """Shifts of so many hours are the hours of a day, as are hours that a key asks for."""
    is_always = any(claim.role == "always" for claim in claims)  # three shifts, 24/7
    claims = _renamed(claims, "shifts_alone", "not_used" if is_always else "bare")
    shifts = next((claim.item.value for claim in claims if claim.role == "shifts"), 0.0)
    several = []
    for claim in claims:
        if claim.role == "hours_up":  # hours per day: 12
            item = replace(claim.item, value=claim.item.value * HOUR)
            several.append(claim._replace(role="duration_rate", item=item))
        elif claim.role == "shift_seconds":
            item = replace(claim.item, value=claim.item.value * shifts)
            several.append(claim._replace(role="duration_rate", item=item, rate_seconds=DAY))
        elif claim.role != "shifts":
            several.append(claim)
    return several


def _as_work_of_window(claims: list[Claim], plain: str) -> list[Claim]:
    """The texts of a day or a week as work that ends, where a shorter time is for them.

    A week 1.4M rows, window of 4 hours; 90k texts a day, done within 3 hours.
    """
    windows = [
        claim.item.value
        for claim in claims
        if claim.role == "hours_most" and not UP_FOR.match(plain, claim.start)
    ]
    if NIGHTLY.search(plain):
        windows += [HOUR * _hours(claim) for claim in claims if claim.role == "clock_range"]
    return [
        claim._replace(role="requests_count", rate_seconds=0.0)
        if claim.role == "requests_rate"
        and not claim.cues & {"request", "session"}
        and any(SHORTEST_WINDOW <= window < claim.rate_seconds for window in windows)
        else claim
        for claim in claims
    ]


def _hours(window: Claim) -> float:
    """The hours of a window such as from 22 to 4 o'clock."""
    return float(window.item.value) - float(window.item.extra.get("low", 0.0))
