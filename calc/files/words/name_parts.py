"""Names of the catalog's models in parts, and which models have the parts that a text names."""

import re
from collections import defaultdict
from typing import NamedTuple

from rapidfuzz import fuzz
from rapidfuzz.distance import OSA

from calc.catalogs.caches import cached_per_catalogs
from calc.catalogs.load import Catalogs
from calc.files.configs.fields import field_catalog
from calc.files.words.vocabulary import lexicon, silent_words

SCRIPTS = r"\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af"  # written without spaces around names
ATOM = re.compile(rf"[^\W_{SCRIPTS}]+(?:\.\d+[^\W_{SCRIPTS}]*)*|[{SCRIPTS}]+|[^\s\w]|_")
HEAD = re.compile(r"[a-z]{3,}")
SIZE = re.compile(r"\d+(?:\.\d+)?[bm]|\d+x\d+b")
MINOR = re.compile(
    r"a\d+(\.\d+)?b|\d{4}|\d+e|uncased|instruct|it|chat|base|v\d.*|patch\d+|\d{3}h?|h|small|lv\d+"
)
OF_OTHER_WORK = re.compile(r"embed|rerank|-vl-|vision|coder|math|distill")
RELEASE_NUMBER = re.compile(r"\d(?:\.\d)?")
SUPERSEDED = ("qwen1.5-",)  # meant where the release is written alone
CLOSE = 86  # of 100: a part of a name with one typing error
# Words of the language that are close to a family's name.
COMMON_WORDS = frozenset({"mistake"})
SHORTEST_NAME = 4  # letters of a family's name with a typing error

FAMILIES = ("qwen3-", "llama-3", "gemma-", "mistral", "qwen2.5-", "phi", "olmo-")  # most used
FARTHEST_SIZE = 0.18  # of the parameters of a model from the size that a text says


class Part(NamedTuple):
    """A part of a name: letters or a number, with its place."""

    text: str
    start: int
    end: int


@cached_per_catalogs("models")
def owners_of_models(catalogs: Catalogs) -> frozenset[str]:
    """Return the organizations on the Hugging Face hub that publish the catalog's models."""
    return frozenset(
        str(one).partition("/")[0].lower() for one in catalogs.models["hf_repo"] if "/" in str(one)
    )


def parts_of_text(text: str) -> list[Part]:
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


@cached_per_catalogs("models")
def models_by_part(catalogs: Catalogs) -> dict[str, frozenset[str]]:
    """Part of a name -> the models that have it, in their id or their repository."""
    models = defaultdict(set)
    for model, parts in parts_of_models(catalogs).items():
        for part in parts:
            models[part].add(model)
    return {part: frozenset(several) for part, several in models.items()}


@cached_per_catalogs("models")
def parts_of_models(catalogs: Catalogs) -> dict[str, tuple[str, ...]]:
    """Each id with its parts."""
    return {
        str(model): tuple(
            part.text
            for part in parts_of_text(str(model).lower())
            if part.text.isalnum() or "." in part.text
        )
        for model in catalogs.models.index
    }


@cached_per_catalogs("models")
def first_parts(catalogs: Catalogs) -> frozenset[str]:
    """The first parts of names that tell a family: letters, three or more."""
    return (
        frozenset(
            parts[0]
            for parts in parts_of_models(catalogs).values()
            if re.search(r"[a-z]{3}", parts[0])
        )
        | {"glm", "opt", "bge", "t5", "r1", "yi", "scout", "maverick"} - {"flan"}
        | {"flan", "devstral"}
        | {match[0] for copy in field_catalog().copies if (match := HEAD.match(copy))}
    )


def first_part_of(word: str, catalogs: Catalogs) -> str:
    """The head that a word is, with at most one typing error; empty for none."""
    heads = first_parts(catalogs)
    if word in heads:
        return word
    if len(word) < SHORTEST_NAME or not word.isalpha():
        return ""
    if any(word in known for known in (COMMON_WORDS, silent_words(), lexicon().tags)):
        return ""
    if word.removesuffix("s") in heads:  # the clips of a film
        return ""
    return next((head for head in sorted(heads) if OSA.distance(word, head) == 1), "")


