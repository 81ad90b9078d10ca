"""A job in plain words: numbers and names are found first, then meanings compete for them.

The page's field, `show`, the agent's tools and `calc.read_request` read words here
(catalogs/edited/vocabulary.yaml).
"""

from calc.catalogs.load import Catalogs
from calc.files.words.amounts import LONG_RUN, Amounts
from calc.files.words.bare_quantities import put_bare, put_target
from calc.files.words.chosen_model import chosen_model
from calc.files.words.clauses import ask_about_unread, without_parts
from calc.files.words.consistency import ask_about_contradictions, ask_for_work_of_deadline
from calc.files.words.denials import without_denied
from calc.files.words.facts import Facts
from calc.files.words.frames import Claim
from calc.files.words.goal import goal_of
from calc.files.words.hardware import put_hardware
from calc.files.words.items import Item
from calc.files.words.limits import put_no_latency
from calc.files.words.loads import LOAD_ROLES
from calc.files.words.method import settle_method
from calc.files.words.model_kind import Kind
from calc.files.words.parsed_text import (
    ParsedText,
    parsed_text,
    refusal_of,
    unread_words,
    words_aside,
)
from calc.files.words.quantities import put_quantities
from calc.files.words.request_reading import Question, RequestReading
from calc.files.words.roles import settled_roles
from calc.files.words.settings import put_settings
from calc.files.words.vocabulary import vocabulary

NO_MODEL = (
    "No model is named. Write one of the catalog such as qwen3-8b, its address on the Hugging "
    "Face hub, or its config.json."
)
NO_GOAL = "Shall the model be served, fine-tuned, or trained from scratch? The text does not say."
GOALS = ("serve it", "fine-tune it", "train it from scratch")
OF_ANYTHING = frozenset({"full", "fully", "lora"})  # words of a method: full of what?
SIZES = frozenset({"layers", "hidden", "heads", "kv_heads", "ffn", "vocab"})
OF_TRAINING = ("method", "objective", "epochs", "sharding", "recompute", "optimizer")
BATCH_ROLES = frozenset({"requests_count", "answers_count", "documents", "images", "audio_seconds"})
ENDING_ROLES = frozenset({"hours_most", "duration", "overnight", "weekend", "each_tokens"})
STEADY_ROLES = frozenset(
    {*LOAD_ROLES, "first_token_seconds", "clock_range", "always", "token_seconds"}
)


def read_words(text: str, catalogs: Catalogs) -> RequestReading:
    """Return the job that a text in plain words asks for; nothing is guessed in its place."""
    parsed = parsed_text(text, catalogs)
    if refusal := refusal_of(parsed):
        return RequestReading({}, problem=refusal)
    facts = Facts(not_counted=words_aside(parsed))
    put_settings(facts, parsed.items, parsed.scopes)
    kind = Kind(chosen_model(facts, parsed, catalogs), catalogs)
    claims = settled_roles(parsed.claims, parsed.plain, facts.columns, kind)
    claims = without_denied(claims, facts, parsed.items, parsed.scopes, parsed.plain)
    heard = _heard(parsed, kind)
    goal = _goal(facts, claims, heard, parsed.items, catalogs)
    claims = without_parts(claims, facts, parsed.items, parsed.covered)
    _put_claims(_amounts(facts, claims, goal, heard, parsed.plain, kind), parsed, kind)
    _settle(facts, goal, heard, parsed.items)
    ask_about_contradictions(facts, kind.model, catalogs)
    ask_for_work_of_deadline(facts, goal)
    ask_about_unread(facts, parsed.items, parsed.covered, parsed.scopes)
    problem = _problem(facts, goal, kind.model)
    stored = _put_stored_precision(facts, goal, parsed, kind.model)
    facts.not_counted += [*_unsold(parsed.items, kind.model, catalogs), *_unread(facts, parsed)]
    return RequestReading(
        facts.columns,
        facts.words,
        tuple(facts.assumed),
        tuple(dict.fromkeys(facts.not_counted)),
        tuple(facts.questions),
        problem,
        stored,
    )


def _unread(facts: Facts, text: ParsedText) -> list[str]:
    """The words that nothing has read, without those that a column is from: 35 Disponenten."""
    asked = [question.words for question in facts.questions]
    said = {word for words in (*facts.words.values(), *asked) for word in words.split()}
    return [words for words in unread_words(text) if not said.issuperset(words.split())]


def _heard(text: ParsedText, kind: Kind) -> list[Item]:
    """The items that speak for a goal or a kind of work: all but those aside or denied."""
    unheard = text.scopes.aside | (text.scopes.negated & _goal_words(text.items))
    heard = [item for number, item in enumerate(text.items) if number not in unheard]
    if kind.answers_once or kind.embeds:  # such models are more often run
        heard.append(Item(0, 0, "", frozenset({"run"})))
    return heard


