"""The models that a text names: addresses of the hub, ids, and names as people write them."""

import re
from collections import defaultdict
from itertools import pairwise
from typing import NamedTuple

from rapidfuzz import fuzz

from calc.catalogs.kept import kept
from calc.catalogs.load import Catalogs
from calc.files.configs.model_names import model_id, stored_as

HUB = re.compile(r"(?:https?://)?(?:www\.)?(?:huggingface\.co|hf\.co)/([\w.-]+/[\w.-]+)(?:/\S*)?")
REPOSITORY = re.compile(r"(?<![\w/.:-])[a-z][\w.-]*/[\w.-]*[a-z0-9][\w.-]*(?![\w/])")
ATOM = re.compile(r"[^\W_]+(?:\.\d+[^\W_]*)*|[^\s\w]|_")
SIZE = re.compile(r"\d+(?:\.\d+)?[bm]|\d+x\d+b")
MINOR = re.compile(
    r"a\d+(\.\d+)?b|\d{4}|\d+e|uncased|instruct|it|chat|base|v\d.*|patch\d+|\d{3}h?|h|small|lv\d+"
)
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
    ]
)
CLOSE = 86  # of 100: a head of a name with a slip of the pen
LONGEST_NAME = 9  # parts
VARIANTS = frozenset(
    {
        *("small", "medium", "large", "mini", "tiny", "nano", "micro", "base", "nemo", "pro"),
        *("vision", "omni", "audio", "coder", "code", "math", "embedding", "embed", "reranker"),
        *("guard", "flash", "max", "plus", "lite", "turbo", "saba", "moe", "vl", "air", "prover"),
    }
)  # words that tell one model of a family from another
NOT_UNKNOWN = frozenset({"code", "large", "small", "base", "max", "math", "audio", "vision"})
LONGEST_VARIANT = 3  # parts behind the name


class NamedModel(NamedTuple):
    """A stretch of the text that names a model, or several that it may be."""

    start: int
    end: int
    model: str
    choices: tuple[str, ...] = ()
    stored: str = ""  # the format in its name
    unknown: str = ""  # the name, where the catalog has others of its family alone


class Part(NamedTuple):
    """A part of a name: letters or a number, with its place."""

    text: str
    start: int
    end: int


def named_models(text: str, catalogs: Catalogs) -> list[NamedModel]:
    """Every model that the text names, in order of place."""
    found = [_on_hub(match[1], match, catalogs) for match in HUB.finditer(text)]
    taken = [(one.start, one.end) for one in found]
    for match in REPOSITORY.finditer(text):
        if not _inside(match.start(), taken) and _is_repository(match[0], catalogs):
            found.append(_on_hub(match[0].rstrip("."), match, catalogs))
            taken.append(match.span())
    parts = [part for part in _parts(text) if not _inside(part.start, taken)]
    place = 0
    while place < len(parts):
        one, used = _from(parts, place, catalogs)
        if one:
            found.append(one)
        place += max(used, 1)
    return sorted(found)


def _on_hub(repository: str, match: re.Match, catalogs: Catalogs) -> NamedModel:
    model = model_id(repository, catalogs) or repository
    return NamedModel(*match.span(), model, (), stored_as(repository))


def _is_repository(name: str, catalogs: Catalogs) -> bool:
    """Whether owner/name is one of the hub: known, or with a number behind its slash."""
    owner, _, tail = name.partition("/")
    if model_id(name, catalogs) and (owner in _owners(catalogs) or "-" in tail):
        return True
    return bool(
        owner in _owners(catalogs)
        or (re.search(r"[a-z]", tail) and re.search(r"\d", tail) and "-" in tail)
    )


@kept("models")
def _owners(catalogs: Catalogs) -> frozenset[str]:
    return frozenset(
        str(one).partition("/")[0].lower() for one in catalogs.models["hf_repo"] if "/" in str(one)
    )


def _inside(place: int, stretches: list[tuple[int, int]]) -> bool:
    return any(start <= place < end for start, end in stretches)


def _parts(text: str) -> list[Part]:
    """The parts of words: llama3.1 is llama and 3.1, qwen3-8b is qwen, 3 and 8b."""
    several = []
    for atom in ATOM.finditer(text):
        match = re.fullmatch(r"([a-z]{2,})(\d+(?:\.\d+)*)([a-z]?)", atom[0])
        if match and not re.fullmatch(r"vit[a-z]*\d*|fp\d+|bf\d+|int\d+|nf\d+", atom[0]):
            middle = atom.start() + len(match[1])
            several += [
                Part(match[1], atom.start(), middle),
                Part(match[2] + match[3], middle, atom.end()),
            ]
        else:
            several.append(Part(atom[0], *atom.span()))
    return several


@kept("models")
def _by_part(catalogs: Catalogs) -> dict[str, frozenset[str]]:
    """Part of a name -> the models that have it, in their id or their repository."""
    models = defaultdict(set)
    for model, parts in parts_of_models(catalogs).items():
        for part in parts:
            models[part].add(model)
    return {part: frozenset(several) for part, several in models.items()}


