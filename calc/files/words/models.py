"""The models that a text names: addresses of the hub, ids, and names as people write them."""

import re
from itertools import pairwise
from typing import NamedTuple

from calc.catalogs.load import Catalogs
from calc.files.configs.model_names import model_id, stored_as
from calc.files.words.name_parts import (
    RELEASE_NUMBER,
    SIZE,
    Part,
    closest_part,
    first_part_of,
    models_by_part,
    models_of_family,
    nearest_in_size,
    owners_of_models,
    parts_of_models,
    parts_of_text,
    plainest_models,
)
from calc.files.words.sizes_beside import COUNTS, VARIANTS, sizes_beside
from calc.files.words.vocabulary import lexicon

HUB = re.compile(r"(?:https?://)?(?:www\.)?(?:huggingface\.co|hf\.co)/([\w.-]+/[\w.-]+)(?:/\S*)?")
REPOSITORY = re.compile(r"(?<![\w/.:-])(?:[a-z]|\d+-[a-z])[\w.-]*/[\w.-]*[a-z0-9][\w.-]*(?![\w/])")
TUNED = frozenset(
    [
        "instruct",
        "chat",
        "it",
        "base",
        "hf",
        "model",
        "thinking",
        "preview",
        "awq",
        "gptq",
        "fp8",
        "bf16",
        "nvfp4",
        "mxfp4",
        "int8",
        "int4",
        "4bit",
        "8bit",
        "bnb",
        "version",
        "arch",
        "moe",
        "dense",
    ]
)
IN_NAMES = frozenset("-_/:.")
LONGEST_NAME = 16  # parts
SHORTEST_WORD = 4  # letters of a word that goes on with a name
NOT_UNKNOWN = frozenset({"code", "large", "small", "base", "max", "math", "audio", "vision"})
LONGEST_VARIANT = 3  # parts behind the name
SOFTWARE = frozenset({"factory", "cpp", "index", "stack", "recipes", "file"})
BEHIND_NAMES = frozenset(
    {
        *("for", "on", "with", "in", "to", "fp8", "instruct", "für", "mit", "auf", "im"),
        *("à", "pour", "sur", "avec", "para", "con", "en", "a"),
    }
)
RELEASE = re.compile(r"2[3-9](?:0[1-9]|1[0-2])|(?:0[1-9]|1[0-2])[0-3]\d")  # 2410, 0528


class NamedModel(NamedTuple):
    """A stretch of the text that names a model, or several that it may be."""

    start: int
    end: int
    model: str
    choices: tuple[str, ...] = ()
    stored: str = ""  # the format in its name
    unknown: str = ""  # the name, where the catalog has others of its family alone


def named_models(text: str, catalogs: Catalogs) -> list[NamedModel]:
    """Every model that the text names, in order of place."""
    found = [_on_hub(match[1], match, catalogs) for match in HUB.finditer(text)]
    taken = [(one.start, one.end) for one in found]
    for match in REPOSITORY.finditer(text):
        if not _inside(match.start(), taken) and _is_repository(match[0], catalogs):
            found.append(_on_hub(match[0].rstrip("."), match, catalogs))
            taken.append(match.span())
    parts = [part for part in parts_of_text(text) if not _inside(part.start, taken)]
    place = 0
    while place < len(parts):
        one, used = _from(parts, place, catalogs)
        if one:
            found += [one, *_of_other_sizes(one, text, catalogs)]
        place += max(used, 1)
    return sorted(found)


def _of_other_sizes(one: NamedModel, text: str, catalogs: Catalogs) -> list[NamedModel]:
    """The models of the same family whose sizes stand beside a name: qwen3 8b or 14b."""
    several = []
    for beside in sizes_beside(text, one.start, one.end):
        parts = parts_of_text(beside.name)
        named = (_from(parts, place, catalogs)[0] for place in range(len(parts)))
        other = next((one for one in named if one is not None), None)
        if other is not None and not other.unknown:
            several.append(other._replace(start=beside.start, end=beside.end))
    return several


