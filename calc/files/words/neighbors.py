"""Words of several meanings, settled by the words beside them: 2k in, in 3 days."""

from collections.abc import Callable
from dataclasses import replace
from itertools import takewhile
from typing import NamedTuple

from calc.files.words.items import Item, items_after

ADJECTIVES = frozenset({"page", "paragraph", "sentence", "document", "image", "turn"})
AT_ONCE = frozenset({"active", "concurrent"})
COUNTED_BY_ONE = frozenset({"CARD", "INST", "gpu", "node", "x", "epoch", "pass", "spare", "extra"})
EACH = frozenset({"each", "per_user"})
EACH_TIME = frozenset({"RATE", "every"})  # one question per 2 minutes
FARTHEST_COLON = 4  # items behind the number of a heading
FARTHEST_EACH = 5  # items: everyone asks 5 questions in an hour
FARTHEST_PRICE = 4  # words behind how much
FARTHEST_SAME = 4  # items behind the same
MADE = frozenset({"caption", "captions", "label", "labels", "score", "summarization", "extract"})
HERE = frozenset({"below", "above", "under", "over"})  # in a letter: find below our needs
HOW_MUCH = frozenset({"how much", "combien", "wieviel", "wie viel", "cuánto"})
JUST_ONE = frozenset({"one", "just one", "only one", "a single", "single"})
KINDS = frozenset({"session", "user", "request", "out", "question", "prompt", "answer"})
LONGEST_LIST = 10  # things that a heading counts: two corrections
MULTIPLES = frozenset({"dual", "twin", "quad"})
NOT_BEHIND_IN = frozenset({"N", ",", "end", "token", "/", "and", "out", "each", "per", "RATE"})
OF_WHICH = frozenset({"which", "whom", "those", "them", "these"})
OF_DATA = frozenset({"of", "on", "from", "von", "de", "auf", "aus", "sur", "sobre"})
ONE_OF = frozenset({"image", "concurrent"})  # one image each
PAIRS = frozenset({"pair", "duo", "paar", "paire", "par"})
PER = frozenset({"per", "pro", "par", "por"})
PERSON = frozenset({"user", "people"})
PRICES = frozenset({"cost", "costs", "be", "is", "pay", "for", "price", "money", "budget"}) | {
    *("kostet", "kosten", "coûte", "coûterait", "cuesta", "costaría", "vale")
}
SHORTEST_PLURAL = 4  # letters
SHOWN = frozenset({"find", "see", "listed", "described", "as", "mentioned", "given", "from", "the"})
SILENT = frozenset({"silent"})
STREAM = frozenset({"session", "user", "request"})  # single stream
THINGS = frozenset({"document", "example", "audio", "image"})
WITH = frozenset({"with", "w", "mit", "avec", "con"})


class ItemPlace(NamedTuple):
    """An item among those of a text, with the next one that says something."""

    items: list[Item]
    number: int
    speaks: Item | None

    @property
    def item(self) -> Item:
        """Return the item itself."""
        return self.items[self.number]

    @property
    def before(self) -> Item | None:
        """Return the item before; None for the first."""
        return self.items[self.number - 1] if self.number else None

    def behind(self, count: int = 1) -> list[Item]:
        """Return the next items, at most so many."""
        return self.items[self.number + 1 : self.number + 1 + count]


def settle_by_neighbors(items: list[Item]) -> list[Item]:
    """Return the items, those whose word has several meanings with the one that is meant."""
    places = (ItemPlace(items, number, speaks) for number, speaks in enumerate(items_after(items)))
    return [_settled(place) for place in places]


def _settled(place: ItemPlace) -> Item:
    """The item of a place with the tags that the first rule which applies gives it."""
    meant = (rule(place) for rule in RULES)
    return next((item for item in meant if item is not None), place.item)


def is_noun(item: Item) -> bool:
    """Return whether an item is a word that the vocabulary lacks, such as the name of a thing."""
    return not item.tags and item.text.isalpha()


def is_plural(word: str) -> bool:
    """Return whether a word that the vocabulary lacks may name things that are counted."""
    return len(word) >= SHORTEST_PLURAL and word.endswith("s") and not word.endswith("ss")


