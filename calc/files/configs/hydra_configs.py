"""Configs that Hydra composes for a function of a script: defaults, groups, overrides.

Source: Hydra 1.3 documentation, The Defaults List and Basic Override Syntax.
"""

import ast
import re
from pathlib import PurePath
from typing import Any

from calc.files.configs.problem import ConfigProblem
from calc.files.configs.python_calls import merged
from calc.files.configs.python_values import dotted_name
from calc.files.configs.texts import flat, format_of, read_mapping, resolve_references
from calc.files.configs.yaml_text import read_yaml
from calc.mappings import Json, put_at_path

OVERRIDE = re.compile(r"(?P<sign>\+{0,2}|~)(?P<path>[\w.@/-]+)=(?P<value>.*)", re.S)
GLOBAL = re.compile(r"^#\s*@package\s+_global_", re.M)
PREFIXES = ("override ", "optional ")
SELF, DEFAULTS = "_self_", "defaults"
TARGET = "_target_"  # the key that names what a node of a config builds
MOST_FILES = 20
Configs = dict[str, str]  # file -> text


def with_hydra(tree: ast.Module, arguments: list[str], configs: Configs) -> set[str]:
    """Write the composed config into the function that Hydra starts; return the files it takes."""
    used: set[str] = set()
    for function in [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]:
        named = _named_config(function)
        root = _find(named, configs) if named else ""
        if not root or not function.args.args:
            continue
        composition = _Composition(root, arguments, configs)
        values = composition.values()
        default = ast.parse(repr(values), mode="eval").body
        function.args.defaults = [default, *function.args.defaults][: len(function.args.args)]
        _write_instances(tree, function.args.args[0].arg, values)
        folder = PurePath(root).parent
        beside = {file for file in configs if folder in PurePath(file).parents and folder.name}
        used |= composition.used | {file for file in beside if file.endswith((".yaml", ".yml"))}
    return used


def _write_instances(tree: ast.AST, holder: str, values: Json) -> None:
    """Write what instantiate(cfg.optim, ...) builds in the place of that call.

    The node may also stand inside another expression, as one without some of its keys does.
    """
    for call in [node for node in ast.walk(tree) if isinstance(node, ast.Call) and node.args]:
        if dotted_name(call.func).rpartition(".")[2] != "instantiate":
            continue
        paths = [dotted_name(node) for node in ast.walk(call.args[0])]
        chosen = [_node_of(path, holder, values) for path in paths if path]
        node = next((one for one in chosen if TARGET in one), {})
        try:
            call.func = ast.parse(str(node[TARGET]), mode="eval").body
        except (KeyError, SyntaxError):
            continue
        given = {word.arg for word in call.keywords}
        call.args = call.args[1:]
        call.keywords += [
            ast.keyword(key, ast.parse(repr(value), mode="eval").body)
            for key, value in node.items()
            if key != TARGET and key.isidentifier() and key not in given
        ]


def _node_of(path: str, holder: str, values: Json) -> Json:
    """The mapping at a path of a composed config, such as cfg.optim; empty without one."""
    first, *rest = path.split(".")
    node: Any = values if first == holder else {}
    for part in rest:
        node = node.get(part, {}) if isinstance(node, dict) else {}
    return node if isinstance(node, dict) else {}


def _named_config(function: ast.FunctionDef) -> str:
    """The config that the decorator hydra.main names, with its folder; empty without one."""
    for one in function.decorator_list:
        if isinstance(one, ast.Call) and dotted_name(one.func) == "hydra.main":
            given = {word.arg: getattr(word.value, "value", None) for word in one.keywords}
            folder, name = given.get("config_path") or "", given.get("config_name") or "config"
            return f"{folder}/{name}".lstrip("./")
    return ""


def _find(name: str, configs: Configs) -> str:
    """The file of a config by its path, else by its last name; empty where none is here."""
    plain = name.removesuffix(".yaml").removesuffix(".yml")
    ends = (f"/{plain}.yaml", f"/{plain}.yml")
    whole = [file for file in configs if f"/{file}".endswith(ends)]
    last = [file for file in configs if PurePath(file).stem == plain.rpartition("/")[2]]
    return (whole or last or [""])[0]


class _Composition:
    """A config with its defaults, below the overrides of a command."""

    def __init__(self, root: str, arguments: list[str], configs: Configs) -> None:
        self.root, self.configs = root, configs
        self.used: set[str] = set()
        found = [match for word in arguments if (match := OVERRIDE.fullmatch(word))]
        self.overrides = {match["path"]: match["value"] for match in found if match["sign"] != "~"}

    def values(self) -> Json:
        """The composed config, with its references filled in."""
        composed = self._file(self.root, ())
        for path, value in self.overrides.items():
            if path not in self.groups:
                put_at_path(composed, path.split("."), typed(value))
        values: Json = {}
        for path, value in resolve_references(flat(composed, self.root), self.root).items():
            put_at_path(values, path.split("."), value)
        return values

    @property
    def groups(self) -> set[str]:
        """The overrides that choose a file of a group, such as model=large."""
        return {
            path
            for path, value in self.overrides.items()
            if "." not in path and "/" not in value and self._of_group(path, value)
        }

    def _of_group(self, group: str, name: str) -> str:
        """The file of a group's choice; empty where none is here."""
        ends = (f"/{group}/{name}.yaml", f"/{group}/{name}.yml")
        return next((file for file in self.configs if f"/{file}".endswith(ends)), "")

    def _file(self, file: str, package: tuple[str, ...]) -> Json:
        """A file with its defaults, nested below the name of its group."""
        if file in self.used or len(self.used) > MOST_FILES:
            return {}
        self.used.add(file)
        own = mapping_of(file, self.configs)
        listed = own.pop(DEFAULTS, None) or []
        chosen = self.groups if file == self.root else set()
        items = [*listed, *([] if SELF in listed else [SELF])]
        named = {str(key).split("@")[0] for one in items if isinstance(one, dict) for key in one}
        items = [*({group: ""} for group in sorted(chosen - named)), *items]
        values: Json = {}
        for item in items:
            values = merged(values, own if item == SELF else self._default(item, file))
        is_global = bool(GLOBAL.search(self.configs[file]))
        for part in () if is_global else reversed(package):
            values = {part: values}
        return values

    def _default(self, item: Any, file: str) -> Json:
        """The values that an item of a defaults list adds: a file of a group, or one beside."""
        if not isinstance(item, dict):
            name = f"{PurePath(file).parent.name}/{item}".lstrip("/")
            found = _find(name, self.configs)
            return self._file(found, ()) if found else {}
        key, name = next(iter(item.items()))
        for prefix in PREFIXES:
            key = str(key).removeprefix(prefix)
        group, _, place = str(key).partition("@")
        chosen = str(self.overrides[group] if group in self.groups else name or "")
        found = self._of_group(group.strip("/"), chosen) or _find(chosen, self.configs)
        package = tuple(part for part in re.split(r"[./]", place or group) if part)
        return self._file(found, package) if found and chosen else {}


def mapping_of(file: str, configs: Configs) -> Json:
    """A config file as nested mappings; empty where it is none."""
    try:
        return dict(read_mapping(configs[file], file, format_of(configs[file], file)))
    except (ConfigProblem, KeyError):
        return {}


def typed(value: str) -> Any:
    """A word of a command as the value that YAML reads in it."""
    try:
        return read_yaml(value, "") if value else ""
    except ConfigProblem:
        return value