def _on_hub(repository: str, match: re.Match, catalogs: Catalogs) -> NamedModel:
    model = model_id(repository, catalogs) or repository
    return NamedModel(*match.span(), model, (), stored_as(repository))


def _is_repository(name: str, catalogs: Catalogs) -> bool:
    """Return whether owner/name is one of the hub: known, or with a number behind its slash."""
    owner, _, tail = name.partition("/")
    if model_id(name, catalogs) and (owner in owners_of_models(catalogs) or "-" in tail):
        return True
    return bool(
        owner in owners_of_models(catalogs)
        or (re.search(r"[a-z]", tail) and re.search(r"\d", tail) and "-" in tail)
    )


def _inside(place: int, stretches: list[tuple[int, int]]) -> bool:
    return any(start <= place < end for start, end in stretches)


class _Name(NamedTuple):
    """A name as far as it is read: the models that it may be, its parts, and where it ends."""

    known: frozenset[str]
    taken: list[str]
    end: int
    has_size: bool


def _from(parts: list[Part], place: int, catalogs: Catalogs) -> tuple[NamedModel | None, int]:
    """The model whose name begins at a part, and how many parts it takes."""
    head = _head_of_name(parts, place, catalogs)
    if not head:
        return None, 1
    copy = _copy(parts, place, catalogs)
    if copy and not _goes_on(copy[0].model, parts[place:], copy[1], catalogs):
        return copy
    if not models_by_part(catalogs).get(head):
        return None, 1
    name = _without_idle_end(parts, place, _name_from(parts, place, head, catalogs))
    name, start = _with_size_before(parts, place, name, catalogs)
    if other := _unknown_end(parts, name.end, name.known, name.has_size, catalogs):
        unknown = "-".join(
            part.text for part in parts[place:other] if part.text.isalnum() or "." in part.text
        )
        near = nearest_in_size(parts[place:other], name.known, catalogs)
        stretch = (parts[start].start, parts[other - 1].end)
        return NamedModel(*stretch, "", near, "", unknown), other - place
    end = _with_release(parts, name.end)
    choices = plainest_models(name.known, name.taken, catalogs)
    if name.taken == [head] and not re.search(r"\d", head) and len(choices) == 1:
        choices = models_of_family(name.known, choices[0])
    stored = stored_as("-".join(part.text for part in parts[place:end]))
    stretch = (parts[start].start, parts[end - 1].end)
    if len(choices) == 1:
        return NamedModel(*stretch, choices[0], (), stored), end - place
    return NamedModel(*stretch, "", tuple(choices), stored), end - place


def _head_of_name(parts: list[Part], place: int, catalogs: Catalogs) -> str:
    """The first part of a name, corrected if a part of such a name with a number follows it.

    Empty where no name begins.
    """
    word = parts[place].text
    head = first_part_of(word, catalogs)
    if place + 1 < len(parts) and _is_software(parts, place + 1):
        return ""
    if not head or head == word:
        return head
    behind = [part.text for part in parts[place + 1 : place + 3]]
    numbers = {text for text in behind if re.search(r"\d", text)}
    joined = {behind[1]} if len(behind) > 1 and behind[0] == "-" else set()  # whsiper-medium
    by_part = models_by_part(catalogs)
    follows = any(by_part[head] & by_part.get(part, frozenset()) for part in numbers | joined)
    return head if follows else ""


