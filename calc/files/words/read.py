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
from calc.files.words.models import NamedModel, named_models
from calc.files.words.name_parts import of_size, parts_of_models
from calc.files.words.quantities import put_quantities
from calc.files.words.request_reading import Question, RequestReading
from calc.files.words.roles import Kind, settled_roles
from calc.files.words.scopes import Scopes, name_entry, scopes_of
from calc.files.words.settings import put_settings
from calc.files.words.vocabulary import vocabulary

GOES_ON = re.compile(r"[-.](?:\d|x\b)")  # after a name: that of another release
RELEASE = re.compile(r"\d+(?:\.\d+)?")  # of a family
NO_MODEL = (
    "No model is named. Write one of the catalog such as qwen3-8b, its address on the Hugging "
    "Face hub, or its config.json."
)
GOALS = ("serve it", "fine-tune it", "train it from scratch")
SAME_PARAMETERS = 1.005  # versions of a model differ in a few words of the vocabulary
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
    model = _model(facts, models, claims, items, scopes, catalogs)
    kind = Kind(model, catalogs)
    claims = settled_roles(claims, plain, facts.columns, kind)
    claims = without_denied(claims, facts, items, scopes, plain)
    unheard = scopes.aside | (scopes.negated & _goal_words(items))
    heard = [item for number, item in enumerate(items) if number not in unheard]
    if kind.answers_once or kind.embeds:
        heard = [*heard, Item(0, 0, "", frozenset({"run"}))]  # such models are more often run
    trains = dict(catalogs.implementations["trains"])
    goal = goal_of(claims, heard, facts.columns, trains)
    goal = goal or goal_of(claims, items, facts.columns, trains)  # I can not fine-tune it
    if not goal or "method" in {question.column for question in facts.questions}:
        facts.drop("method")  # which has said that it is a run
    amounts = _amounts(plain, facts, claims, goal, heard, model, catalogs)
    put_quantities(amounts)
    put_hardware(amounts, scopes, items, catalogs)
    put_bare(amounts, model, catalogs)
    for claim in amounts.left():
        amounts.ask("", claim)
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
    settle_method(facts, goal)
    put_target(facts, heard)
    facts.within_bounds()
    if goal == "serve":
        put_no_latency(facts, items)
    ask_about_contradictions(facts, model, catalogs)
    ask_about_parts(facts, items, covered)
    ask_about_unread(facts, items, covered, scopes)
    problem = "" if goal else _no_goal(facts)
    if not model and not facts.columns.keys() >= SIZES:
        if "model" not in {question.column for question in facts.questions}:
            facts.questions.append(Question(NO_MODEL, "model"))
        problem = problem or next(one.text for one in facts.questions if one.column == "model")
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


def _model(
    facts: Facts,
    models: list[NamedModel],
    claims: list[Claim],
    items: list[Item],
    scopes: Scopes,
    catalogs: Catalogs,
) -> str:
    """The model that is meant; asks where several may be."""
    places = {item.start: number for number, item in enumerate(items) if "MODEL" in item.tags}
    said = [one for one in models if places.get(one.start) not in scopes.aside | scopes.negated]
    if not said:  # named in what is said of today alone
        said = [one for one in models if places.get(one.start) not in scopes.negated]
    if other := next((one for one in said if one.unknown), None):
        near = ", ".join(other.choices)
        facts.ask(
            "model",
            _text(items, other),
            other.choices,
            f"'{_text(items, other)}' is not in the catalog. Which model shall stand for it "
            f"({near}), or what is its address on the Hugging Face hub?",
        )
        return ""
    sure = list(dict.fromkeys(one.model for one in said if one.model))
    if (names := _different(said, sure)) and len(sure) < 2:
        facts.ask(
            "model",
            " and ".join(names),
            tuple(one.model or one.choices[0] for one in said)[:4],
            f"You named {' and '.join(names)}. Which model is meant?",
        )
        return ""
    if len(sure) == 1:
        facts.put("model", sure[0], next(_text(items, one) for one in said if one.model))
        return sure[0]
    if len(sure) > 1:
        facts.ask(
            "model",
            " and ".join(sure),
            sure,
            f"You named {' and '.join(sure)}. Which model is meant?",
        )
        return ""
    open_ = [_of_said_size(one, claims, catalogs) for one in said if one.choices]
    if open_:
        one = min(open_, key=lambda each: len(each.choices))
        words = _text(items, one)
        if len(one.choices) == 1:
            facts.put("model", one.choices[0], words)
            return one.choices[0]
        if re.search(r"\d[bm]\b", words) and _is_same_size(one.choices, catalogs):
            facts.put("model", one.choices[0], words)
            facts.assume(f"'{words}' as {one.choices[0]}")
            return one.choices[0]
        newest = one.choices[0]
        facts.ask(
            "model",
            words,
            one.choices[:4],
            f"'{words}' may be {', '.join(one.choices[:4])}. Which model is meant?",
        )
        if len(one.choices) <= 5:
            facts.put("model", newest, words)
            return newest
        return ""
    sizes = [
        claim
        for claim in claims
        if claim.role in ("size", "bare") and claim.item.extra.get("scale") == "b"
    ]
    if sizes:
        size = sizes[0].item.value / 1e9
        words = sizes[0].item.text
        choices = of_size(size, catalogs)
        facts.ask(
            "model",
            words,
            choices,
            f"You wrote '{words}'. Which model of this size is meant: "
            f"{', '.join(choices) or 'name one'}?",
        )
    return ""


def _of_said_size(one: NamedModel, claims: list[Claim], catalogs: Catalogs) -> NamedModel:
    """A name with the models of a size that stands apart from it: gemma 3 (the 4b one)."""
    sizes = {
        claim.item.text
        for claim in claims
        if claim.role in ("size", "bare") and claim.item.extra.get("scale") in ("b", "m")
    }
    parts = parts_of_models(catalogs)
    near = [name for name in one.choices if sizes & set(parts[name])]
    if sizes and not near and one.choices:  # the choices are but some of the family
        heads = {parts[name][0] for name in one.choices}
        near = [name for name in parts if parts[name][0] in heads and sizes & set(parts[name])]
    return one._replace(choices=tuple(near)) if near else one


def _different(said: list[NamedModel], sure: list[str]) -> list[str]:
    """The names of several models, where one is open and cannot be the other; else none."""
    open_ = [one for one in said if one.choices]
    others = [set(sure)] if sure else [set(one.choices) for one in open_]
    apart = open_ and any(not set(one.choices) & other for one in open_ for other in others)
    return list(dict.fromkeys(one.model or one.choices[0] for one in said)) if apart else []


def _is_same_size(models: tuple[str, ...], catalogs: Catalogs) -> bool:
    """Return whether these are versions of one model: as many parameters, layers and key heads."""
    releases = {_release(parts_of_models(catalogs)[model]) for model in models}
    table = catalogs.models.loc[list(models)]
    parameters = table["parameters"].astype(float)
    return bool(
        len(releases) == 1
        and parameters.max() / parameters.min() < SAME_PARAMETERS
        and table["layers"].nunique() == 1
        and table["kv_heads"].nunique() == 1
    )


def _release(parts: tuple[str, ...]) -> str:
    """The number behind a family's name, such as 3.1 of olmo-3.1-32b; empty for none."""
    return parts[1] if len(parts) > 1 and RELEASE.fullmatch(parts[1]) else ""


def _text(items: list[Item], one: NamedModel) -> str:
    return next((item.text for item in items if item.start == one.start), one.model)


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
