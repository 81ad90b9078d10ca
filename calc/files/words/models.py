"""The model that words name: the longest name that the catalog has, or a question."""

import re

from calc.catalogs.kept import kept
from calc.catalogs.load import Catalogs
from calc.files.configs.model_names import model_id, stored_as
from calc.files.words.sentence import EDGES, Sentence

HUB = re.compile(r"(?:https?://)?(?:www\.)?(?:huggingface\.co|hf\.co)/([\w.-]+/[\w.-]+)(?:/\S*)?")
LONGEST_NAME = 7  # words


def take_model(line: Sentence, catalogs: Catalogs) -> str:
    """Take the longest name of a model; returns a question where several or none have it."""
    for match in line.take(HUB.pattern):
        line.put(match[0], model=model_id(match[1], catalogs) or match[1])
        return ""
    tokens = [
        (match[0].strip(EDGES), match.start(), match.end())
        for match in re.finditer(r"[^\s|]+", line.text)
    ]
    heads, close = _heads(catalogs), ""
    for size in range(LONGEST_NAME, 0, -1):
        for place in range(len(tokens) - size + 1):
            words = [word for word, *_ in tokens[place : place + size]]
            name = "-".join(words)
            if "/" in name and size > 1:  # a repository is one word
                continue
            if (
                re.split(r"[-_:]", words[0])[0] not in heads
                and _letters(words[0]) not in heads
                and "/" not in name
            ):
                continue
            if model := model_id(name, catalogs):
                while size > 1 and model_id("-".join(words[: size - 1]), catalogs) == model:
                    size -= 1  # what follows the name, such as int8, is read by itself
                stretch = (tokens[place][1], tokens[place + size - 1][2])
                line.put(line.text[slice(*stretch)].strip(EDGES), model=model)
                line.stored = stored_as("-".join(words[:size]))
                line.cut(*stretch)
                return ""
            if size > 1 or "/" in name or re.search(r"\d", name):
                close = close or _close(
                    line, words, tokens[place][1], tokens[place + size - 1][2], catalogs
                )
                if "model" in line.columns:
                    return ""
    return close


def _close(line: Sentence, words: list[str], start: int, end: int, catalogs: Catalogs) -> str:
    """Take the one model that has all these words, or ask which of several; empty for none."""
    name = "-".join(words)
    if re.fullmatch(r"[\w.-]+/[\w.-]+", name):
        line.put(name, model=name)  # a repository that the catalog lacks
        line.cut(start, end)
        return ""
    parts = set(re.split(r"[-_]", name))
    every = [str(model) for model in catalogs.models.index if parts <= set(str(model).split("-"))]
    matches = [model for model in every if model.startswith(words[0])] or every
    if len(matches) == 1:
        line.put(" ".join(words), model=matches[0])
    if matches:
        line.cut(start, end)
    return (
        f"'{' '.join(words)}' may be {', '.join(matches[:4])}: name one of them."
        if len(matches) > 1
        else ""
    )


@kept("models")
def _heads(catalogs: Catalogs) -> frozenset[str]:
    """The words with which names of models begin: llama, qwen3, qwen."""
    tails = (
        str(repository).rpartition("/")[2].lower() for repository in catalogs.models["hf_repo"]
    )
    first = {name.split("-")[0] for name in (*map(str, catalogs.models.index), *tails) if name}
    return frozenset(first | {letters for head in first if len(letters := _letters(head)) > 2})


def _letters(word: str) -> str:
    """The letters with which a word begins."""
    return word[: len(word) - len(word.lstrip("abcdefghijklmnopqrstuvwxyz"))]
