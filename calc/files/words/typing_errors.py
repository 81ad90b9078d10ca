"""Words of the vocabulary that a word is with one typing error: concurent, tokesn."""

from functools import lru_cache

from calc.catalogs.load import read_once
from calc.files.words.vocabulary import lexicon

SHORTEST_WORD = 8  # letters: shorter words have neighbors of another meaning (content, context)
SHORTEST_SWAP = 5  # letters of a word in which two neighbors are exchanged


@lru_cache(maxsize=4096)
def meant_word(word: str) -> str:
    """The word of the vocabulary that a word is with one typing error; empty for none."""
    if len(word) < SHORTEST_SWAP or not word.isalpha() or word in _parts_of_phrases():
        return ""
    for known in _words():
        if _is_typo(word, known):
            return known
    return ""


def _is_typo(word: str, known: str) -> bool:
    """Return whether a letter is lost, added or changed, or two neighbors are exchanged."""
    if abs(len(word) - len(known)) > 1 or word[0] != known[0]:
        return False
    start, end = 0, 0  # letters that both have at their beginning and at their end
    shorter = min(len(word), len(known))
    while start < shorter and word[start] == known[start]:
        start += 1
    while end < shorter - start and word[-1 - end] == known[-1 - end]:
        end += 1
    left, right = word[start : len(word) - end], known[start : len(known) - end]
    if len(left) == len(right) == 2 and left == right[::-1]:
        return True
    same_ending = end > 0  # another ending is another form of the word
    return len(word) >= SHORTEST_WORD and same_ending and max(len(left), len(right)) <= 1


@read_once
def _parts_of_phrases() -> frozenset[str]:
    """Words that stand in a phrase of several: first of first token is no error."""
    return frozenset(part for phrase in lexicon().tags for part in phrase.split())


@read_once
def _words() -> tuple[str, ...]:
    """Single words of the vocabulary that are long enough to tell a typing error."""
    return tuple(
        sorted(
            phrase
            for phrase in lexicon().tags
            if len(phrase) >= SHORTEST_SWAP and phrase.isalpha() and phrase.isascii()
        )
    )
