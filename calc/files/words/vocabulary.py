"""The words of a job (catalogs/edited/vocabulary.yaml), as the reader looks them up."""

from typing import NamedTuple

from calc.catalogs.load import read_catalog, read_once
from calc.catalogs.schemas import vocabulary as vocabulary_catalog

SPACED = str.maketrans("-_", "  ")  # fine-tune, fine_tune and fine tune are one phrase


class Frame(NamedTuple):
    """A sequence of tags and the role of each quantity in it."""

    elements: tuple[tuple[frozenset[str], bool], ...]  # tags of a place; whether it may be missing
    roles: tuple[str, ...]


class Lexicon(NamedTuple):
    """Phrases by their first character, the longest first; each with its tags."""

    tags: dict[str, frozenset[str]]
    by_start: dict[str, tuple[str, ...]]


COLUMN_ROLES = {  # columns that people write out, as in examples=5000, and the role of the value
    **{
        name: name
        for name in (
            *(
                "users",
                "people",
                "examples",
                "epochs",
                "batch",
                "prompt_tokens",
                "answer_tokens",
                "context_tokens",
            ),
            *(
                "lora_rank",
                "accumulation_steps",
                "step_tokens",
                "hours_most",
                "usd_most",
                "gpus",
                "instances_most",
            ),
            *(
                "requests_per_second",
                "first_token_seconds",
                "token_seconds",
                "share_active",
                "spare",
                "adapters",
            ),
            *(
                "tensor_parallel",
                "pipeline_parallel",
                "generations",
                "completion_tokens",
                "shared_prompt_tokens",
            ),
            *("turns", "think_seconds"),
        )
    },
    "example_tokens": "each_tokens",
    "sequence_tokens": "seq_tokens",
    "train_tokens": "tokens",
    "run_tokens": "tokens",
    "tokens_total": "tokens",
}
QUANTITIES = (
    "N",
    "DUR",
    "USD",
    "FOREIGN",
    "PCT",
    "PCTL",
    "RATIO",
    "BYTES",
    "RANGE",
    "CLOCKS",
    "DAYS",
    "PAIR",
    "ALONE",
    "TEAM",
)
WORDS_OF_QUANTITY = ("overnight", "weekend", "always")  # a quantity without a number


@read_once
def vocabulary() -> vocabulary_catalog.File:
    """Return the words of a job (catalogs/edited/vocabulary.yaml)."""
    return read_catalog(vocabulary_catalog.File)


@read_once
def lexicon() -> Lexicon:
    """Every phrase with its tags; `set:3` and `place:5` are entries of sets and places."""
    tags: dict[str, set[str]] = {}
    for tag, languages in vocabulary().words.items():
        for text in languages.values():
            _add(tags, text, tag)
    for number, setting in enumerate(vocabulary().sets):
        _add(tags, setting.words, f"sets:{number}")
    for number, place in enumerate(vocabulary().places):
        _add(tags, place.words, f"places:{number}")
    for name in COLUMN_ROLES:
        _add(tags, name, f"column:{name}")
    for name, refusal in vocabulary().refusals.items():
        _add(tags, refusal.words, f"refusals:{name}")
    by_start: dict[str, list[str]] = {}
    for phrase in tags:
        by_start.setdefault(phrase[0], []).append(phrase)
    longest_first = {
        start: tuple(sorted(phrases, key=len, reverse=True)) for start, phrases in by_start.items()
    }
    return Lexicon({phrase: frozenset(several) for phrase, several in tags.items()}, longest_first)


NOUNS = frozenset({"context", "turn", "completion", "epoch", "step", "node"})
COUNTED = frozenset({"people", "user", "request", "document", "example", "image", "session"})
SHORTEST_TAIL, SHORTEST_HEAD = 5, 3  # letters of a compound


@read_once
def _tails() -> dict[str, frozenset[str]]:
    """Nouns of what is counted, which may end a compound, with their tags."""
    return {
        phrase: tags & COUNTED
        for phrase, tags in lexicon().tags.items()
        if tags & COUNTED and phrase.isalpha() and len(phrase) >= SHORTEST_TAIL
    }


def tags_of_form(word: str) -> frozenset[str]:
    """The tags of the noun of which a word is the plural, windows, or that ends it, newspapers."""
    if plural := lexicon().tags.get(word.removesuffix("s"), NO_TAGS) & NOUNS:
        return plural
    starts = range(SHORTEST_HEAD, len(word) - SHORTEST_TAIL + 1)
    return next((_tails()[word[start:]] for start in starts if word[start:] in _tails()), NO_TAGS)


NO_TAGS: frozenset[str] = frozenset()


def _add(tags: dict[str, set[str]], text: str, tag: str) -> None:
    for phrase in text.split(","):
        if plain := phrase.strip().lower().translate(SPACED):
            tags.setdefault(plain, set()).add(tag)


@read_once
def frames() -> tuple[Frame, ...]:
    """Every frame of the vocabulary, and one for each column that a text may name itself."""
    of_columns = [
        f"column:{name} {_values_of(name)} = {role}" for name, role in COLUMN_ROLES.items()
    ]
    return tuple(_frame(text) for text in (*vocabulary().frames, *of_columns))


def _values_of(column: str) -> str:
    """The quantities that a column takes: a number, or with its unit a time or money."""
    if column.endswith("_seconds") or column.startswith("hours_"):
        return "N|DUR"
    return "N|USD" if column.startswith("usd_") else "N"


def _frame(text: str) -> Frame:
    """Read a frame as the vocabulary writes it: `N concurrent user|people? = users`.

    The elements stand before the equals sign, each with its alternatives; a question mark means
    that an element may be missing. The roles stand after it.
    """
    pattern, _, roles = text.partition(" = ")
    elements = []
    for element in pattern.split():
        alternatives = frozenset(element.removesuffix("?").split("|"))
        may_be_missing = element.endswith("?")
        elements.append((alternatives, may_be_missing))
    return Frame(tuple(elements), tuple(roles.split()))


@read_once
def _signals() -> dict[str, frozenset[str]]:
    return {
        name: frozenset(word.strip() for text in languages.values() for word in text.split(","))
        for name, languages in vocabulary().signals.items()
    }


def signals(name: str) -> frozenset[str]:
    """The words in all languages that are a signal, such as those of what was tried before."""
    return _signals()[name]


@read_once
def silent_words() -> frozenset[str]:
    """Words that say nothing by themselves."""
    return frozenset(vocabulary().silent.split())