def nearest_in_size(
    parts: list[Part], known: frozenset[str], catalogs: Catalogs
) -> tuple[str, ...]:
    """Models of a family, the nearest in size first."""
    size = next((part.text for part in parts if SIZE.fullmatch(part.text)), "")
    match = re.fullmatch(r"(\d+(?:\.\d+)?)([bm])", size)
    wanted = float(match[1]) * (1e9 if match[2] == "b" else 1e6) if match else 0.0
    parameters = catalogs.models["parameters"].astype(float)
    ranked = sorted(
        known, key=lambda model: (abs(parameters[model] - wanted) if wanted else 0, model)
    )
    return tuple(ranked[:4])


def closest_part(word: str, known: frozenset[str], catalogs: Catalogs) -> str:
    """The part of these models that a word is, with at most one typing error."""
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


def plainest_models(models: frozenset[str], taken: list[str], catalogs: Catalogs) -> list[str]:
    """The models with the fewest parts that were not written; the newest first."""
    parts = parts_of_models(catalogs)

    def unwritten(model: str) -> int:
        return sum(
            1
            for part in parts[model]
            if part not in taken
            and not MINOR.fullmatch(part)
            and not (len(taken) == 1 and RELEASE_NUMBER.fullmatch(part))  # gemma alone
        )

    fewest = min(map(unwritten, models))
    closest = [model for model in models if unwritten(model) == fewest]
    if SIZE.search(" ".join(taken)) is None and len(closest) > 1 and fewest == 0:
        exact = [model for model in closest if set(parts[model]) <= set(taken)]
        closest = exact or closest
    current = [model for model in closest if not model.startswith(SUPERSEDED)]
    closest = current or closest
    later = {model for model in closest if model.rpartition("-")[0] in closest}
    if not any(model.rpartition("-")[2] in taken for model in later):
        closest = [model for model in closest if model not in later]  # a release not written
    fewest = min(len(parts[model]) for model in closest)
    if any(set(parts[model]) <= set(taken) for model in closest):
        closest = [model for model in closest if len(parts[model]) == fewest]
    return sorted(closest, key=_version, reverse=True)


def models_of_family(models: frozenset[str], plainest: str) -> list[str]:
    """The models that the name of a family alone may mean, the newest first.

    Families with a base model, such as BERT, mean that one.
    """
    same_work = [model for model in models if not OF_OTHER_WORK.search(model)]
    if "-base" in plainest or len(same_work) == 1:
        return [plainest]
    if not same_work:  # embeddinggemma
        return sorted(models, key=_version, reverse=True)
    return sorted(same_work, key=_version, reverse=True)


def _version(model: str) -> tuple:
    """Newer versions sort higher; of one version the larger."""
    found = re.findall(r"(\d+(?:\.\d+)?)([bemx]?)", model)
    releases = tuple(float(number) for number, unit in found if not unit)
    sizes = (float(number) / (1000 if unit == "m" else 1) for number, unit in found if unit)
    return releases, tuple(sizes), model  # 270m is less than 1b


def of_size(size: float, catalogs: Catalogs) -> tuple[str, ...]:
    """Typical models of about so many billion parameters.

    Models whose name says this size come first, then those of the families most used; within a
    family the newest is first.
    """
    models = catalogs.models
    ratio = models["parameters"].astype(float) / (size * 1e9)
    is_near = (models["kind"] == "decoder") & (abs(ratio - 1) < FARTHEST_SIZE)
    near = [
        model
        for model in map(str, models.index[is_near])
        if re.search(r"-\d", model) and not OF_OTHER_WORK.search(model)
    ]
    said = f"{size:g}b"
    parts = parts_of_models(catalogs)

    def rank(model: str) -> tuple[bool, int]:
        families = (place for place, head in enumerate(FAMILIES) if model.startswith(head))
        return said not in parts[model], next(families, len(FAMILIES))

    newest_first = sorted(near, key=_version, reverse=True)
    return tuple(sorted(newest_first, key=rank)[:4])
