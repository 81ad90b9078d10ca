"""The flags of commands under the names by which the scripts that they start read them."""

import ast
import re
from functools import partial
from pathlib import PurePath

from calc.files.configs.documents import SHELL_FORMS
from calc.files.configs.inside.trees import file_form
from calc.files.configs.problem import ConfigProblem
from calc.files.configs.python_names import ADDS, flag_name, spellings
from calc.files.configs.python_values import dotted_name, parse_python

PYTHON = "Python"
Texts = list[tuple[str, str]]


def with_long_flags(texts: Texts) -> Texts:
    """The texts (text, file) of a run; commands with the name of each flag of their script.

    -b 8 is --batch 8 where the script adds "-b", "--batch", or --bs 8 where it reads --bs so.
    """
    forms = {file: file_form(text, file) for text, file in texts}
    renamed = {
        file: names
        for text, file in texts
        if forms[file] == PYTHON and ADDS in text and (names := _names_of_flags(text, file))
    }
    return [
        (_renamed(text, renamed), file) if forms[file] in SHELL_FORMS else (text, file)
        for text, file in texts
    ]


def _names_of_flags(text: str, file: str) -> dict[str, str]:
    """The spellings of a script's flags that differ from the name by which it reads them."""
    try:
        tree = parse_python(text, file)
    except ConfigProblem:
        return {}
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call)]
    return {
        flag: f"--{flag_name(call)}"
        for call in calls
        if dotted_name(call.func).rpartition(".")[2] == ADDS
        for flag in spellings(call)
        if flag.lstrip("-").replace("-", "_") != flag_name(call)
    }


def _renamed(text: str, renamed: dict[str, dict[str, str]]) -> str:
    """A shell text whose commands have other names of flags behind the scripts that they start."""
    for file, names in renamed.items():
        start = re.escape(PurePath(file).name)
        command = re.compile(rf"(?<={start})\b(?:\\\r?\n|[^\n;|&])*")
        text = command.sub(partial(_with_names, names), text)
    return text


def _with_names(names: dict[str, str], command: re.Match[str]) -> str:
    """The words behind a script with the names of its flags."""
    flags = "|".join(re.escape(flag) for flag in sorted(names, key=len, reverse=True))
    return re.sub(rf"(?<=\s)(?:{flags})(?=[=\s]|$)", lambda one: names[one[0]], command[0])
