"""Other sizes of a model beside its name: qwen3 8b or 14b; llama 3.1 8b, sorry, the 70b."""

import re
from collections.abc import Iterator
from typing import NamedTuple

from calc.catalogs.load import read_once
from calc.files.words.name_parts import SIZE
from calc.files.words.vocabulary import lexicon, vocabulary

OR = r" ?(?:/|,? or|,? and|vs\.?|versus|,? oder|,? und|,? ou|,? et|,? o|,? y) ?(?:the |a )?"
COUNTS = frozenset({"token", "word", "example", "document", "user", "request"})  # no sizes
VARIANTS = frozenset(
    {
        *("small", "medium", "large", "mini", "tiny", "nano", "micro", "base", "nemo", "pro"),
        *("vision", "omni", "audio", "coder", "code", "math", "embedding", "embed", "reranker"),
        *("guard", "flash", "max", "plus", "lite", "turbo", "saba", "vl", "air", "prover"),
    }
)  # words that tell one model of a family from another
VARIANT = re.compile(rf"\b(?:{'|'.join(sorted(VARIANTS))})\b")
ONE = rf"(?P<size>{SIZE.pattern}|{VARIANT.pattern})"
ENDS = r"(?![\w-]|\.\w)"
SIZE_BEHIND = re.compile(rf"{OR}{ONE}{ENDS}(?: (?P<word>[^\W\d_]+))?")
SIZE_BEFORE = re.compile(rf"(?<![\w.-]){ONE}(?P<word>){OR}$")
BEHIND_CORRECTION = (  # the 70b; the 3.3 70b; the 70b (3.3)
    rf"[\s,:]*(?:(?:the|a|to|on) )?(?:(?P<release>\d(?:\.\d)?) )?(?P<size>{SIZE.pattern}){ENDS}"
    r"(?: (?P<word>[^\W\d_]+)| ?\((?:of )?(?P<behind>\d(?:\.\d)?)(?=[\s,)]))?"
)
RELEASE = re.compile(r"\d\.\d(?!\d|[bm])")  # 3.1 of llama-3.1-8b


class SizeBeside(NamedTuple):
    """The name of a model with another size, and the stretch of the text that says it."""

    name: str
    start: int
    end: int


def sizes_beside(text: str, start: int, end: int) -> Iterator[SizeBeside]:
    """Yield the names with the sizes that stand beside a name in the text."""
    name = text[start:end]
    matches = (
        SIZE_BEHIND.match(text, end),
        SIZE_BEFORE.search(text[:start]),
        _correction().match(text, end),
    )
    for match in filter(None, matches):
        size = (SIZE if SIZE.fullmatch(match["size"]) else VARIANT).search(name)
        if size and not lexicon().tags.get(match["word"] or "", frozenset()) & COUNTS:
            yield _with_size(name.replace(size[0], match["size"], 1), match)


def _with_size(name: str, match: re.Match) -> SizeBeside:
    """A name with the release before or behind its size: the 3.3 70b; the 70b (3.3)."""
    groups = match.groupdict()
    places = [match.span(group) for group in ("release", "size", "behind") if groups.get(group)]
    release = groups.get("release") or groups.get("behind")
    name = RELEASE.sub(release, name, count=1) if release else name
    return SizeBeside(name, places[0][0], places[-1][1])


@read_once
def _correction() -> re.Pattern[str]:
    """The size that takes back the one of a name right before: 8b, wait no, make that the 70b."""
    phrases = ",".join(vocabulary().words["correction"].values()).split(",")
    longest_first = sorted((re.escape(phrase.strip()) for phrase in phrases), key=len, reverse=True)
    words = rf"(?:{'|'.join(longest_first)})"
    before = r"[\s,.;:!?()-]+(?:(?:no|oh|hm+|or),? )?"
    return re.compile(rf"{before}{words}(?:[\s,]+{words})*{BEHIND_CORRECTION}")
