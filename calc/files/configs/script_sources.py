"""A Python script with what stands beside it written into it: modules, configs, its command."""

import ast
import re
from contextlib import suppress
from pathlib import PurePath
from typing import NamedTuple

from calc.files.configs.command_environment import (
    STARTS,
    processes_of,
    with_environment,
    with_variable_names,
)
from calc.files.configs.command_parameters import with_parameters
from calc.files.configs.commands import shell_commands
from calc.files.configs.comments import commands_in_comments, comments_of, script_place
from calc.files.configs.documents import SHELL_FORMS
from calc.files.configs.hydra_configs import with_hydra
from calc.files.configs.inside.trees import file_form
from calc.files.configs.loaded_configs import with_loads
from calc.files.configs.manifests_beside import starts_script, variables_of_manifest
from calc.files.configs.problem import ConfigProblem
from calc.files.configs.python_flow import with_set_items
from calc.files.configs.python_values import parse_python

PYTHON = "Python"
CONFIGS = ("YAML", "JSON", "TOML")
TAKES_WORDS = re.compile(
    r"hydra\.main|OmegaConf\.from_cli|\bFire\(|\bexec\(open\(|typer|tyro|CLI\("
)  # how a script takes the words of its command, if not as flags
EXECUTED = re.compile(r"\bexec\(open\(['\"](?:[\w./-]*/)?([\w-]+\.py)['\"]")
MOST_CALLS = 3_000  # in a script that is read together with the files beside it
MOST_MODULES = 12  # that a script imports from the files beside it
Texts = list[tuple[str, str]]


class RunScript(NamedTuple):
    """A script among the files of a run: its tree, its command's words, and the files beside it."""

    tree: ast.Module
    file: str
    arguments: list[str]  # behind the script in the command that starts it
    configs: dict[str, str]  # file -> text
    constants: dict[str, ast.Module]  # the files beside it that set names alone
    environment: dict[str, str]  # variables that its launcher or a shell script sets


def with_sources(texts: Texts) -> Texts:
    """The texts (text, file) of a run; its Python scripts with what they take from other files.

    A module that a script imports and a config that it loads are then no files of their own.
    """
    forms = {file: file_form(text, file) for text, file in texts}
    trees = {file: tree for text, file in texts if (tree := _tree(text, file, forms[file]))}
    if not trees:
        return texts
    modules = {file: _imported(tree, file, trees) for file, tree in trees.items()}
    imported = {one for several in modules.values() for one in several}
    configs = {file: text for text, file in texts if forms[file] in CONFIGS}
    environment = _environment(texts, forms)
    taken: set[str] = set()
    written: dict[str, str] = {}
    settled: list[str] = []  # scripts whose words stand in them now
    for text, file in texts:
        if file in trees and file not in imported:
            script = _script(text, file, trees, modules, configs, environment)
            settled += [file] if _takes_words(script.tree) else []
            written[file], used = _written(script, text)
            taken |= used | set(_reached(file, modules)) | _executed(script.tree, trees)
    left = [(written.get(file, text), file) for text, file in texts if file not in taken]
    left = [
        (_without_words(text, settled) if forms[file] in SHELL_FORMS else text, file)
        for text, file in left
    ]
    return [(text, file) for text, file in left if not _is_idle(file, configs, texts, taken)]


def _executed(tree: ast.Module, trees: dict[str, ast.Module]) -> set[str]:
    """The scripts that one executes as its own lines, as nanoGPT its configurator."""
    names = set(EXECUTED.findall(ast.unparse(tree)))
    return {file for file in trees if PurePath(file).name in names}


def _takes_words(tree: ast.Module) -> bool:
    """Return whether a script takes the words of its command in a way that is written into it."""
    return bool(TAKES_WORDS.search(ast.unparse(tree)))


def _without_words(text: str, scripts: list[str]) -> str:
    """A shell text in which nothing stands behind the scripts that it starts."""
    for script in scripts:
        start = re.escape(PurePath(script).name)
        text = re.sub(rf"({start}\b['\"]?)(?:\\\r?\n|[^\n;|&])*", r"\1", text)
    return text


def _is_idle(file: str, configs: dict[str, str], texts: Texts, taken: set[str]) -> bool:
    """Return whether a config is named nowhere where another one of its kind is loaded or named."""
    alike = [one for one in configs if PurePath(one).suffix == PurePath(file).suffix]
    if file not in configs or len(alike) < 2 or file in taken:
        return False
    said = [text for text, other in texts if other not in configs]
    named = [one for one in alike if one in taken or _is_named(one, said)]
    return bool(named) and file not in named


