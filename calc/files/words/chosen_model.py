"""The model that a text means, among those that it names; several are asked about."""

import re

from calc.catalogs.load import Catalogs
from calc.files.words.facts import Facts
from calc.files.words.frames import Claim
from calc.files.words.items import Item
from calc.files.words.models import NamedModel
from calc.files.words.name_parts import of_size, parts_of_models, parts_of_text
from calc.files.words.parsed_text import ParsedText

RELEASE = re.compile(r"\d+(?:\.\d+)?")  # of a family
OF_DATA = frozenset({"example", "answer", "document"})
SIZE = re.compile(r"\d[bm]\b")
SAME_PARAMETERS = 1.005  # versions of a model differ in a few words of the vocabulary
MOST_CHOICES = 4
MOST_OPEN = 5  # models that a name may stand for, of which the newest is taken beside a question
UNKNOWN = (
    "'{}' is not in the catalog. Which model shall stand for it ({}), or what is its address on "
    "the Hugging Face hub?"
)


def chosen_model(facts: Facts, text: ParsedText, catalogs: Catalogs) -> str:
    """Put the model that a text means and return its id; ask, and return nothing, for several."""
    said = _said(text)
    if other := next((one for one in said if one.unknown), None):
        _ask_about_unknown(facts, text.words_of(other), other.choices)
        return ""
    said = _without_families(said, text, catalogs)
    sure = list(dict.fromkeys(one.model for one in said if one.model))
    if several := sure if len(sure) > 1 else _different(said, sure):
        names = " and ".join(several)
        facts.ask("model", names, several, f"You named {names}. Which model is meant?")
        return ""
    if sure:
        named = next(one for one in said if one.model)
        facts.put("model", sure[0], text.words_of(named))
        return sure[0]
    open_ = [_of_said_size(one, text.claims, catalogs) for one in said if one.choices]
    if open_:
        one = min(open_, key=lambda each: len(each.choices))
        return _one_of(facts, text.words_of(one), one.choices, catalogs)
    return _of_bare_size(facts, text, catalogs)


def _said(text: ParsedText) -> list[NamedModel]:
    """The models of the clauses about the job; else those of what is said of today."""
    places = {item.start: number for number, item in enumerate(text.items) if "MODEL" in item.tags}
    scopes = text.scopes
    allowed = [one for one in text.models if places.get(one.start) not in scopes.negated]
    allowed = [one for one in allowed if not _names_data(text.items, places, one)] or allowed
    return [one for one in allowed if places.get(one.start) not in scopes.aside] or allowed


def _without_families(
    said: list[NamedModel], text: ParsedText, catalogs: Catalogs
) -> list[NamedModel]:
    """The models without a family's name beside one of its models: whisper, whisper-large-v3."""
    known = parts_of_models(catalogs)
    parts = {
        one: {part.text for part in parts_of_text(text.plain[one.start : one.end])} for one in said
    }
    return [
        one
        for one in said
        if not any(
            parts[one] < parts[other] and parts[one] < set(known.get(other.model, ()))
            for other in said
        )
    ]


def _names_data(items: list[Item], places: dict[int, int], one: NamedModel) -> bool:
    """Return whether a model says whose data the examples behind its name are: r1 traces."""
    place = places.get(one.start, len(items))
    behind = items[place + 1 : place + 2]
    return any(item.tags & OF_DATA and item.text.endswith("s") for item in behind)


def _ask_about_unknown(facts: Facts, words: str, choices: tuple[str, ...]) -> None:
    """Ask which model shall stand for one that the catalog lacks."""
    facts.ask("model", words, choices, UNKNOWN.format(words, ", ".join(choices)))


def _one_of(facts: Facts, words: str, choices: tuple[str, ...], catalogs: Catalogs) -> str:
    """Take one of the models that a name may stand for; ask where their sizes differ."""
    newest = choices[0]
    if len(choices) == 1:
        facts.put("model", newest, words)
        return newest
    if SIZE.search(words) and _is_same_size(choices, catalogs):
        facts.put("model", newest, words)
        facts.assume(f"'{words}' as {newest}")
        return newest
    near = choices[:MOST_CHOICES]
    facts.ask("model", words, near, f"'{words}' may be {', '.join(near)}. Which model is meant?")
    if len(choices) > MOST_OPEN:
        return ""
    facts.put("model", newest, words)
    return newest


def _of_bare_size(facts: Facts, text: ParsedText, catalogs: Catalogs) -> str:
    """Take the one model that has a size in its name, such as 405b; ask where several have it."""
    sizes = [
        claim
        for claim in text.claims
        if claim.role == "size" or (claim.role == "bare" and claim.item.extra.get("scale") == "b")
    ]
    if sizes:
        is_own = any(item.tags & {"own", "pretrain"} for item in text.items)
        words = sizes[0].item.text
        choices = of_size(sizes[0].item.value / 1e9, catalogs)
        exact = [one for one in choices if words in parts_of_models(catalogs)[one]]
        if len(exact) == 1 and not is_own:
            facts.put("model", exact[0], words)
            facts.assume(f"'{words}' as {exact[0]}")
            return exact[0]
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
