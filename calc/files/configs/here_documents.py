"""Files that a shell script writes itself and then gives to a command."""

import re
from pathlib import PurePath
from textwrap import dedent

from calc.files.configs.commands import VARIABLE, variable_value
from calc.files.configs.documents import SHELL_FORMS, several_readings
from calc.files.configs.inside.trees import file_form
from calc.files.configs.problem import ConfigProblem

BEGINS = re.compile(
    r"^[ \t]*(?:sudo[ \t]+)?(?:cat|tee)\b(?P<before>[^\n<]*)<<-?[ \t]*(?P<quote>['\"\\]?)"
    r"(?P<mark>\w+)['\"]?(?P<behind>[^\n]*)$"
)
TARGET = re.compile(r"(?:^|[\s>])['\"]?(?P<name>[\w./${}~-]*\.(?:ya?ml|json|toml|py))\b")
ASSIGNED = re.compile(r"^[ \t]*(?:export[ \t]+)?([A-Za-z_]\w*)=['\"]?([^'\"\n;#]*)", re.M)
MANIFEST = re.compile(r"^apiVersion:", re.M)  # of Kubernetes, which a script applies
MANIFESTS = "manifests.yaml"
MOST_FILES = 8


def with_written_files(texts: list[tuple[str, str]]) -> list[tuple[str, str]]:
    """The texts (text, file) of a run, with the files that its scripts write and that are read."""
    every: list[tuple[str, str]] = []
    for text, file in texts:
        if "<<" not in text or file_form(text, file) not in (*SHELL_FORMS, "YAML"):
            every.append((text, file))
            continue
        if file_form(text, file) == "YAML" and _is_read(text, file):
            every.append((text, file))  # with what its scripts write
            continue
        left, written = written_files(text)
        manifests = [body for _, body in written if MANIFEST.search(body)]
        others = [(body, name) for name, body in written if body not in manifests]
        applied = [("\n---\n".join(manifests), MANIFESTS)] if manifests else []
        read = [one for one in (*others, *applied) if _is_read(*one)]
        says_more = not (manifests and read) or _is_read(left, file)
        every += [*([(left, file)] if says_more else []), *read]
    return every


def _is_read(text: str, file: str) -> bool:
    """Return whether a text says anything of a run."""
    try:
        return bool(several_readings(text, file))
    except ConfigProblem:
        return False


def written_files(text: str) -> tuple[str, list[tuple[str, str]]]:
    """A script without the files that it writes, and these files: (name, text).

    A file that nothing else in the script names is left where it is, unless it is a manifest.
    """
    lines = text.split("\n")
    left: list[str] = []
    files: list[tuple[str, str]] = []
    place = 0
    while place < len(lines):
        line, place = lines[place], place + 1
        begin = BEGINS.match(line)
        end = _end(lines, place, begin["mark"]) if begin and len(files) < MOST_FILES else 0
        written = f"{begin['before']} {begin['behind']}" if begin else ""
        target = TARGET.search(written) or TARGET.search(_filled(written, left))
        name = PurePath(target["name"]).name if target else ""
        body = dedent("\n".join(lines[place:end])) if end else ""
        is_named = bool(name) and (text.count(name) > 1 or _is_used(written, text))
        if not begin or not (is_named or MANIFEST.search(body)):
            left.append(line)
            continue
        files.append((name, body if begin["quote"] else _filled(body, left)))
        place = end + 1
    return "\n".join(left), files


def _is_used(written: str, text: str) -> bool:
    """Return whether the variable that names a file stands elsewhere in its script too: "$DS"."""
    return any(text.count(match[0]) > 1 for match in VARIABLE.finditer(written))


def _end(lines: list[str], place: int, mark: str) -> int:
    """The place of the line that ends a block; 0 without one."""
    return next((at for at in range(place, len(lines)) if lines[at].strip(" \t") == mark), 0)


def _filled(body: str, before: list[str]) -> str:
    """The text of a file with the variables that the lines before it set."""
    variables = dict(ASSIGNED.findall("\n".join(before)))
    return VARIABLE.sub(lambda match: variable_value(match, variables), body)
