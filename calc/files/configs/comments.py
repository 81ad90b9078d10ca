"""Comments of a file: the command that starts a script, and the machine that they name."""

import ast
import re
import shlex

from calc.files.configs.inside.cards import cards_in
from calc.files.configs.inside.machine_facts import INSTANCE
from calc.files.configs.inside.programs import RUNS_SCRIPT
from calc.files.configs.own_scripts import does_other_work
from calc.files.configs.problem import ConfigProblem
from calc.files.configs.python_values import parse_python
from calc.mappings import Json

COMMENT = re.compile(r"(?:^|(?<=[ \t]))#(?!SBATCH|!)[ \t]?(.*)$", re.M)
CONTINUED = re.compile(r"\\\s*\n\s*(?:#\s*)?")
MOST_CHARACTERS = 20_000  # of comments
STARTED = "started as "  # before the command that another file of a run gives a script
LONGEST_LINE = 200  # characters


def comments_of(text: str, is_python: bool) -> str:
    """The comments of a text, and the text at the top of a Python script."""
    comments = "\n".join(COMMENT.findall(text))
    if not is_python:
        return comments[:MOST_CHARACTERS]
    try:
        tree = parse_python(text, "")
    except ConfigProblem:
        return ""
    return f"{ast.get_docstring(tree) or ''}\n{comments}"[:MOST_CHARACTERS]


def commands_in_comments(comments: str) -> list[list[str]]:
    """The commands, as words, that comments give for starting a script that trains."""
    found: dict[str, list[str]] = {}
    lines = CONTINUED.sub(" ", comments).splitlines()
    for line in [one for one in lines if one.startswith(STARTED)] or lines:
        match = RUNS_SCRIPT.search(line)
        command = line[match.start() :].partition("`")[0] if match else ""
        try:
            words = shlex.split(command)
        except ValueError:
            continue
        scripts = [word for word in words if word.endswith(".py")]
        if scripts and not does_other_work(scripts[0]):
            found[" ".join(words)] = words
    return list(found.values())


def script_place(command: list[str]) -> int:
    """The place of the script among the words of a command; behind them where there is none."""
    return next((at for at, word in enumerate(command) if word.endswith(".py")), len(command))


def machine_in_comments(comments: str) -> Json:
    """The only instance or card that comments name, with its number and the line that says so."""
    lines = [line[:LONGEST_LINE] for line in comments.splitlines()]
    instances = {(name, line) for line in lines for name in INSTANCE.findall(line)}
    cards = {(card, number, line) for line in lines for card, number in cards_in(line)}
    if len({name for name, _ in instances}) == 1:
        name, line = instances.pop()
        return {"instance": name, "comment": line.strip()}
    numbered = sorted(cards, key=lambda card: card[1] or 0)
    if instances or len({card for card, _, _ in cards}) != 1:
        return {}
    card, number, line = numbered[-1]
    return {"gpu": card, "comment": line.strip()} | ({"asked_gpus": number} if number else {})