def _in(place: ItemPlace) -> Item | None:
    """In before a time, before a count of things, or behind a length: 2k in, 200 out."""
    item, speaks = place.item, place.speaks
    if item.text not in ("in", "en") or speaks is None:
        return None
    if "DUR" in speaks.tags:
        return replace(item, tags=item.tags - {"in"})
    if "N" in speaks.tags and _counts_things(place):  # in 120 shops
        return replace(item, tags=item.tags - {"in", "within"} | SILENT)
    if place.behind()[0].text in WITH:  # 45k in with 90% cached
        return item
    if not speaks.tags & NOT_BEHIND_IN:
        return replace(item, tags=item.tags - {"in", "within"} | SILENT)
    return None


def _counts_things(place: ItemPlace) -> bool:
    """Return whether the next number counts things that the vocabulary lacks."""
    following = place.behind(2)[1:]
    return bool(following) and is_noun(following[0]) and is_plural(following[0].text)


def _each(place: ItemPlace) -> Item | None:
    """Each before a number is of things, not of users: each with 2 images."""
    behind = place.behind(2)
    if place.item.text == "à" and len(behind) == 2 and behind[1].tags & PERSON:
        return replace(place.item, tags=SILENT)  # à 60 utilisateurs
    if place.item.text != "each" or place.speaks is None or "N" not in place.speaks.tags:
        return None
    return replace(place.item, tags=place.item.tags - {"per_user"})


def _time_or_rate(place: ItemPlace) -> Item | None:
    """A day, as the time within which something is done, or as the one that a rate is over."""
    item, before = place.item, place.before
    if not {"DUR", "RATE"} <= item.tags or before is None:
        return None
    if "within" in before.tags:
        of_each = _is_of_each(place)
        return replace(item, tags=item.tags - {"DUR" if of_each else "RATE"})
    # what does it cost a month, 9 visits a doctor a day, for 3 hours a day, $500 a year
    if before.is_silent or is_noun(before) or before.tags & {"DUR", "USD"}:
        return replace(item, tags=item.tags - {"DUR"})
    return None


def _is_of_each(place: ItemPlace) -> bool:
    """Return whether a word such as everyone stands before a place in its clause."""
    for other in reversed(place.items[max(place.number - FARTHEST_EACH, 0) : place.number]):
        if other.tags & {"end", ","}:
            return False
        if other.tags & EACH:
            return True
    return False


def _persons_of_adjective(place: ItemPlace) -> Item | None:
    """The number of an adjective: a three-person startup."""
    if "N" not in place.item.tags:
        return None
    behind = place.behind(2)
    is_adjective = len(behind) == 2 and behind[0].text == "-" and behind[1].tags & PERSON
    return replace(place.item, tags=frozenset({"TEAM"})) if is_adjective else None


def _greeted(place: ItemPlace) -> Item | None:
    """People who are greeted: hey folks."""
    before = place.before
    if not place.item.tags & PERSON or before is None or "greeting" not in before.tags:
        return None
    return replace(place.item, tags=SILENT)


def _how_much(place: ItemPlace) -> Item | None:
    """The words how much, where they ask for money: how much would it be."""
    if "how_many" not in place.item.tags or place.item.text not in HOW_MUCH:
        return None
    words = {one.text for one in place.behind(FARTHEST_PRICE)}
    return replace(place.item, tags=SILENT) if words & PRICES else None


def _thing_of_each(place: ItemPlace) -> Item | None:
    """A word of work that names a thing behind per: 120 tokens per review."""
    is_work, before = "batch_work" in place.item.tags, place.before
    if not is_work or before is None or before.text not in PER:
        return None
    return replace(place.item, tags=frozenset())


def _dont(place: ItemPlace) -> Item | None:
    """The word dont: of which in French, do not in haste."""
    if place.item.text != "dont" or place.speaks is None:
        return None
    tag = "them" if place.speaks.tags & {"N", "PCT"} else "not"
    return replace(place.item, tags=frozenset({tag}))


def _company_of_which(place: ItemPlace) -> Item | None:
    """The people of a company, of which so many do something."""
    of_which = any(one.text in OF_WHICH for one in place.behind())
    is_team = "team" in place.item.tags and of_which
    return replace(place.item, tags=frozenset({"them"})) if is_team else None


def _below(place: ItemPlace) -> Item | None:
    """Below or above as a place in the letter: please find below our requirements."""
    if place.item.text not in HERE or place.before is None:
        return None
    counts = place.speaks is not None and place.speaks.tags & {"N", "USD", "DUR", "BYTES", "PCT"}
    is_here = place.before.text in SHOWN and not counts
    return replace(place.item, tags=SILENT) if is_here else None


def _alone(place: ItemPlace) -> Item | None:
    """One user: just for me."""
    if "alone" not in place.item.tags:
        return None
    return replace(place.item, tags=frozenset({"ALONE"}), value=1.0)


