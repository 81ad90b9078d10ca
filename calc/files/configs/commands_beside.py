"""Commands that the files of a run give to its scripts, and the machine of their comments."""

import re
import shlex
from dataclasses import replace
from pathlib import PurePath

from calc.files.configs.commands import shell_commands
from calc.files.configs.comments import (
    CONTINUED,
    commands_in_comments,
    comments_of,
    machine_in_comments,
    script_place,
)
from calc.files.configs.documents import SHELL_FORMS, runs_of_script
from calc.files.configs.inside.programs import known_command
from calc.files.configs.inside.trees import file_form
from calc.files.configs.problem import ConfigProblem
from calc.files.configs.tool_commands import LAUNCH, Reading, launcher_readings

PYTHON = "Python"
ENVIRONMENT = re.compile(r"(?:\b[A-Z][A-Z0-9_]*=\S+\s+)*$")  # of a command, in front of it
COMMENTED = re.compile(r"^[ \t]*#[ \t]*(?=(?:torchrun|accelerate|deepspeed|python3?)\b)", re.M)


def with_commands(texts: list[tuple[str, str]]) -> list[tuple[str, str]]:
    """The texts (text, file) of a run; a Python script with the commands that start it.

    They stand in its comments, in the place of those that stood there.
    """
    forms = {file: file_form(text, file) for text, file in texts}
    commands: list[list[str]] = []
    for text, file in texts:
        if forms[file] in SHELL_FORMS and PYTHON in forms.values():
            try:
                commands += shell_commands(text, file, {})[0]
            except ConfigProblem:
                continue  # said where the script itself is read
    return [
        (_commented(text, file, commands) if forms[file] == PYTHON else text, file)
        for text, file in texts
    ]


def _commented(text: str, file: str, commands: list[list[str]]) -> str:
    """A script with the commands that name it as comments behind it."""
    name = PurePath(file).name
    own = [words for words in commands if any(PurePath(word).name == name for word in words)]
    lines = [f"# {shlex.join(words)}" for words in own]
    return "\n".join([COMMENTED.sub("# as ", text) if own else text, *lines])


def said_in_comments(texts: list[tuple[str, str]], readings: list[Reading]) -> list[Reading]:
    """The launcher of a config in its comments, if no file counts GPUs, and the machine there."""
    launchers: list[Reading] = []
    for text, file in [] if any(map(_counts_gpus, readings)) else texts:
        form = file_form(text, file)
        comments = comments_of(text, form == PYTHON)
        commands = commands_in_comments(comments)
        if form not in SHELL_FORMS and len(commands) == 1:
            launchers += launcher_readings(commands[0][: script_place(commands[0])], file)
        elif form not in (*SHELL_FORMS, PYTHON):
            launchers += _launcher_of_tool(comments, file)
    return launchers + _machine_in_comments(texts)


def _launcher_of_tool(comments: str, file: str) -> list[Reading]:
    """The GPUs of the only command of a tool in comments: NPROC_PER_NODE=8 swift sft a.yaml."""
    lines = CONTINUED.sub(" ", comments).splitlines()
    commands = {command for line in lines if (command := _command_of_tool(line))}
    try:
        runs = runs_of_script(commands.pop(), file) if len(commands) == 1 else []
    except ConfigProblem:
        return []
    return [
        replace(
            reading,
            fields={name: reading.fields[name] for name in reading.fields if name != "config"},
        )
        for reading in (runs[0] if runs else [])
        if _counts_gpus(reading)
    ]


def _command_of_tool(line: str) -> str:
    """The command of a tool in a line, with the variables in front of it; empty without one."""
    match = known_command().search(line)
    if not match:
        return ""
    variables = ENVIRONMENT.search(line[: match.start()])
    return f"{variables[0] if variables else ''}{line[match.start() :].partition('`')[0]}"


def _counts_gpus(reading: Reading) -> bool:
    """Return whether a reading says how many GPUs or nodes a run has."""
    fields = reading.tool.fields if reading.tool else {}
    parts = {fields[name].to for name in reading.fields if name in fields} | reading.parts.keys()
    return bool(parts & {"gpus", "gpus_per_node", "nodes", "asked_gpus", "tasks_per_node"})


def _machine_in_comments(texts: list[tuple[str, str]]) -> list[Reading]:
    """The line of a comment that names the only machine of the comments of a run."""
    for text, file in texts:
        comments = comments_of(text, file_form(text, file) == PYTHON)
        if found := machine_in_comments(comments):
            return [Reading(file, None, {}, LAUNCH, {"comment": found["comment"]})]
    return []