def _name_from(parts: list[Part], place: int, head: str, catalogs: Catalogs) -> _Name:
    """Read a name part by part, as long as a model of the catalog has them all."""
    by_part = models_by_part(catalogs)
    known, taken, end, has_size = by_part[head], [head], place + 1, False
    while end < len(parts) and end - place < LONGEST_NAME:
        part = parts[end]
        if part.text in ("-", "_", "(", ")", "/", ":") and not _is_gap(parts, end):
            end += 1
            continue
        if part.text in TUNED and not known & by_part.get(part.text, frozenset()):
            if part.text == "base" and known & by_part.get("large", frozenset()):
                break  # bge-base, of which the catalog has the large one
            if part.start - parts[end - 1].end > 1:
                break
            taken.append(part.text)
            end += 1
            continue
        word = closest_part(part.text, known, catalogs)
        narrower = known & by_part.get(word, frozenset())
        if not narrower or not _is_of_name(word, taken, part, parts, end):
            break
        known, end = narrower, end + 1
        taken.append(word)
        has_size = has_size or bool(SIZE.fullmatch(word))
    return _Name(known, taken, end, has_size)


def _without_idle_end(parts: list[Part], place: int, name: _Name) -> _Name:
    """A name without the marks at its end, and without a word of tuning that stands apart."""
    end = name.end
    while end > place + 1:
        last = parts[end - 1].text
        is_mark = not last.replace(".", "").isalnum()
        if not is_mark and not (last in TUNED and _apart(parts, end - 1)):
            break
        end -= 1
    return name._replace(end=end)


def _with_size_before(
    parts: list[Part], place: int, name: _Name, catalogs: Catalogs
) -> tuple[_Name, int]:
    """A name with the size that stands before it, if it has none: 8b qwen3; and its first part."""
    size = parts[place - 1].text if place else ""
    narrower = name.known & models_by_part(catalogs).get(size, frozenset())
    if not SIZE.fullmatch(size) or name.has_size or not narrower:
        return name, place
    return name._replace(known=narrower, taken=[*name.taken, size]), place - 1


def _unknown_end(
    parts: list[Part], end: int, known: frozenset[str], size_seen: bool, catalogs: Catalogs
) -> int:
    """The end of a name that no model of the family has; 0 where what follows is no name.

    A word such as small or vision right behind the family, or a size that none of it has.
    """
    have = {part for model in known for part in parts_of_models(catalogs)[model]}
    place, variant = end, 0
    while place < len(parts) and place < end + LONGEST_VARIANT + 1:
        part = parts[place]
        if part.start - parts[place - 1].end > 1 or (part.text in "-_" and _is_gap(parts, place)):
            break
        if place == end and _is_other_release(parts, place, have):
            return place + 1
        if SIZE.fullmatch(part.text):
            following = parts[place + 1].text if place + 1 < len(parts) else ""
            if lexicon().tags.get(following, frozenset()) & COUNTS:
                break  # llama 4 scout 200m tokens
            return place + 1 if part.text not in have and not size_seen else variant
        if part.text in VARIANTS and part.text not in have:
            joined = part.start == parts[place - 1].end
            variant = place + 1 if joined or part.text not in NOT_UNKNOWN else variant
        elif part.text not in ("-", "_") and not re.fullmatch(r"\d+(\.\d+)?", part.text):
            break
        place += 1
    return variant


def _is_other_release(parts: list[Part], place: int, have: set[str]) -> bool:
    """Return whether a release that no model of a family has ends its name: mistral small 3.2."""
    behind = parts[place + 1].text if place + 1 < len(parts) else ","
    ends = not behind[0].isalnum() or behind in BEHIND_NAMES
    return (
        "." in parts[place].text
        and parts[place].text not in have
        and ends
        and bool(RELEASE_NUMBER.fullmatch(parts[place].text))
    )


def _is_software(parts: list[Part], place: int) -> bool:
    """Return whether what follows makes a program of a name: LLaMA Factory, llama.cpp."""
    after = parts[place + 1] if parts[place].text in "-." and place + 1 < len(parts) else None
    return parts[place].text in SOFTWARE or (after is not None and after.text in SOFTWARE)


def _with_release(parts: list[Part], end: int) -> int:
    """The end of a name with the month of its release behind it: ministral 8b 2410."""
    if end >= len(parts) or not RELEASE.fullmatch(parts[end].text):
        return end
    after = parts[end + 1].text if end + 1 < len(parts) else ""
    counts = after.isalpha() and after not in BEHIND_NAMES
    return end if counts or parts[end].start - parts[end - 1].end > 1 else end + 1


