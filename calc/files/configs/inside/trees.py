"""The text of a file of any form as nested values."""

import ast
import contextlib
import re
import shlex
from pathlib import PurePath
from typing import Any

from calc.files.configs.inside.braces import braces_tree, has_braces
from calc.files.configs.inside.cloudformation import filled_template
from calc.files.configs.inside.config_maps import with_config_maps
from calc.files.configs.inside.docker import dockerfile_tree
from calc.files.configs.inside.helm import values_of_helm
from calc.files.configs.inside.hydra_bases import with_bases
from calc.files.configs.inside.pbtxt import is_pbtxt, pbtxt_tree
from calc.files.configs.inside.platforms import joined_documents
from calc.files.configs.inside.python_tree import python_tree
from calc.files.configs.inside.templates import filled_templates
from calc.files.configs.inside.units import script_form
from calc.files.configs.problem import DEEPEST, ConfigProblem
from calc.files.configs.texts import FORMATS, format_of, read_json, read_mapping, read_toml
from calc.files.configs.yaml_text import read_yaml_documents
from calc.mappings import Json

PROPERTIES = (".properties", ".env", ".cfg", ".ini", ".conf")
ASSIGNMENT = re.compile(r"^\s*(?:export\s+)?([A-Za-z_][\w.]*)\s*=\s*(.*?)\s*$", re.M)
DOCKERFILE = re.compile(r"(?:#[^\n]*\n|\s|ARG [^\n]*\n)*FROM\s+\S+", re.I)
MODELFILE = re.compile(r"^(?:PARAMETER|TEMPLATE|SYSTEM|MESSAGE|ADAPTER)[ \t]", re.M)  # of Ollama
WRITES = re.compile(r"%%writefile(?:\s+-a)?\s+(\S+)")
MAGIC = re.compile(r"^\s*[!%]+(?:bash\b|sh\b)?")
PASSED = re.compile(r"^(\s*).*")  # a command within a block of Python
EMBEDDED = re.compile(r"\s*(?:#[^\n]*\n\s*)*(?:(?:-[ \t]+)?[\w./-]{1,60}:(?:\s|$)|\{\s*\")")
TEMPLATED = re.compile(r"\{\{-? ?[\w.$#/]")
PLACEHOLDER = re.compile(
    r"\{\{(\{)?[ \t]*([A-Za-z_]\w{0,60})[ \t]*\}(?(1)\})\}"
)  # of Handlebars and Jinja
TEMPLATE = (
    "this is a template of a Helm chart, whose values stand in another file. Give the chart's "
    "values.yaml, or what `helm template` prints of it."
)
WRITTEN = re.compile(
    r"\bcat[ \t]*>[ \t]*(\S{1,200}\.json)[ \t]*<<-?[ \t]*['\"]?(\w{1,40})['\"]?[ \t]*\n"
    r"(.{0,20000}?)\n[ \t]*\2(?!\w)",
    re.S,
)
MOST_WRITTEN = 50_000  # characters of a script
MOST_EMBEDDED = 8  # texts within a text that are read as YAML
MOST_PARTS = 5_000  # mappings of a file, however deep


def file_form(text: str, file: str) -> str:
    """The form of a text: one of format_of or script_form, or Dockerfile, braces, properties or
    notebook."""
    path = PurePath(file)
    if path.name.lower().startswith("dockerfile") or path.suffix.lower() == ".dockerfile":
        return "Dockerfile"
    if path.suffix.lower() == ".ipynb":
        return "notebook"
    if is_pbtxt(file):
        return "pbtxt"
    if script := script_form(text, file):
        return script
    if path.suffix.lower() in PROPERTIES:
        return "properties"
    if has_braces(text, file):
        return "braces"
    form = format_of(text, file)
    if MODELFILE.search(text) and DOCKERFILE.match(text):
        return "Modelfile"
    if form == "command" and DOCKERFILE.match(text):
        return "Dockerfile"
    if form == "JSON" and '"cells"' in text and '"nbformat"' in text:
        return "notebook"
    return form


