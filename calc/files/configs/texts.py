"""The text of a config as dotted fields, or as the commands of a script."""

import codecs
import json
import re
import tomllib
from pathlib import PurePath
from typing import Any

from calc.files.configs.problem import (
    DEEPEST,
    LARGEST_BYTES,
    LONGEST_VALUE,
    MOST_FIELDS,
    ConfigProblem,
)
from calc.files.configs.python_text import read_python
from calc.files.configs.yaml_text import read_yaml
from calc.mappings import Json

WIDE = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)  # as Windows writes a redirected output
FORMATS = {".json": "JSON", ".toml": "TOML", ".yaml": "YAML", ".yml": "YAML", ".py": "Python"}
REFERENCE = re.compile(
    r"\$\{(?:(mul|div|oc\.select):)?([^{}$:]{1,160})\}"
)  # OmegaConf's, the innermost; its other functions stay
DEEPEST_REFERENCE = 8
WHOLE = re.compile(r"[0-9]{1,18}")
REMARKS = re.compile(r"^[ \t]*//[^\n]*$|(?<=[,{\[])[ \t]*//[^\n]*$", re.M)
LAST_COMMA = re.compile(r",(?=\s*[}\]])")
# Possessive, and with an end that may be missing, so that both take linear time.
QUOTED = re.compile(r"""\"(?:[^"\\\n]|\\.)*+\"?|'[^'\n]*+'?""")
DEEP_KEY = re.compile(rf"(?<![\w-])[\w-]++(?:[ \t]*+\.[ \t]*+[\w-]++){{{DEEPEST},}}")
BEGINS = {  # how a text without an extension begins; a shell assignment has no blank before its =
    "JSON": re.compile(r"\s*\{"),
    "TOML": re.compile(r"\[[\w.]+\]\s*(#|$)|[\w.]+\s+=\s"),
    "Python": re.compile(r"(from [\w.]+ import |def \w+\()"),
    "YAML": re.compile(r"---\s*$|[\w.-]+:(\s|$)"),
}


def checked_text(content: bytes, file: str) -> str:
    """The bytes of a file as text; raises ConfigProblem where they are not, or too many."""
    if len(content) > LARGEST_BYTES:
        raise ConfigProblem(f"{file} has more than {LARGEST_BYTES:,} bytes; give the config alone.")
    try:
        text = content.decode("utf-16" if content.startswith(WIDE) else "utf-8-sig")
    except UnicodeDecodeError as error:
        raise ConfigProblem(
            f"{file} is not UTF-8 text (byte {error.start}); give a config or a launch "
            f"command as text."
        ) from None
    if "\x00" in text:
        raise ConfigProblem(
            f"{file} is not text (it contains zero bytes); give a config or a launch command "
            f"as text."
        )
    if not text.strip():
        raise ConfigProblem(f"{file} is empty; give a config or a launch command.")
    return text


def format_of(text: str, file: str) -> str:
    """JSON, TOML, YAML, Python or command, by the extension or the first line of code."""
    first = next(
        (line for line in text.splitlines() if line.strip() and not line.lstrip().startswith("#")),
        "",
    )
    begun = (form for form, begins in BEGINS.items() if begins.match(first))
    return FORMATS.get(PurePath(file).suffix.lower()) or next(begun, "command")


def read_mapping(text: str, file: str, form: str) -> Json:
    """A config file as nested mappings; raises ConfigProblem."""
    try:
        value = READERS[form](text, file)
    except RecursionError:
        raise ConfigProblem(
            f"{file}: values are nested deeper than {DEEPEST}; give the config alone."
        ) from None
    except ConfigProblem:
        raise
    except ValueError as error:
        raise ConfigProblem(
            f"{file}: this is not {form} ({str(error).rstrip('.')[:120]}); correct it there."
        ) from None
    if not isinstance(value, dict) or not value:
        raise ConfigProblem(f"{file} has no fields; give a config whose first level is a mapping.")
    return value


def read_json(text: str, file: str) -> Any:
    """A JSON text, in which no key appears twice; remarks and a last comma do no harm."""
    try:
        return _loads(text, file)
    except ValueError as error:
        plain = LAST_COMMA.sub("", REMARKS.sub("", text))
        try:
            return _loads(plain, file)
        except ValueError:
            raise error from None


