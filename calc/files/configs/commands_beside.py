"""Commands that the files of a run give to its scripts, and the machine of their comments."""

import re
import shlex
from contextlib import suppress
from dataclasses import replace
from pathlib import PurePath

from calc.files.configs.commands import ScriptCommand, shell_commands
from calc.files.configs.comments import (
    CONTINUED,
    STARTED,
    commands_in_comments,
    comments_of,
    machine_in_comments,
    script_place,
)
from calc.files.configs.documents import SHELL_FORMS, runs_of_script
from calc.files.configs.inside.pages import is_page, prose_of
from calc.files.configs.inside.programs import known_command
from calc.files.configs.inside.trees import file_form
from calc.files.configs.inside.units import as_script
from calc.files.configs.problem import ConfigProblem
from calc.files.configs.tool_commands import LAUNCH, Reading, launcher_readings

PYTHON = "Python"
VISIBLE = "CUDA_VISIBLE_DEVICES"
OPTIONS = re.compile(r"^#SBATCH[^\n]*", re.M)
MOST_LINES = 60  # of pages beside a script
MOST_RUNS = 4  # of one script
Texts = list[tuple[str, str]]
ENVIRONMENT = re.compile(r"(?:\b[A-Z][A-Z0-9_]*=\S+\s+)*$")  # of a command, in front of it
COMMENTED = re.compile(r"^[ \t]*#[ \t]*(?=(?:torchrun|accelerate|deepspeed|python3?)\b)", re.M)


def with_commands(texts: Texts) -> list[Texts]:
    """The texts (text, file) of each run; a Python script with the command that starts it.

    It stands in its comments, in the place of those that stood there. A script that several
    commands start has a run of each.
    """
    forms = {file: file_form(text, file) for text, file in texts}
    if PYTHON not in forms.values():
        return [texts]
    found = _commands(texts, forms)
    starts = {
        file: [(by_path, source) for words, source in found if (by_path := _by_path(words, file))]
        for file, form in forms.items()
        if form == PYTHON
    }
    script = next((file for file, several in starts.items() if len(several) > 1), "")
    read = [(text, file) for text, file in texts if not (is_page(file) and found)]
    prose = [line for text, file in texts if is_page(file) for line in prose_of(text)]
    if found and prose:
        remarks = "\n".join(f"# {line.strip()}" for line in prose[:MOST_LINES])
        read = [(f"{text}\n{remarks}" if file in starts else text, file) for text, file in read]
    if not script:
        return [[(_of_choice(text, file, starts, None), file) for text, file in read]]
    return [
        [
            (_of_choice(text, file, starts, choice if file in (script, choice[1]) else None), file)
            for text, file in read
        ]
        for choice in starts[script][:MOST_RUNS]
    ]


def _commands(texts: Texts, forms: dict[str, str]) -> list[tuple[list[str], str]]:
    """The commands of shell scripts, each with its file; those of pages where they have none."""
    found: list[tuple[list[str], str]] = []
    for text, file in texts:
        if forms[file] in SHELL_FORMS and not is_page(file):
            with suppress(ConfigProblem):  # said where the script itself is read
                several = shell_commands(as_script(text, forms[file]), file, {})[0]
                found += [(_with_own_gpus(words), file) for words in several]
    pages = [
        (words, file)
        for text, file in texts
        if is_page(file)
        for words in commands_in_comments(text)
    ]
    scripts = [file for file, form in forms.items() if form == PYTHON]
    is_started = any(_by_path(words, file) for words, _ in found for file in scripts)
    return found if is_started else [*found, *pages]


def _of_choice(
    text: str,
    file: str,
    starts: dict[str, list[tuple[list[str], str]]],
    choice: tuple[list[str], str] | None,
) -> str:
    """A text of the run of one command: a script with it, a shell script with it alone."""
    if file in starts:
        own = [choice[0]] if choice else [words for words, _ in starts[file]]
        lines = [f"# {STARTED}{shlex.join(words)}" for words in own]
        return "\n".join([COMMENTED.sub("# as ", text) if own else text, *lines])
    if choice is None:
        return text
    return "\n".join([*OPTIONS.findall(text), shlex.join(choice[0])])


def _with_own_gpus(words: ScriptCommand) -> list[str]:
    """The words of a command behind the cards that it alone sees."""
    visible = words.own.get(VISIBLE)
    return [f"{VISIBLE}={visible}", *words] if visible else list(words)


def _by_path(words: list[str], file: str) -> list[str]:
    """The words of a command that starts a script, also as a module: -m scripts.train; or none."""
    script = PurePath(file)
    for place, word in enumerate(words):
        if PurePath(word).name == script.name:
            return words
        is_module = word == "-m" and words[place + 1 : place + 2]
        if is_module and words[place + 1].rpartition(".")[2] == script.stem:
            return [*words[:place], script.name, *words[place + 2 :]]
    return []


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
    return launchers + machine_of_comments(texts)


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


def machine_of_comments(texts: list[tuple[str, str]]) -> list[Reading]:
    """The line of a comment that names the only machine of the comments of a run."""
    for text, file in texts:
        comments = comments_of(text, file_form(text, file) == PYTHON)
        if found := machine_in_comments(comments):
            return [Reading(file, None, {}, LAUNCH, {"comment": found["comment"]})]
    return []