def _dual(place: ItemPlace) -> Item | None:
    """Dual as a word and not as a number of cards: dual encoder."""
    of_cards = place.speaks is not None and place.speaks.tags & {"CARD", "gpu"}
    if place.item.text not in MULTIPLES or of_cards:
        return None
    return replace(place.item, tags=SILENT, value=None)


def _pair(place: ItemPlace) -> Item | None:
    """Two cards: an H100 pair."""
    is_behind = place.before is not None and "CARD" in place.before.tags
    if place.item.text not in PAIRS or not is_behind:
        return None
    return replace(place.item, tags=frozenset({"PAIR"}), value=2.0)


def _heading(place: ItemPlace) -> Item | None:
    """A small number at the start that says how long a list is: two corrections: ..."""
    item, before, behind = place.item, place.before, place.behind(2)
    if "N" not in item.tags or item.value > LONGEST_LIST or len(behind) < 2:
        return None
    begins = before is None or before.tags & {"end", ",", "silent"}
    is_sentence = item.text.isalpha() and "end" in behind[1].tags  # two things. First, ...
    is_heading = is_sentence or any(one.text == ":" for one in _silent(place))
    counts_things = begins and _names_things(behind)
    return replace(item, tags=SILENT) if counts_things and is_heading else None


def _silent(place: ItemPlace) -> list[Item]:
    """The silent items behind the noun that a number counts: please, a colon."""
    behind = place.behind(FARTHEST_COLON)[1:]
    return list(takewhile(lambda item: item.is_silent, behind))


def _adjective(place: ItemPlace) -> Item | None:
    """A number that belongs to what a thing is like: a 50-page contract, two-stage, half a page."""
    item, behind = place.item, place.behind(2)
    if "N" not in item.tags or not behind:
        return None
    if len(behind) == 2 and behind[0].text == "-" and behind[1].text in ADJECTIVES:
        return replace(item, tags=frozenset())
    glued = behind[0].text == "-" and behind[-1].start == item.end + 1 and is_noun(behind[-1])
    if len(behind) == 2 and glued and item.text.isalpha():
        return replace(item, tags=SILENT, value=None)
    is_part = item.value < 1 and is_noun(behind[0]) and not is_plural(behind[0].text)
    return replace(item, tags=SILENT, value=None) if is_part else None


def _as_long(place: ItemPlace) -> Item | None:
    """A word such as same before what comes out and no number: 250 tokens in, the same out."""
    item, speaks = place.item, place.speaks
    if "same" not in item.tags or speaks is None or not speaks.tags & {"out", "answer"}:
        return None
    counts = any("N" in one.tags for one in place.behind(FARTHEST_SAME))
    return None if counts else replace(item, tags=frozenset({"as_long"}))


def _made_of_tokens(place: ItemPlace) -> Item | None:
    """A word of work behind tokens names what comes out: 300 tokens caption."""
    item, before = place.item, place.before
    if before is None or "token" not in before.tags or item.text not in MADE:
        return None
    return replace(item, tags=frozenset({"answer"}))


def _tuned_model(place: ItemPlace) -> Item | None:
    """A participle that says what a model is, not what shall be done: our fine-tuned phi-4."""
    item, behind = place.item, place.behind()
    is_participle = item.tags & {"tune", "train"} and item.text.endswith(("ned", "nées", "né"))
    is_model = bool(behind) and "MODEL" in behind[0].tags
    return replace(item, tags=SILENT) if is_participle and is_model else None


def _x_ray(place: ItemPlace) -> Item | None:
    """The x of a word that goes on: x-ray."""
    item, behind = place.item, place.behind()
    goes_on = bool(behind) and behind[0].text == "-" and behind[0].start == item.end
    return replace(item, tags=SILENT) if item.text == "x" and goes_on else None


def _kind(place: ItemPlace) -> Item | None:
    """A noun that says what kind of things follow: 12k call transcripts, query/text pairs.

    The things themselves are what is counted.
    """
    item = place.item
    is_kind = item.tags & (KINDS | {"serve"}) or item.text == "input"
    if not is_kind or item.text.endswith("s") or item.text == "out":
        return None
    behind = place.behind(4)
    while (
        len(behind) > 1
        and behind[0].text in "/-"
        and (is_noun(behind[1]) or behind[1].text == "output")
    ):
        behind = behind[2:]  # query/passage pairs
    of_kind = bool(item.tags & KINDS) or item.text == "input"
    of_things = bool(behind) and of_kind and bool(behind[0].tags & THINGS)
    is_kind = of_things and behind[0].text.endswith("s")
    before = place.before  # 22M tokens of chat logs
    is_kind = is_kind or (_names_things(behind) and before is not None and before.text in OF_DATA)
    return replace(item, tags=SILENT) if is_kind else None


