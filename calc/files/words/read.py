"""A job in plain words: numbers and names are found first, then meanings compete for them.

The page's field, `show`, the agent's tools and `calc.read_request` read words here
(catalogs/edited/vocabulary.yaml).
"""

import re

from calc.catalogs.load import Catalogs
from calc.files.words.amounts import LONG_RUN, Amounts
from calc.files.words.bare_quantities import put_bare, put_target
from calc.files.words.clauses import ask_about_parts, ask_about_unread
from calc.files.words.compose import compose_quantities
from calc.files.words.consistency import ask_about_contradictions
from calc.files.words.denials import without_denied
from calc.files.words.facts import Facts
from calc.files.words.frames import Claim, claims_of
from calc.files.words.goal import goal_of
from calc.files.words.hardware import put_hardware
from calc.files.words.items import Item, items_of, normalize
from calc.files.words.limits import put_no_latency
from calc.files.words.loads import LOAD_ROLES
from calc.files.words.machines import named_machines
from calc.files.words.method import settle_method
from calc.files.words.model_choice import model_meant
from calc.files.words.models import NamedModel, named_models
from calc.files.words.quantities import put_quantities
from calc.files.words.request_reading import Question, RequestReading
from calc.files.words.roles import Kind, settled_roles
from calc.files.words.scopes import Scopes, name_entry, scopes_of
from calc.files.words.settings import put_settings
from calc.files.words.vocabulary import vocabulary

GOES_ON = re.compile(r"[-.](?:\d|x\b)")  # after a name: that of another release
NO_MODEL = (
    "No model is named. Write one of the catalog such as qwen3-8b, its address on the Hugging "
    "Face hub, or its config.json."
)
GOALS = ("serve it", "fine-tune it", "train it from scratch")
OF_ANYTHING = frozenset({"full", "fully", "lora"})  # words of a method: full of what?
SIZES = frozenset({"layers", "hidden", "heads", "kv_heads", "ffn", "vocab"})
OF_SERVING = ("method", "objective", "epochs", "lora_rank", "sharding", "recompute", "optimizer")
BATCH_ROLES = frozenset({"requests_count", "answers_count", "documents", "images", "audio_seconds"})
ENDING_ROLES = frozenset({"hours_most", "duration", "overnight", "weekend", "each_tokens"})
STEADY_ROLES = frozenset(
    {*LOAD_ROLES, "first_token_seconds", "clock_range", "always", "token_seconds"}
)


def read_words(text: str, catalogs: Catalogs) -> RequestReading:
    """Return the job that a text in plain words asks for; nothing is guessed in its place."""
    plain = normalize(text)
    models, items = _items(plain, catalogs)
    scopes = scopes_of(items)
    facts = Facts()
    if refusal := _refusal(items, models, scopes):
        return RequestReading({}, problem=refusal)
    claims, covered = claims_of(items)
    aside = [claim for claim in claims if claim.first in scopes.aside]
    claims = [claim for claim in claims if claim.first not in scopes.aside]
    facts.not_counted += _put_aside(aside, items, scopes, plain)
    put_settings(facts, items, scopes)
    model = model_meant(facts, models, claims, items, scopes, catalogs)
    kind = Kind(model, catalogs)
    claims = settled_roles(claims, plain, facts.columns, kind)
    claims = without_denied(claims, facts, items, scopes, plain)
    heard = _items_heard(items, scopes, kind)
    goal = _goal(claims, heard, items, facts, catalogs)
    amounts = _amounts(plain, facts, claims, goal, heard, model, catalogs)
    put_quantities(amounts)
    put_hardware(amounts, scopes, items, catalogs)
    put_bare(amounts, model, catalogs)
    for claim in amounts.left():
        amounts.ask("", claim)
    _put_goal(facts, goal)
    settle_method(facts, goal)
    put_target(facts, heard)
    facts.within_bounds()
    if goal == "serve":
        put_no_latency(facts, items)
    ask_about_contradictions(facts, model, catalogs)
    ask_about_parts(facts, items, covered)
    ask_about_unread(facts, items, covered, scopes)
    problem = _problem(facts, goal, model)
    stored = next((one.stored for one in models if one.model == model), "")
    if stored and goal == "serve" and "precision" not in facts.disputed:
        facts.columns.setdefault("precision", stored)
        facts.words.setdefault("precision", model)
    facts.not_counted += [*_unsold(items, model, catalogs), *_unread_words(items, covered, scopes)]
    return RequestReading(
        facts.columns,
        facts.words,
        tuple(facts.assumed),
        tuple(dict.fromkeys(facts.not_counted)),
        tuple(facts.questions),
        problem,
        stored,
    )


def _items_heard(items: list[Item], scopes: Scopes, kind: Kind) -> list[Item]:
    """The items that speak of the job itself, and for some kinds of model that it is run."""
    unheard = scopes.aside | (scopes.negated & _goal_words(items))
    heard = [item for number, item in enumerate(items) if number not in unheard]
    if kind.answers_once or kind.embeds:
        heard = [*heard, Item(0, 0, "", frozenset({"run"}))]  # such models are more often run
    return heard


def _goal(
    claims: list[Claim], heard: list[Item], items: list[Item], facts: Facts, catalogs: Catalogs
) -> str:
    """The goal that a text speaks for; empty if it speaks for none."""
    trains = dict(catalogs.implementations["trains"])
    goal = goal_of(claims, heard, facts.columns, trains)
    goal = goal or goal_of(claims, items, facts.columns, trains)  # I can not fine-tune it
    if not goal or "method" in {question.column for question in facts.questions}:
        facts.drop("method")  # which has said that it is a run
    return goal


