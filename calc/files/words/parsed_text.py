"""A text in plain words, parsed: its items, its models, the scopes of names, its claims."""

import re
from typing import NamedTuple

from calc.catalogs.load import Catalogs
from calc.files.words.compose import compose_quantities
from calc.files.words.frames import Claim, claims_of
from calc.files.words.items import Item, items_of, normalize
from calc.files.words.machines import named_machines
from calc.files.words.models import NamedModel, named_models
from calc.files.words.name_parts import owners_of_models
from calc.files.words.scopes import Scopes, name_entry, scopes_of
from calc.files.words.vocabulary import lexicon, silent_words, vocabulary

FIRST_YEAR, LAST_YEAR = 1990, 2035
HEAD = re.compile(r"(?<![\w/.@-])([a-z]{2,})-$")  # before a name, of which it is a part: xlm-
GOES_ON = re.compile(r"[-.](?:\d|x\b)[\w.-]*")  # after a name: that of another release


class ParsedText(NamedTuple):
    """Items, names and claims of a text, before its quantities mean anything."""

    plain: str
    models: list[NamedModel]
    items: list[Item]
    scopes: Scopes
    claims: list[Claim]  # of the clauses about the job
    claims_aside: list[Claim]  # of the clauses about something else
    covered: set[int]  # numbers of the items that frames cover

    def words_of(self, model: NamedModel) -> str:
        """The words that name a model."""
        named = (item.text for item in self.items if item.start == model.start)
        return next(named, model.model)


def parsed_text(text: str, catalogs: Catalogs) -> ParsedText:
    """Return a text with its items, names and claims."""
    plain = normalize(text)
    models, items = _items(plain, catalogs)
    scopes = scopes_of(items)
    claims, covered = claims_of(items)
    return ParsedText(
        plain,
        models,
        items,
        scopes,
        [claim for claim in claims if claim.first not in scopes.aside],
        [claim for claim in claims if claim.first in scopes.aside],
        covered,
    )


def _items(plain: str, catalogs: Catalogs) -> tuple[list[NamedModel], list[Item]]:
    """The models and the items of a text; names are found before numbers."""
    named = [_whole(one, plain, catalogs) for one in named_models(plain, catalogs)]
    models = [one for one in named if not GOES_ON.match(plain, one.end)]
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


def _whole(one: NamedModel, plain: str, catalogs: Catalogs) -> NamedModel:
    """A named model; one whose name is that of another is unknown: qwen2.5-14b-1m, xlm-roberta."""
    tail, head = GOES_ON.match(plain, one.end), HEAD.search(plain, 0, one.start)
    known = owners_of_models(catalogs) | lexicon().tags.keys() | silent_words()
    begins = head is not None and head[1] not in {
        part for name in known for part in name.split("-")
    }
    if not one.model or not (tail or begins):
        return one
    start, end = (head.start() if head and begins else one.start), (tail.end() if tail else one.end)
    unknown = plain[start:end]
    return one._replace(start=start, end=end, model="", choices=(one.model,), unknown=unknown)


def refusal_of(text: ParsedText) -> str:
    """The sentence about what cannot be planned; empty where nothing of it is asked."""
    for number, item in enumerate(text.items):
        if number in text.scopes.aside or number in text.scopes.negated:
            continue
        name = next((tag.partition(":")[2] for tag in item.tags if tag.startswith("refusals:")), "")
        if name and not (text.models and name in ("closed", "images", "other")):
            return f"You wrote '{item.text}'. {vocabulary().refusals[name].sentence}"
    return ""


def words_aside(text: ParsedText) -> list[str]:
    """The quantities, machines and places of clauses that speak of something else."""
    claims = [claim for claim in text.claims_aside if _is_amount(claim)]
    names = [
        text.items[place]
        for place in sorted(text.scopes.aside)
        if (name_entry(text.items[place]) or "MODEL" in text.items[place].tags)
        and not any(claim.start <= text.items[place].start < claim.end for claim in claims)
    ]
    quantities = [text.plain[claim.start : claim.end] for claim in claims]
    return [*quantities, *(item.text for item in names)]


def _is_amount(claim: Claim) -> bool:
    """Return whether a claim is of more than a word such as two, or a year."""
    if claim.role not in ("bare", "bare_range"):
        return True
    is_year = FIRST_YEAR <= claim.item.value <= LAST_YEAR and not claim.item.extra.get("scale")
    return bool(re.search(r"\d", claim.item.text)) and not is_year


def unread_words(text: ParsedText) -> list[str]:
    """The words that nothing has read, dates, labels, and sizes of images in pixels."""
    stretches: list[str] = []
    words: list[str] = []
    for number, item in enumerate([*text.items, Item(0, 0, "", frozenset({"end"}))]):
        is_unread = item.tags & {"PIXELS", "DATE", "LABEL"} or (
            not item.tags and number not in text.covered
        )
        if is_unread and number not in text.scopes.aside:
            words.append(item.text)
            continue
        if words:
            stretches.append(" ".join(words))
        words = []
    return stretches
