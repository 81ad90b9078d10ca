"""Typing errors: words that are a word of the vocabulary with one error are mended."""

import re
from functools import lru_cache

from calc.catalogs.load import read_once
from calc.files.words.languages import ENGLISH, language_of
from calc.files.words.vocabulary import lexicon, silent_words, vocabulary

WORD = re.compile(r"(?<![\w/.@'-])[a-zà-ÿ]{5,}(?![\w@'-]|[./]\w{3})")  # by itself; tokns/s
SHORTEST = 5  # letters of a word with two neighbors exchanged or a letter twice, and of a noun
SHORTEST_OF_ANY = 8  # letters: shorter words have neighbors of another meaning
OF_NUMBERS = frozenset({"token", "user", "epoch", "example", "prompt", "context"})
OFTEN_MISTYPED = frozenset(
    {
        *("hundred", "thousand", "million", "millions", "billion", "billions", "without"),
        *(
            "trillion",
            "finetune",
            "finetuning",
            "pretrain",
            "training",
            "serve",
            "people",
            "budget",
            "answers",
        ),
    }
)


def without_typing_errors(text: str) -> str:
    """The text with each word mended that has one typing error: tokesn, millioon, concurent."""
    language = language_of(text)
    return WORD.sub(lambda match: meant_word(match[0], language) or match[0], text)


@lru_cache(maxsize=4096)
def meant_word(word: str, language: str = ENGLISH) -> str:
    """The word of the vocabulary that a word is with one typing error; empty for none."""
    if word in _known():
        return ""
    nouns = _nouns()
    for name in dict.fromkeys((language, ENGLISH)):
        near = _words()[name].get(word[0], ())
        if meant := next((known for known in near if _is_typo(word, known, known in nouns)), ""):
            return meant
    return ""


def _is_typo(word: str, known: str, is_noun: bool) -> bool:
    """Return whether neighbors are exchanged, or a letter stands twice, is lost or added.

    A changed letter is none: throughout is not throughput. A lost or added one counts in long words
    and in nouns that numbers count; the first letter and the last are right.
    """
    if abs(len(word) - len(known)) > 1:
        return False
    start, end = 0, 0  # letters that both have at their beginning and at their end
    shorter = min(len(word), len(known))
    while start < shorter and word[start] == known[start]:
        start += 1
    while end < shorter - start and word[-1 - end] == known[-1 - end]:
        end += 1
    left, right = word[start : len(word) - end], known[start : len(known) - end]
    if len(left) == len(right):
        is_plural = end == 0 and word.endswith("s")  # categories, not categorise
        return len(left) == 2 and left == right[::-1] and not is_plural
    if left == word[start - 1] and not right:  # tokkens
        return True
    return end > 0 and len(left + right) == 1 and (is_noun or len(word) >= SHORTEST_OF_ANY)


@read_once
def _known() -> frozenset[str]:
    """Every word of the vocabulary in any language; none of them is an error."""
    phrases = (*lexicon().tags, *vocabulary().counts, *map(str, vocabulary().scales))
    return silent_words() | {word for phrase in phrases for word in phrase.split()}


@read_once
def _words() -> dict[str, dict[str, tuple[str, ...]]]:
    """Each language with the words of its phrases, by their first letter."""
    return {name: _words_of(name) for name in vocabulary().marking}


def _words_of(language: str) -> dict[str, tuple[str, ...]]:
    """The words of all phrases of a language by their first letter."""
    phrases = [languages.get(language, "") for languages in vocabulary().words.values()]
    phrases += vocabulary().counts
    if language == ENGLISH:
        phrases += [*OFTEN_MISTYPED, *(entry.words for entry in vocabulary().sets)]
        phrases += [place.words for place in vocabulary().places]
    words = {word for phrase in phrases for word in re.findall(r"\b[^\W\d_]{4,}\b", phrase)}
    by_start: dict[str, list[str]] = {}
    for word in sorted(words):
        by_start.setdefault(word[0], []).append(word)
    return {first: tuple(several) for first, several in by_start.items()}


@read_once
def _nouns() -> frozenset[str]:
    """The English words of units, of what numbers most often count, and others often mistyped."""
    tags = OF_NUMBERS | vocabulary().units.keys()
    nouns = {word for word, said in lexicon().tags.items() if said & tags}
    return frozenset({word for word in nouns if len(word) >= SHORTEST} | OFTEN_MISTYPED)