def tree_of(text: str, file: str) -> Json:
    """The nested values of a text; raises ConfigProblem where it has another form."""
    form = file_form(text, file)
    try:
        tree = _tree(text, file, form)
    except RecursionError:
        raise ConfigProblem(
            f"{file}: values are nested deeper than {DEEPEST}; give the config alone."
        ) from None
    except ConfigProblem:
        plain = PLACEHOLDER.sub(r"${\2}", text) if form == "YAML" else text
        if plain != text and not TEMPLATED.search(plain):
            return tree_of(plain, file)
        if form == "YAML" and TEMPLATED.search(text):
            raise ConfigProblem(f"{file}: {TEMPLATE}") from None
        raise
    except ValueError as error:
        raise ConfigProblem(
            f"{file}: this is not {form} ({str(error).rstrip('.')[:120]}); correct it there."
        ) from None
    if _parts(tree) > MOST_PARTS:
        raise ConfigProblem(
            f"{file}: this file holds more than {MOST_PARTS:,} parts; give the service alone."
        )
    tree = filled_template(tree) if isinstance(tree, dict) else {"values": tree}
    return filled_templates(tree) if "{{" in text or "$(" in text else tree


def _parts(tree: Any) -> int:
    """Number of mappings in a tree, itself included, as far as it is allowed to have.

    Values of a script may hold each other without an end.
    """
    count, left = 0, [tree] if isinstance(tree, dict | list) else []
    while left and count <= MOST_PARTS:
        value = left.pop()
        count += isinstance(value, dict)
        inner = value.values() if isinstance(value, dict) else value
        left += [one for one in inner if isinstance(one, dict | list)]
    return count


def _tree(text: str, file: str, form: str) -> Any:
    """The text as nested values, read in the form that it has."""
    if form == "YAML":
        documents = [part for part in read_yaml_documents(text, file) if part is not None]
        if len(documents) == 1:
            return with_bases(_with_embedded(documents[0], file))
        parts = {
            f"document {place}": _with_embedded(part, file) for place, part in enumerate(documents)
        }
        return joined_documents(with_config_maps(parts))
    if form == "JSON":
        return read_json(text, file)
    if form == "TOML":
        return read_toml(text, file)
    if form == "Python":
        return _with_embedded(python_tree(text, file), file)
    if form == "notebook":
        return _notebook(text, file)
    if form == "braces":
        return _with_embedded(braces_tree(text), file)
    if form == "pbtxt":
        return pbtxt_tree(text)
    if form == "Modelfile":
        return {}
    if form == "Dockerfile":
        return dockerfile_tree(text)
    if form == "properties":
        return {
            "environment": {name: value.strip("'\"") for name, value in ASSIGNMENT.findall(text)}
        }
    return {"run": text, **values_of_helm(text)}


def _notebook(text: str, file: str) -> Json:
    """The code cells of a notebook: Python, and the commands after ! and %%bash."""
    shell = [
        MAGIC.sub("", line)
        for cell in _code_cells(text, file)
        for line, is_command in _told_apart(cell)
        if is_command
    ]
    tree = python_tree(python_of_notebook(text, file), file)
    known = [
        f"{name}={shlex.quote(str(value))}"
        for name, value in tree.items()
        if name.isidentifier() and isinstance(value, str | int | float) and "\n" not in str(value)
    ]  # which a command after ! may use
    run = "\n".join([*known, *shell])
    commands = {"commands of cells": {"run": run}} if shell else {}
    return tree | _written_files(text, file) | commands | _accelerator(text, file)


def _accelerator(text: str, file: str) -> Json:
    """The card that Colab or Kaggle notes in a notebook."""
    notes = read_mapping(text, file, "JSON").get("metadata")
    for platform, key in (("colab", "gpuType"), ("kaggle", "accelerator")):
        part = notes.get(platform) if isinstance(notes, dict) else None
        if isinstance(part, dict) and isinstance(part.get(key), str):
            return {"notebook": {"gpu_type": part[key]}}
    return {}


