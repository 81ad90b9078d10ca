"""The flags of a command as fields."""

import re
from typing import Any

from calc.files.configs.problem import ConfigProblem
from calc.mappings import Json

OVERRIDE = re.compile(
    r"[+~]*[A-Za-z_][\w.]*="
)  # a word after a flag's value that sets a field (tune run --config NAME batch_size=4)
OF_OVERRIDES = ("set", "override", "opt", "cfg_options")  # flags that set a field each time
BOOLEANS = ("true", "false")
FLAG = re.compile(r"--?[A-Za-z][\w.-]*")
ENDS = "--"  # between a launcher and what it launches


def fields_of(
    words: list[str], file: str, short: dict[str, str], switches: frozenset[str] = frozenset()
) -> tuple[Json, list[str]]:
    """The flags of a command as fields, true where a flag has no value, and its other words.

    `short` maps abbreviated flags (-tp) to the field; `switches` are flags that take no value.
    """
    fields: Json = {}
    others: list[str] = []
    place = 0
    while place < len(words):
        word, place = words[place], place + 1
        name, equals, value = word.partition("=")
        if not FLAG.fullmatch(name):
            others += [word] if word != ENDS else []
            continue
        name = short.get(name, name.lstrip("-").replace("-", "_"))
        setting: Any = value
        if not equals:
            end = place
            while name not in switches and end < len(words) and not _ends_values(words[end]):
                end += 1
            if name in switches and words[end : end + 1] and words[end].lower() in BOOLEANS:
                end += 1
            values, place = words[place:end], end
            others += [value for value in values[1:] if OVERRIDE.match(value)]
            values = values[:1] + [value for value in values[1:] if not OVERRIDE.match(value)]
            setting = values[0] if len(values) == 1 else values or True
        if name in OF_OVERRIDES and OVERRIDE.match(str(setting)):
            others.append(setting)
            continue
        if fields.setdefault(name, setting) != setting:
            raise ConfigProblem(f"{file}: --{name} has two values; keep one of them.")
    return fields, others


def _is_flag(word: str) -> bool:
    return FLAG.fullmatch(word.partition("=")[0]) is not None


def _ends_values(word: str) -> bool:
    return word == ENDS or _is_flag(word)