def _apart(parts: list[Part], place: int) -> bool:
    """Return whether a part of a name stands apart from the one before it."""
    return parts[place].start - parts[place - 1].end >= 1 and parts[place].text not in (
        "instruct",
        "chat",
        "it",
        "base",
        "arch",
        "model",
    )


def _is_gap(parts: list[Part], place: int) -> bool:
    """Return whether a mark stands apart from the words around it, as a dash does."""
    before = place and parts[place].start > parts[place - 1].end
    after = place + 1 < len(parts) and parts[place + 1].start > parts[place].end
    return bool(before or after) or place + 1 == len(parts)


def _is_of_name(word: str, taken: list[str], part: Part, parts: list[Part], place: int) -> bool:
    """Return whether a number belongs to the name: one that counts what follows does not."""
    if word in taken:
        return False
    bare = re.fullmatch(r"\d+", word)
    apart = place and part.start - parts[place - 1].end >= 1
    if (
        bare
        and apart
        and place + 1 < len(parts)
        and re.fullmatch(r"(users?|people|devs?|x|gpus?|nodes?|%|epochs?)", parts[place + 1].text)
    ):
        return False
    return not (apart and parts[place - 1].text == ",")


def _copy(parts: list[Part], place: int, catalogs: Catalogs) -> tuple[NamedModel, int] | None:
    """A model by the name of a copy or by a whole name that the catalog spells otherwise."""
    for end in range(min(len(parts), place + LONGEST_NAME), place + 1, -1):
        stretch = parts[place:end]
        if not stretch[-1].text.replace(".", "").isalnum() or any(
            not part.text[0].isalnum() and part.text not in IN_NAMES for part in stretch
        ):
            continue
        words = _spellings(stretch)
        for name in words:
            if model := model_id(name, catalogs):
                shorter = end
                while (
                    shorter - 1 > place + 1
                    and any(
                        model_id(other, catalogs) == model
                        for other in _spellings(parts[place : shorter - 1])
                    )
                    and parts[shorter - 1].start > parts[shorter - 2].end
                ):
                    shorter -= 1
                shorter = _with_release(parts, shorter)
                return NamedModel(
                    parts[place].start, parts[shorter - 1].end, model, (), stored_as(name)
                ), shorter - place
    return None


def _goes_on(model: str, parts: list[Part], end: int, catalogs: Catalogs) -> bool:
    """Return whether what follows a name is of a longer one: deepseek r1 distill 32b.

    A release that only another model has with these words goes on too: devstral small 2.
    """
    known = parts_of_models(catalogs).get(model, ())
    word = next((part.text for part in parts[end : end + 2] if part.text not in "-_"), "")
    if RELEASE_NUMBER.fullmatch(word) and word not in known:
        written = {part.text for part in parts[:end] if part.text.isalnum()} | {word}
        return any(written <= set(several) for several in parts_of_models(catalogs).values())
    if len(word) < SHORTEST_WORD or not word.isalpha() or word in TUNED | VARIANTS:
        return False
    longer = (several for several in parts_of_models(catalogs).values() if word in several)
    return any(set(known) < set(several) for several in longer)


def _spellings(parts: list[Part]) -> list[str]:
    """The parts as a name: with hyphens where there are spaces, and between all."""
    joined = parts[0].text
    for before, part in pairwise(parts):
        joined += ("-" if part.start > before.end else "") + part.text
    joined = re.sub(r"-{2,}", "-", joined)
    words = [part.text for part in parts if part.text not in "-_/:"]
    spellings = [joined, "-".join(words)]
    if len(words) > 1 and RELEASE_NUMBER.fullmatch(words[1]):  # qwen 2.5 coder is qwen2.5-coder
        spellings.append("-".join(["".join(words[:2]), *words[2:]]))
    return spellings
