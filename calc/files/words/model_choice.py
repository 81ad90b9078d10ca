"""The model that a text means, among those that it names; asks where several may be meant."""

import re
from collections.abc import Sequence

from calc.catalogs.load import Catalogs
from calc.files.words.facts import Facts
from calc.files.words.frames import Claim
from calc.files.words.items import Item
from calc.files.words.models import NamedModel
from calc.files.words.name_parts import of_size, parts_of_models
from calc.files.words.scopes import Scopes

RELEASE = re.compile(r"\d+(?:\.\d+)?")  # of a family
SAME_PARAMETERS = 1.005  # versions of a model differ in a few words of the vocabulary
SAYS_SIZE = re.compile(r"\d[bm]\b")
MOST_CHOICES = 4  # that a question names
MOST_TO_TAKE = 5  # choices of which the newest is taken until the question is answered


def model_meant(
    facts: Facts,
    models: list[NamedModel],
    claims: list[Claim],
    items: list[Item],
    scopes: Scopes,
    catalogs: Catalogs,
) -> str:
    """Set the model that is meant and return it; empty where the text leaves it open."""
    said = _said(models, items, scopes)
    if unknown := next((one for one in said if one.unknown), None):
        _ask_about_unknown(facts, unknown, _text(items, unknown))
        return ""
    sure = list(dict.fromkeys(one.model for one in said if one.model))
    if (names := _different(said, sure)) and len(sure) < 2:
        choices = tuple(one.model or one.choices[0] for one in said)[:MOST_CHOICES]
        _ask_which(facts, names, choices)
        return ""
    if len(sure) > 1:
        _ask_which(facts, sure, sure)
        return ""
    if sure:
        facts.put("model", sure[0], next(_text(items, one) for one in said if one.model))
        return sure[0]
    open_ = [_of_said_size(one, claims, catalogs) for one in said if one.choices]
    if open_:
        narrowest = min(open_, key=lambda each: len(each.choices))
        return _put_open(facts, narrowest, _text(items, narrowest), catalogs)
    _ask_about_size(facts, claims, catalogs)
    return ""


def _said(models: list[NamedModel], items: list[Item], scopes: Scopes) -> list[NamedModel]:
    """The models that the text asks for; if it names none, those in what is said of today."""
    places = {item.start: number for number, item in enumerate(items) if "MODEL" in item.tags}
    said = [one for one in models if places.get(one.start) not in scopes.negated]
    return [one for one in said if places.get(one.start) not in scopes.aside] or said


def _ask_about_unknown(facts: Facts, unknown: NamedModel, words: str) -> None:
    """Ask which model stands for one that the catalog lacks."""
    near = ", ".join(unknown.choices)
    facts.ask(
        "model",
        words,
        unknown.choices,
        f"'{words}' is not in the catalog. Which model shall stand for it "
        f"({near}), or what is its address on the Hugging Face hub?",
    )


def _ask_which(facts: Facts, names: list[str], choices: Sequence[str]) -> None:
    """Ask which of several models is meant."""
    named = " and ".join(names)
    facts.ask("model", named, choices, f"You named {named}. Which model is meant?")


def _put_open(facts: Facts, one: NamedModel, words: str, catalogs: Catalogs) -> str:
    """Set a model whose name leaves choices if they are alike; else ask, the newest first."""
    newest = one.choices[0]
    if len(one.choices) == 1:
        facts.put("model", newest, words)
        return newest
    if SAYS_SIZE.search(words) and _is_same_size(one.choices, catalogs):
        facts.put("model", newest, words)
        facts.assume(f"'{words}' as {newest}")
        return newest
    choices = one.choices[:MOST_CHOICES]
    facts.ask(
        "model", words, choices, f"'{words}' may be {', '.join(choices)}. Which model is meant?"
    )
    if len(one.choices) > MOST_TO_TAKE:
        return ""
    facts.put("model", newest, words)
    return newest


def _ask_about_size(facts: Facts, claims: list[Claim], catalogs: Catalogs) -> None:
    """Ask which model of a size is meant, where a text names a size alone."""
    of_size_alone = (
        claim.item
        for claim in claims
        if claim.role in ("size", "bare") and claim.item.extra.get("scale") == "b"
    )
    if size := next(of_size_alone, None):
        choices = of_size(size.value / 1e9, catalogs)
        facts.ask(
            "model",
            size.text,
            choices,
            f"You wrote '{size.text}'. Which model of this size is meant: "
            f"{', '.join(choices) or 'name one'}?",
        )


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
    """The words of a text that name a model."""
    return next((item.text for item in items if item.start == one.start), one.model)