@kept("models")
def parts_of_models(catalogs: Catalogs) -> dict[str, tuple[str, ...]]:
    """Each id with its parts."""
    return {
        str(model): tuple(
            part.text
            for part in _parts(str(model).lower())
            if part.text.isalnum() or "." in part.text
        )
        for model in catalogs.models.index
    }


@kept("models")
def _heads(catalogs: Catalogs) -> frozenset[str]:
    """The first parts of names that tell a family: letters, three or more."""
    return (
        frozenset(
            parts[0]
            for parts in parts_of_models(catalogs).values()
            if len(parts[0]) > 2 and parts[0].isalpha()
        )
        | {"glm", "opt", "bge", "t5", "r1"} - {"flan"}
        | {"flan", "devstral"}
    )


def _head(word: str, catalogs: Catalogs) -> str:
    """The head that a word is, with one slip of the pen at most; empty for none."""
    heads = _heads(catalogs)
    if word in heads:
        return word
    if len(word) < 5 or not word.isalpha():
        return ""
    close = max(heads, key=lambda head: fuzz.ratio(word, head))
    return close if fuzz.ratio(word, close) >= CLOSE and word not in _common() else ""


def _common() -> frozenset[str]:
    """Words of the language that are near a family's name."""
    return frozenset({"mistake", "whispers", "falcons", "lama", "gemmas"})


def _from(parts: list[Part], place: int, catalogs: Catalogs) -> tuple[NamedModel | None, int]:
    """The model whose name begins at a part, and how many parts it takes."""
    head = _head(parts[place].text, catalogs)
    numbered = place + 1 < len(parts) and re.search(
        r"\d", "".join(part.text for part in parts[place + 1 : place + 3])
    )
    if not head or (head != parts[place].text and not numbered):
        return None, 1
    if copy := _copy(parts, place, catalogs):
        return copy
    by_part = _by_part(catalogs)
    known, taken, end = by_part.get(head, frozenset()), [head], place + 1
    if not known:
        return None, 1
    size_seen = False
    while end < len(parts) and end - place < LONGEST_NAME:
        part = parts[end]
        if part.text in ("-", "_", "(", ")", "/", ":") and not _is_gap(parts, end):
            end += 1
            continue
        if part.text in TUNED and not known & by_part.get(part.text, frozenset()):
            if parts[end].start - parts[end - 1].end > 1:
                break
            taken.append(part.text)
            end += 1
            continue
        word = _closest_part(part.text, known, catalogs)
        narrower = known & by_part.get(word, frozenset())
        if not narrower or not _is_of_name(word, taken, part, parts, end):
            break
        known, end = narrower, end + 1
        taken.append(word)
        size_seen = size_seen or bool(SIZE.fullmatch(word))
    while end > place + 1 and (
        not parts[end - 1].text.replace(".", "").isalnum()
        or (parts[end - 1].text in TUNED and _apart(parts, end - 1))
    ):
        end -= 1
    start = place
    if place and SIZE.fullmatch(parts[place - 1].text):
        size, narrower = (
            parts[place - 1].text,
            known & by_part.get(parts[place - 1].text, frozenset()),
        )
        if narrower and not size_seen:
            known, start = narrower, place - 1
            taken.append(size)
    if other := _unknown_end(parts, end, known, size_seen, catalogs):
        name = "-".join(
            part.text for part in parts[place:other] if part.text.isalnum() or "." in part.text
        )
        stretch = (parts[start].start, parts[other - 1].end)
        return NamedModel(
            *stretch, "", _nearest(parts[place:other], known, catalogs), "", name
        ), other - place
    choices = _plainest(known, taken, catalogs)
    written = "-".join(part.text for part in parts[place:end])
    stretch = (parts[start].start, parts[end - 1].end)
    if len(choices) == 1:
        return NamedModel(*stretch, choices[0], (), stored_as(written)), end - place
    return NamedModel(*stretch, "", tuple(choices), stored_as(written)), end - place


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
        if SIZE.fullmatch(part.text):
            return place + 1 if part.text not in have and not size_seen else variant
        if part.text in VARIANTS and part.text not in have:
            joined = part.start == parts[place - 1].end
            variant = place + 1 if joined or part.text not in NOT_UNKNOWN else variant
        elif part.text not in ("-", "_") and not re.fullmatch(r"\d+(\.\d+)?", part.text):
            break
        place += 1
    return variant


def _nearest(parts: list[Part], known: frozenset[str], catalogs: Catalogs) -> tuple[str, ...]:
    """Models of a family, the nearest in size first."""
    size = next((part.text for part in parts if SIZE.fullmatch(part.text)), "")
    match = re.fullmatch(r"(\d+(?:\.\d+)?)([bm])", size)
    wanted = float(match[1]) * (1e9 if match[2] == "b" else 1e6) if match else 0.0
    parameters = catalogs.models["parameters"].astype(float)
    ranked = sorted(
        known, key=lambda model: (abs(parameters[model] - wanted) if wanted else 0, model)
    )
    return tuple(ranked[:4])


