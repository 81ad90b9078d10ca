"""Files that only complete another: variables and drop-ins of units, variables of Terraform."""

import re
from collections.abc import Collection
from pathlib import PurePath

from calc.files.configs.env_files import SETTING, variables_of
from calc.files.configs.inside.braces import braces_tree
from calc.files.configs.inside.units import UNIT

BASE_UNIT = re.compile(r"^\[Unit\][ \t]*$", re.M)
OF_VARIABLES = re.compile(r"^EnvironmentFile=", re.M)
DESCRIPTION = re.compile(r"^Description=(.*)", re.M)
BY_ITSELF = re.compile(r"(?:^terraform|\.auto)\.tfvars$")  # files that Terraform takes unasked
BLOCK = re.compile(
    r'^variable\s+"(?P<name>\w+)"\s*\{[^{}]{0,2000}(?:\{[^{}]{0,2000}\}[^{}]{0,2000}){0,8}\}', re.M
)
Texts = list[tuple[str, str]]


def with_units(texts: Texts) -> Texts:
    """The texts (text, file) of a run; a unit of systemd with its variables and drop-ins.

    Source: systemd.unit(5) on drop-ins, systemd.exec(5) on EnvironmentFile.
    """
    units = [(text, file) for text, file in texts if UNIT.search(text)]
    bases = [(text, file) for text, file in units if BASE_UNIT.search(text)]
    others = [(text, file) for text, file in texts if not UNIT.search(text)]
    if len(bases) != 1:
        return texts
    base, base_file = bases[0]
    drops = [text for text, file in units if file != base_file]
    files = [(text, file) for text, file in others if _sets_variables(text)]
    if not OF_VARIABLES.search("\n".join([base, *drops])):
        files = []
    variables = [
        f'Environment="{name}={value}"'
        for text, _ in files
        for name, value in variables_of(text).items()
    ]
    left = [one for one in others if one not in files]
    described = [f"# {line}" for line in DESCRIPTION.findall(base)]
    return [("\n".join([*described, *variables, base, *drops]), base_file), *left]


def _sets_variables(text: str) -> bool:
    """Return whether a text does nothing but set variables."""
    lines = [line for line in text.splitlines() if line.strip() and line.lstrip()[0] not in "#;"]
    return bool(lines) and all(map(SETTING.fullmatch, lines))


def with_terraform(texts: Texts) -> Texts:
    """The texts (text, file) of a run; the files of a Terraform module as one, with its values.

    Source: Terraform documentation, Input Variables, order of precedence.
    """
    module = [(text, file) for text, file in texts if PurePath(file).suffix == ".tf"]
    values = [(text, file) for text, file in texts if PurePath(file).suffix == ".tfvars"]
    asked = [one for one in values if not BY_ITSELF.search(PurePath(one[1]).name)]
    if not module or len(module) + len(values) < 2 or len(asked) > 1:
        return texts
    given: dict[str, object] = {}
    for text, _ in sorted(values, key=lambda one: one in asked):
        given |= braces_tree(text)
    defaults = [
        f'variable "{name}" {{\n  default = {_literal(value)}\n}}'
        for name, value in given.items()
        if isinstance(value, str | int | float)
    ]
    whole = "\n".join([*defaults, *(_without(given.keys(), text) for text, _ in module)])
    left = [one for one in texts if one not in (*module, *values)]
    return [(whole, module[0][1]), *left]


def _without(names: Collection[str], text: str) -> str:
    """A file of Terraform without the blocks of these variables."""
    return BLOCK.sub(lambda match: "" if match["name"] in names else match[0], text)


def _literal(value: str | float) -> str:
    """A value as Terraform writes it."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value) if isinstance(value, int | float) else f'"{value}"'