def _put_goal(facts: Facts, goal: str) -> None:
    """Set the goal, and leave out the columns that do not go with it."""
    if goal:
        facts.columns["goal"] = goal
    if goal == "serve":
        _ask_about_runs(facts)
        for column in OF_SERVING:
            if column != "lora_rank" or "adapters" not in facts.columns:
                facts.drop(column)
    elif facts.columns.get("method") == "full" and goal == "train":
        facts.drop("method")
    elif "lora_rank" in facts.columns:
        facts.columns.setdefault("method", "lora")


def _problem(facts: Facts, goal: str, model: str) -> str:
    """Ask for a goal or a model that is missing; return the first of these questions."""
    problem = "" if goal else _no_goal(facts)
    if model or facts.columns.keys() >= SIZES:
        return problem
    if "model" not in {question.column for question in facts.questions}:
        facts.questions.append(Question(NO_MODEL, "model"))
    return problem or next(one.text for one in facts.questions if one.column == "model")


def _ask_about_runs(facts: Facts) -> None:
    """Ask about the words of a run of training beside a service, such as full ft."""
    words = facts.words.get("method", "")
    if words and words not in OF_ANYTHING and "adapters" not in facts.columns:
        facts.ask("goal", words, GOALS, f"You wrote '{words}' beside a service. Which is meant?")


def _put_aside(aside: list[Claim], items: list[Item], scopes: Scopes, plain: str) -> list[str]:
    """The quantities, machines and places of clauses that speak of something else."""
    claims = [claim for claim in aside if claim.role not in ("bare", "bare_range")]
    names = [
        items[place]
        for place in sorted(scopes.aside)
        if name_entry(items[place])
        and not any(claim.start <= items[place].start < claim.end for claim in claims)
    ]
    return [
        *(plain[claim.start : claim.end] for claim in claims),
        *(item.text for item in names),
    ]


def _items(plain: str, catalogs: Catalogs) -> tuple[list[NamedModel], list[Item]]:
    """The models and the items of a text; names are found before numbers."""
    models = [one for one in named_models(plain, catalogs) if not GOES_ON.match(plain, one.end)]
    names = [
        Item(one.start, one.end, plain[one.start : one.end], frozenset({"MODEL", "name"}), one)
        for one in models
    ]
    names += [
        item
        for item in named_machines(plain, catalogs)
        if not any(item.start < name.end and name.start < item.end for name in names)
    ]
    return models, compose_quantities(items_of(plain, sorted(names, key=lambda item: item.start)))


def _refusal(items: list[Item], models: list[NamedModel], scopes: Scopes) -> str:
    """The sentence about what cannot be planned; empty where nothing of it is asked."""
    for number, item in enumerate(items):
        if number in scopes.aside or number in scopes.negated:
            continue
        name = next((tag.partition(":")[2] for tag in item.tags if tag.startswith("refusals:")), "")
        if name and not (models and name in ("closed", "images", "other")):
            return f"You wrote '{item.text}'. {vocabulary().refusals[name].sentence}"
    return ""


def _goal_words(items: list[Item]) -> set[int]:
    """The numbers of the items that speak for a goal."""
    tags = {name for weights in vocabulary().evidence.values() for name in weights}
    return {number for number, item in enumerate(items) if item.tags & tags}


def _amounts(
    plain: str,
    facts: Facts,
    claims: list[Claim],
    goal: str,
    items: list[Item],
    model: str,
    catalogs: Catalogs,
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
    embeds = Kind(model, catalogs).embeds
    is_batch = is_batch or (embeds and not steady and _has_long_text(claims))
    return Amounts(facts, claims, goal, is_batch, ends, embeds, frozenset(tags), plain)


def _has_long_text(claims: list[Claim]) -> bool:
    """Return whether a text counts more tokens than one request has, which are work that ends."""
    return any(claim.role == "tokens" and claim.item.value >= LONG_RUN for claim in claims)


def _no_goal(facts: Facts) -> str:
    """Ask what the model is for; return the question."""
    text = "Shall the model be served, fine-tuned, or trained from scratch? The text does not say."
    facts.questions.append(Question(text, "goal", "", GOALS))
    return text


def _unsold(items: list[Item], model: str, catalogs: Catalogs) -> list[str]:
    """Closed models beside an open one, and an endpoint that is not known to sell the model."""
    closed = [item.text for item in items if "refusals:closed" in item.tags]
    names = [item.text for item in items if "endpoint" in item.tags]
    if names and model and model not in set(catalogs.endpoints["model"]):
        closed.append(f"{names[0]} (no price of {model} by the token is known)")
    return closed


def _unread_words(items: list[Item], covered: set[int], scopes: Scopes) -> list[str]:
    """The words that nothing has read, dates, and sizes of images in pixels."""
    stretches: list[str] = []
    words: list[str] = []
    for number, item in enumerate([*items, Item(0, 0, "", frozenset({"end"}))]):
        is_unread = item.tags & {"PIXELS", "DATE"} or (not item.tags and number not in covered)
        if is_unread and number not in scopes.aside:
            words.append(item.text)
            continue
        if words:
            stretches.append(" ".join(words))
        words = []
    return stretches