def _written_files(text: str, file: str) -> Json:
    """The configs that cells write with %%writefile, by the names of their files."""
    written: Json = {}
    for first, *body in _code_cells(text, file):
        match = WRITES.match(first)
        form = FORMATS.get(PurePath(match[1]).suffix.lower()) if match else None
        if match and form in ("YAML", "JSON", "TOML"):
            with contextlib.suppress(ConfigProblem):
                written[PurePath(match[1]).name] = read_mapping("\n".join(body), match[1], form)
    return written


def python_of_notebook(text: str, file: str) -> str:
    """The Python of a notebook's code cells, without their commands and cells of other text."""
    cells = (
        "\n".join(
            PASSED.sub(r"\1pass", line) if is_command else line
            for line, is_command in _told_apart(cell[1:] if WRITES.match(cell[0]) else cell)
        )
        for cell in _code_cells(text, file)
    )
    return "\n".join(filter(_is_python, cells))


def _is_python(text: str) -> bool:
    try:
        ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return True


def _told_apart(lines: list[str]) -> list[tuple[str, bool]]:
    """The lines of a cell, each with whether it is a command; one may go on over several lines."""
    told: list[tuple[str, bool]] = []
    whole = lines[0].startswith(("%%bash", "%%sh", "! "))
    goes_on = False
    for line in lines:
        is_command = whole or goes_on or bool(MAGIC.match(line))
        if goes_on:  # at the depth of the line where the command began
            before = told[-1][0]
            line = before[: len(before) - len(before.lstrip())] + line.lstrip()
        told.append((line, is_command))
        goes_on = is_command and line.rstrip().endswith("\\")
    return told


def _code_cells(text: str, file: str) -> list[list[str]]:
    """The lines of each code cell of a notebook; raises ConfigProblem where it is none."""
    notebook = read_mapping(text, file, "JSON")
    cells = notebook.get("cells")
    sources = [
        cell.get("source", "")
        for cell in (cells if isinstance(cells, list) else [])
        if isinstance(cell, dict) and cell.get("cell_type") == "code"
    ]
    return [
        "".join(map(str, source if isinstance(source, list) else [source])).split("\n")
        for source in sources
    ]


def _written_json(text: str) -> Json:
    """The JSON configs that a script writes with here documents, by the names of their files."""
    written: Json = {}
    for name, _, body in WRITTEN.findall(text[:MOST_WRITTEN]):
        with contextlib.suppress(ConfigProblem):
            written[PurePath(name).name] = read_mapping(body, name, "JSON")
    return written


def _script(text: str, file: str) -> Any:
    """A script of Python that a ConfigMap holds as nested values; the text where it is none."""
    try:
        return python_tree(text, file)
    except ConfigProblem:
        return text


def _with_embedded(tree: Any, file: str, left: list[int] | None = None, depth: int = 0) -> Any:
    """A tree in which texts that are YAML or JSON themselves, as serveConfigV2, are mappings."""
    left = [MOST_EMBEDDED] if left is None else left
    if depth > DEEPEST:
        return tree
    if isinstance(tree, dict):
        return {
            key: _script(value, file)
            if str(key).endswith(".py") and isinstance(value, str)
            else _with_embedded(value, file, left, depth + 1)
            for key, value in tree.items()
        }
    if isinstance(tree, list):
        return [_with_embedded(value, file, left, depth + 1) for value in tree]
    if isinstance(tree, str) and (written := _written_json(tree)):
        return {"run": tree, **written}
    if isinstance(tree, str) and "\n" in tree.strip() and EMBEDDED.match(tree) and left[0]:
        left[0] -= 1
        try:
            inner = read_yaml_documents(tree, file)
        except ConfigProblem:
            return tree
        return inner[0] if len(inner) == 1 and isinstance(inner[0], dict | list) else tree
    return tree
