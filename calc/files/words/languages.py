"""The language of a text, by its short words and by words that no other language has."""

import re

from calc.catalogs.load import read_once
from calc.files.words.vocabulary import vocabulary

ENGLISH = "en"
WORD = re.compile(r"[^\W\d_]+")
SHORTEST = 4  # letters of a word of the vocabulary that tells a language


def language_of(text: str) -> str:
    """Return the language that most words of a text speak for, English where none is ahead."""
    words = WORD.findall(text.lower())
    counts = {name: sum(word in own for word in words) for name, own in _own_words().items()}
    most = max(counts, key=lambda name: counts[name])
    return most if counts[most] > counts[ENGLISH] else ENGLISH


@read_once
def _own_words() -> dict[str, frozenset[str]]:
    """The words by which each language is told: short words, and of others those of it alone."""
    marking = vocabulary().marking
    words = {name: _words_of(name) for name in marking}
    return {
        name: frozenset(short.split())
        | {word for word in words[name] if sum(word in others for others in words.values()) == 1}
        for name, short in marking.items()
        if name != ENGLISH
    } | {ENGLISH: frozenset(marking[ENGLISH].split())}


def _words_of(language: str) -> frozenset[str]:
    """The words of all phrases of a language."""
    phrases = " ".join(several.get(language, "") for several in vocabulary().words.values())
    return frozenset(word for word in WORD.findall(phrases) if len(word) >= SHORTEST)