def _names_things(behind: list[Item]) -> bool:
    """Return whether the next item is an unknown noun of several things, such as logs."""
    return bool(behind) and is_noun(behind[0]) and is_plural(behind[0].text)


def _slash(place: ItemPlace) -> Item | None:
    """A slash that sets two things apart, or joins two words: up/down, prompt/chosen."""
    item, before, behind = place.item, place.before, place.behind(2)
    if item.text != "/" or before is None or not behind:
        return None
    spaced = before.end < item.start and item.end < behind[0].start
    if spaced and len(behind) == 2 and "N" in behind[1].tags:  # 20M tokens / seq 8192
        return replace(item, tags=item.tags - {"per", "or"} | {","})
    is_pair = "question" in before.tags and "answer" in behind[0].tags
    joins = behind[0].text.isalpha() and _is_one_of_kind(place, is_noun(behind[0]))
    return replace(item, tags=SILENT) if is_pair or joins else None


def _is_one_of_kind(place: ItemPlace, before_noun: bool) -> bool:
    """Return whether the word before a slash is no count of what is over it: 30 calls/task.

    A word of the vocabulary behind the slash must go on to what is counted: text/answer pairs.
    """
    before, number = place.before, place.number
    if before is None or not before.text.isalpha():
        return False
    counts = number > 1 and "N" in place.items[number - 2].tags
    following = place.items[number + 2 : number + 3]
    goes_on = bool(following) and bool(following[0].tags & THINGS)  # 9k query/passage pairs
    if not before_noun:
        return goes_on and not is_plural(before.text)
    return is_noun(before) or (not is_plural(before.text) and (goes_on or not counts))


def _one(place: ItemPlace) -> Item | None:
    """One as a number, or as a word without a meaning: quick one, one of them."""
    item, before = place.item, place.before
    if "ONE" not in item.tags:
        return None
    follows_each = before is not None and before.text in ("every", "each")
    is_heading = any(one.text == ":" for one in place.behind())
    if is_heading or follows_each:
        return replace(item, tags=SILENT)  # quick one: host phi-4
    counted = place.speaks
    near = [one for one in place.behind(3) if not one.is_silent]
    if len(near) > 1 and is_noun(near[0]):  # one hot spare
        counted = near[1]
    first = next((one.tags for one in place.behind(2) if "PIXELS" not in one.tags), frozenset())
    just_one = item.text in JUST_ONE
    counts = (
        counted is not None and counted.tags & COUNTED_BY_ONE,
        first & ONE_OF,
        just_one and first & (PERSON | {"token"}),
        just_one and counted is not None and counted.tags & PERSON,  # one power user
        item.text == "single" and first & STREAM,
        item.text == "a single" and "session" in first,
        first & {"request", "question"} and any(one.tags & EACH_TIME for one in place.behind(4)),
        first & STREAM and any(one.tags & AT_ONCE for one in place.behind(3)),
        just_one and _is_card_of_memory(place),
    )
    return replace(item, tags=frozenset({"N"}) if any(counts) else SILENT)


def _is_card_of_memory(place: ItemPlace) -> bool:
    """Return whether a card is named by its memory here: a single 80 GB GPU."""
    behind = place.behind(2)
    sized = any(one.tags & {"N", "BYTES"} for one in behind[:1])
    return sized and any(one.tags & {"gpu", "CARD"} for one in behind)


def _produced(place: ItemPlace) -> Item | None:
    """Questions that are generated are what comes out: generate 5 questions for each text."""
    if "question" not in place.item.tags:
        return None
    for number, item in enumerate(place.items):
        asked = [one for one in place.items[number + 1 : number + 4] if "question" in one.tags]
        if "produce" in item.tags and asked:
            return replace(place.item, tags=frozenset({"answer"}))
    return None


RULES: tuple[Callable[[ItemPlace], Item | None], ...] = (
    *(_in, _each, _thing_of_each, _time_or_rate, _persons_of_adjective, _greeted, _how_much),
    *(_dont, _as_long, _made_of_tokens, _company_of_which, _below, _alone, _dual, _pair),
    *(_heading, _adjective, _x_ray, _tuned_model, _produced, _kind, _slash, _one),
)