def _is_named(file: str, texts: list[str]) -> bool:
    """Return whether a line of the texts that is no comment names a file."""
    name = PurePath(file).name
    return any(
        name in line
        for text in texts
        if name in text
        for line in text.splitlines()
        if not line.lstrip().startswith("#") or STARTS.search(line)
    )


def _tree(text: str, file: str, form: str) -> ast.Module | None:
    """The syntax tree of a script; None for another file, what is no Python, or a huge one."""
    try:
        is_read = form == PYTHON and text.count("(") <= MOST_CALLS
        return parse_python(text, file) if is_read else None
    except ConfigProblem:
        return None


def _imported(tree: ast.Module, file: str, trees: dict[str, ast.Module]) -> list[str]:
    """The other scripts of a run that one imports, by the last part of the module's name."""
    names = {
        name
        for node in ast.walk(tree)
        if isinstance(node, ast.Import | ast.ImportFrom)
        for name in _module_names(node)
    }
    return [other for other in trees if other != file and PurePath(other).stem in names]


def _module_names(node: ast.Import | ast.ImportFrom) -> list[str]:
    """The last parts of the names of modules that a statement may import."""
    names = [one.name for one in node.names]
    if isinstance(node, ast.ImportFrom):
        names = [*(names if not node.module or node.level else []), node.module or ""]
    return [name.rpartition(".")[2] for name in names]


def _reached(file: str, modules: dict[str, list[str]]) -> list[str]:
    """The modules that a script imports, also by way of others, the innermost first."""
    found: list[str] = []

    def visit(one: str, above: tuple[str, ...]) -> None:
        for module in modules.get(one, []):
            if module not in (*above, *found) and len(found) < MOST_MODULES:
                visit(module, (*above, one))
                found.append(module)

    visit(file, (file,))
    return [one for one in found if one != file]


def _script(
    text: str,
    file: str,
    trees: dict[str, ast.Module],
    modules: dict[str, list[str]],
    configs: dict[str, str],
    environment: dict[str, str],
) -> RunScript:
    """A script behind its modules, with the words of the command that starts it."""
    comments = comments_of(text, is_python=True)
    commands = commands_in_comments(comments)
    command = commands[0] if commands else [file]
    arguments = command[script_place(command) + 1 :]
    processes = processes_of(command[: script_place(command)], comments)
    before = [node for one in _reached(file, modules) for node in _definitions(trees[one])]
    tree = ast.Module([*before, *trees[file].body], [])
    others = {other: one for other, one in trees.items() if other != file and _sets_names(one)}
    return RunScript(tree, file, arguments, configs, others, processes | environment)


def _environment(texts: Texts, forms: dict[str, str]) -> dict[str, str]:
    """The variables that the shell scripts and the manifests of a run set."""
    found: dict[str, str] = {}
    for text, file in texts:
        with suppress(ConfigProblem):
            found |= shell_commands(text, file, {})[2] if forms[file] in SHELL_FORMS else {}
    for text, file in texts:
        if forms[file] == "YAML" and starts_script(text, list(forms)):
            found |= variables_of_manifest(text, file)
    return {
        name: value
        for name, value in found.items()
        if value and ("$" not in value or value == f"${{{name}}}")
    }


def _sets_names(tree: ast.Module) -> bool:
    """Return whether a script does nothing but set names."""
    told = (ast.Assign, ast.AnnAssign, ast.Expr)
    return bool(tree.body) and all(isinstance(node, told) for node in tree.body)


def _definitions(tree: ast.Module) -> list[ast.stmt]:
    """The statements of a module without those that run only where it is the script itself."""
    return [
        node
        for node in tree.body
        if not (isinstance(node, ast.If) and "__name__" in ast.unparse(node.test))
    ]


def _written(script: RunScript, text: str) -> tuple[str, set[str]]:
    """The text of a script with what it takes from elsewhere, and the files that it takes."""
    before = ast.dump(script.tree)
    with_set_items(script.tree)
    used = with_hydra(script.tree, script.arguments, script.configs)
    with_variable_names(script.tree)
    with_environment(script.tree, script.environment)
    used |= with_loads(script.tree, [script.file, *script.arguments], script.configs)
    used |= with_parameters(script.tree, script.arguments, script.constants)
    is_same = len(before) == len(ast.dump(script.tree)) and before == ast.dump(script.tree)
    if is_same and len(script.tree.body) == len(parse_python(text, script.file).body):
        return text, used
    remarks = "\n".join(f"# {line}" for line in comments_of(text, is_python=True).splitlines())
    return f"{ast.unparse(ast.fix_missing_locations(script.tree))}\n{remarks}", used