def _loads(text: str, file: str) -> Any:
    return json.loads(
        text, object_pairs_hook=lambda pairs: _once(pairs, file), parse_constant=lambda word: word
    )


def read_toml(text: str, file: str) -> Json:
    """Read a TOML text; raises ConfigProblem for keys too deep, ValueError if it is none.

    tomllib takes quadratic time and memory for deep keys.
    """
    if DEEP_KEY.search(QUOTED.sub("q", text)):
        raise ConfigProblem(
            f"{file}: values are nested deeper than {DEEPEST}; give the config alone."
        )
    return tomllib.loads(text)


READERS = {
    "YAML": read_yaml,
    "TOML": read_toml,
    "Python": read_python,
    "JSON": read_json,
}


def _once(pairs: list[tuple[str, Any]], file: str) -> Json:
    """The fields of a JSON object; refuse one that appears twice."""
    fields: Json = {}
    for key, value in pairs:
        if key in fields:
            raise ConfigProblem(f"{file}: {key[:60]} appears twice; keep one of the two.")
        fields[key] = value
    return fields


def flat(value: Json, file: str, path: tuple[str, ...] = ()) -> Json:
    """Nested mappings as dotted fields; lists of mappings by position, other lists as values."""
    if len(path) > DEEPEST:
        raise ConfigProblem(
            f"{file}: values are nested deeper than {DEEPEST}; give the config alone."
        )
    fields: Json = {}
    for key, inner in value.items():
        full = (*path, str(key).strip().replace("-", "_"))
        if (
            isinstance(inner, list)
            and inner
            and all(isinstance(item, dict) and item for item in inner)
        ):
            inner = {str(place): item for place, item in enumerate(inner)}
        added = (
            flat(inner, file, full)
            if isinstance(inner, dict) and inner
            else {".".join(full): inner}
        )
        if twice := fields.keys() & added:
            raise ConfigProblem(f"{file}: {min(twice)[:60]} appears twice; keep one of the two.")
        fields |= added
        if len(fields) > MOST_FIELDS:
            raise ConfigProblem(
                f"{file} has more than {MOST_FIELDS:,} fields; give the config alone."
            )
    return fields


def resolve_references(fields: Json, file: str) -> Json:
    """The fields, with references to others (${variables.max_seq_len}) replaced by their values."""
    return {
        name: _resolve_value(value, name, fields, file) if isinstance(value, str) else value
        for name, value in fields.items()
    }


def _resolve_value(value: Any, name: str, fields: Json, file: str) -> Any:
    """A value with what it refers to; as it stands where that is not there."""
    for _ in range(DEEPEST_REFERENCE):
        match = REFERENCE.search(value) if isinstance(value, str) else None
        if not match:
            break
        first, *others = (word.strip() for word in match[2].split(","))
        target = f"{name.rpartition('.')[0]}{first}" if first.startswith(".") else first
        default = others[0] if others and match[1] == "oc.select" else match[0]
        meant = _target(target, fields, default)
        if match[1] in ("mul", "div"):
            meant = _product(match[1], [first, *others], match[0])
        if meant == match[0]:
            break
        if match[0] == value:
            value = meant
            continue
        word = str(meant)
        if len(value) + value.count(match[0]) * len(word) > LONGEST_VALUE:
            raise ConfigProblem(
                f"{file}, {name[:60]}: it has more than {LONGEST_VALUE:,} characters once its "
                f"references are filled in; write its value."
            )
        value = value.replace(match[0], word)
    return value


def _target(path: str, fields: Json, default: Any) -> Any:
    """The field that a path names, also where the fields stand below another file's key."""
    while path not in fields and path.count(".") > 1:
        path = path.partition(".")[2]
    return fields.get(path, default)


def _product(function: str, factors: list[str], written: str) -> Any:
    """The product or quotient of two whole numbers; the expression as written for anything else."""
    is_whole = all(WHOLE.fullmatch(factor) for factor in factors)
    if len(factors) != 2 or not is_whole or not int(factors[1]):
        return written
    return (
        int(factors[0]) * int(factors[1])
        if function == "mul"
        else int(factors[0]) // int(factors[1])
    )