def _apart(parts: list[Part], place: int) -> bool:
    return parts[place].start - parts[place - 1].end >= 1 and parts[place].text not in (
        "instruct",
        "chat",
        "it",
        "base",
        "arch",
        "model",
    )


def _is_gap(parts: list[Part], place: int) -> bool:
    """Whether a mark stands apart from the words around it, as a dash does."""
    before = place and parts[place].start > parts[place - 1].end
    after = place + 1 < len(parts) and parts[place + 1].start > parts[place].end
    return bool(before or after) or place + 1 == len(parts)


def _is_of_name(word: str, taken: list[str], part: Part, parts: list[Part], place: int) -> bool:
    """Whether a number belongs to the name: one that counts what follows does not."""
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


def _closest_part(word: str, known: frozenset[str], catalogs: Catalogs) -> str:
    """The part of these models that a word is, with one slip of the pen at most."""
    if len(word) < 5 or not word.isalpha():
        return word
    several = {
        part
        for model in known
        for part in parts_of_models(catalogs)[model]
        if part.isalpha() and len(part) > 3
    }
    close = max(sorted(several), key=lambda part: fuzz.ratio(word, part), default=word)
    return close if fuzz.ratio(word, close) >= CLOSE else word


def _copy(parts: list[Part], place: int, catalogs: Catalogs) -> tuple[NamedModel, int] | None:
    """A model by the name of a copy or by a whole name that the catalog spells otherwise."""
    for end in range(min(len(parts), place + LONGEST_NAME), place + 1, -1):
        stretch = parts[place:end]
        if not stretch[-1].text.replace(".", "").isalnum() or any(
            part.text in ",;()" for part in stretch
        ):
            continue
        words = _spelled(stretch)
        for name in words:
            if model := model_id(name, catalogs):
                shorter = end
                while (
                    shorter - 1 > place + 1
                    and any(
                        model_id(other, catalogs) == model
                        for other in _spelled(parts[place : shorter - 1])
                    )
                    and parts[shorter - 1].start > parts[shorter - 2].end
                ):
                    shorter -= 1
                return NamedModel(
                    parts[place].start, parts[shorter - 1].end, model, (), stored_as(name)
                ), shorter - place
    return None


def _spelled(parts: list[Part]) -> list[str]:
    """The parts as a name: with hyphens where there are spaces, and between all."""
    joined = parts[0].text
    for before, part in pairwise(parts):
        joined += ("-" if part.start > before.end else "") + part.text
    joined = re.sub(r"-{2,}", "-", joined)
    return [joined, "-".join(part.text for part in parts if part.text not in "-_/:")]


def _plainest(models: frozenset[str], taken: list[str], catalogs: Catalogs) -> list[str]:
    """The models with the fewest parts that were not written; the newest first."""
    parts = parts_of_models(catalogs)

    def unwritten(model: str) -> int:
        return sum(1 for part in parts[model] if part not in taken and not MINOR.fullmatch(part))

    fewest = min(map(unwritten, models))
    closest = [model for model in models if unwritten(model) == fewest]
    if SIZE.search(" ".join(taken)) is None and len(closest) > 1 and fewest == 0:
        exact = [model for model in closest if set(parts[model]) <= set(taken)]
        closest = exact or closest
    later = {model for model in closest if model.rpartition("-")[0] in closest}
    if not any(model.rpartition("-")[2] in taken for model in later):
        closest = [model for model in closest if model not in later]  # a release not written
    fewest = min(len(parts[model]) for model in closest)
    if any(set(parts[model]) <= set(taken) for model in closest):
        closest = [model for model in closest if len(parts[model]) == fewest]
    return sorted(closest, key=_version, reverse=True)


def _version(model: str) -> tuple:
    """Newer versions sort higher; of one version the larger."""
    numbers = [float(number) for number in re.findall(r"\d+(?:\.\d+)?", model)]
    return tuple(numbers), model


def of_size(size: float, catalogs: Catalogs) -> tuple[str, ...]:
    """Typical models of about so many billion parameters, the newest of each family."""
    models = catalogs.models
    near = models.index[
        (models["kind"] == "decoder")
        & (abs(models["parameters"].astype(float) / (size * 1e9) - 1) < 0.18)
    ]
    preferred = ("qwen3-", "llama-3", "gemma-", "olmo-", "mistral", "phi", "qwen2.5-")
    ranked = sorted(
        (str(model) for model in near if re.search(r"-\d", str(model))),
        key=lambda model: next(
            (rank for rank, head in enumerate(preferred) if model.startswith(head)), len(preferred)
        ),
    )
    return tuple(ranked[:4])