def _goal(
    facts: Facts, claims: list[Claim], heard: list[Item], items: list[Item], catalogs: Catalogs
) -> str:
    """The goal by what is heard, else by all words, as in: I can not fine-tune it."""
    trains = dict(catalogs.implementations["trains"])
    goal = goal_of(claims, heard, facts.columns, trains)
    goal = goal or goal_of(claims, items, facts.columns, trains)
    if not goal or "method" in {question.column for question in facts.questions}:
        facts.drop("method")  # which has said that it is a run
    return goal


def _put_claims(amounts: Amounts, text: ParsedText, kind: Kind) -> None:
    """Set the columns of all claims; ask about those that no column takes."""
    put_quantities(amounts)
    put_hardware(amounts, text.scopes, text.items, kind.catalogs)
    put_bare(amounts, kind.model, kind.catalogs)
    for claim in amounts.left():
        amounts.ask("", claim)


def _settle(facts: Facts, goal: str, heard: list[Item], items: list[Item]) -> None:
    """Settle goal, method and what is looked for; ask about values that are not plausible."""
    if goal:
        facts.columns["goal"] = goal
    if goal == "serve":
        _without_training(facts)
    elif facts.columns.get("method") == "full" and goal == "train":
        facts.drop("method")
    elif "lora_rank" in facts.columns:
        facts.columns.setdefault("method", "lora")
    settle_method(facts, goal)
    put_target(facts, heard)
    facts.within_bounds()
    if goal == "serve":
        put_no_latency(facts, items)


def _without_training(facts: Facts) -> None:
    """Drop the columns of a run of training from a service, which may have adapters."""
    _ask_about_runs(facts)
    for column in OF_TRAINING:
        facts.drop(column)
    if "adapters" not in facts.columns:
        facts.drop("lora_rank")


def _problem(facts: Facts, goal: str, model: str) -> str:
    """The question without whose answer there is no plan, of the goal or of the model."""
    problem = ""
    if not goal:
        problem = NO_GOAL
        facts.questions.append(Question(NO_GOAL, "goal", "", GOALS))
    if model or facts.columns.keys() >= SIZES:
        return problem
    if "model" not in {question.column for question in facts.questions}:
        facts.questions.append(Question(NO_MODEL, "model"))
    return problem or next(one.text for one in facts.questions if one.column == "model")


def _put_stored_precision(facts: Facts, goal: str, text: ParsedText, model: str) -> str:
    """Put the format that the name of a served model says, and return it."""
    stored = next((one.stored for one in text.models if one.model == model), "")
    if stored and goal == "serve" and "precision" not in facts.disputed:
        facts.columns.setdefault("precision", stored)
        facts.words.setdefault("precision", model)
    return stored


def _ask_about_runs(facts: Facts) -> None:
    """Ask about the words of a run of training beside a service, such as full ft."""
    words = facts.words.get("method", "")
    if words and words not in OF_ANYTHING and "adapters" not in facts.columns:
        facts.ask("goal", words, GOALS, f"You wrote '{words}' beside a service. Which is meant?")


def _goal_words(items: list[Item]) -> set[int]:
    """The numbers of the items that speak for a goal."""
    tags = {name for weights in vocabulary().evidence.values() for name in weights}
    return {number for number, item in enumerate(items) if item.tags & tags}


def _amounts(
    facts: Facts, claims: list[Claim], goal: str, items: list[Item], plain: str, kind: Kind
) -> Amounts:
    """The amounts of a text, and what its words say about the kind of work."""
    tags = {tag for item in items for tag in item.tags}
    roles = {claim.role for claim in claims}
    several = BATCH_ROLES | {"things", "examples"} if goal == "serve" else BATCH_ROLES
    if "prompt_tokens" in roles:  # 750k prompts, 1k in
        several = several | {"prompts"}
    steady = roles & STEADY_ROLES
    counts = {*BATCH_ROLES, "examples", "prompts", *({"things"} if "batch_work" in tags else ())}
    if roles & counts:  # the window of a nightly job
        steady = steady - {"clock_range"}
    is_batch = bool("batch_work" in tags or roles & several) and not steady
    ends = bool("batch_work" in tags or roles & ENDING_ROLES)
    is_batch = is_batch or (kind.embeds and not steady and _has_long_text(claims))
    return Amounts(facts, claims, goal, is_batch, ends, kind.embeds, frozenset(tags), plain)


def _has_long_text(claims: list[Claim]) -> bool:
    """Return whether a text counts more tokens than one request has, which are work that ends."""
    return any(claim.role == "tokens" and claim.item.value >= LONG_RUN for claim in claims)


def _unsold(items: list[Item], model: str, catalogs: Catalogs) -> list[str]:
    """Closed models beside an open one, and an endpoint that is not known to sell the model."""
    closed = [item.text for item in items if "refusals:closed" in item.tags]
    names = [item.text for item in items if "endpoint" in item.tags]
    if names and model and model not in set(catalogs.endpoints["model"]):
        closed.append(f"{names[0]} (no price of {model} by the token is known)")
    return closed
