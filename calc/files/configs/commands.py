"""Launch commands as words, without comments and with their variables filled in."""

import re
import shlex
from typing import Any

from calc.files.configs.problem import ConfigProblem

ASSIGNED = re.compile(r"(?:export\s+)?([A-Za-z_]\w*)=(.*)", re.S)
VARIABLE = re.compile(r"\$\{(\w+)(?::?[-=]([^{}$]*))?\}|\$(\w+)")
PRODUCT = re.compile(r"\$\(\(\s?(\d{1,9})\s?\*\s?(\d{1,9})\s?\)\)")  # $(($GPUS * $NODES)), its variables filled in
SLURM = re.compile(r"^#SBATCH[ \t]+--?([\w-]+)(?:[= \t]+([^\s#]\S*))?", re.M)
BREAKS = ("&&", "||", ";", "|", "&")
FLAG = re.compile(r"--?[A-Za-z][\w.-]*")


def shell_commands(text: str, file: str, environment: dict[str, str] | None = None) -> tuple[list[list[str]], dict[str, str]]:
    """The commands of a shell text as lists of words, and what its #SBATCH lines say.

    A line that only sets variables is one of the commands too."""
    slurm = {name.replace("-", "_"): value or "true" for name, value in SLURM.findall(text)}
    variables: dict[str, str] = dict(environment or {})
    if "nodes" in slurm:
        variables |= dict.fromkeys(("SLURM_JOB_NUM_NODES", "SLURM_NNODES"), slurm["nodes"])
    commands = []
    for line in re.sub(r"\\\s*\n", " ", text.replace("\r\n", "\n")).split("\n"):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        try:
            lexer = shlex.shlex(_filled(line, variables), posix=True, punctuation_chars="&;|")
            lexer.whitespace_split = True
            words = list(lexer)
        except ValueError:
            raise ConfigProblem(f"{file}: the command '{line.strip()[:60]}' does not end its quotes; close them.") from None
        for command in _split(words):
            assigned: list[str] = []
            while command and (set_here := ASSIGNED.fullmatch(command[0])):
                variables[set_here[1]] = set_here[2]
                assigned, command = [*assigned, command[0]], command[1:]
            commands.append(command or assigned)
    return commands, slurm


def _filled(line: str, variables: dict[str, str]) -> str:
    named = VARIABLE.sub(lambda match: variables.get(match[1] or match[3], match[2] if match[2] is not None else match[0]), line)
    return PRODUCT.sub(lambda match: str(int(match[1]) * int(match[2])), named)


def _split(words: list[str]) -> list[list[str]]:
    parts: list[list[str]] = [[]]
    for word in words:
        if word in BREAKS:
            parts.append([])
        else:
            parts[-1].append(word)
    return [part[1:] if part[:1] == ["export"] else part for part in parts if part]


def fields_of(
    words: list[str], file: str, short: dict[str, str], switches: frozenset[str] = frozenset()
) -> tuple[dict[str, Any], list[str]]:
    """The flags of a command as fields (a flag without a value is true) and its other words.

    `short` maps one-letter and joined names (-tp) to the field; `switches` are flags that take no value.
    """
    fields: dict[str, Any] = {}
    others: list[str] = []
    place = 0
    while place < len(words):
        word, place = words[place], place + 1
        name, equals, value = word.partition("=")
        if not FLAG.fullmatch(name):
            others.append(word)
            continue
        name = short.get(name, name.lstrip("-").replace("-", "_"))
        taken: Any = value
        if not equals:
            values = []
            while name not in switches and place < len(words) and not FLAG.fullmatch(words[place].partition("=")[0]):
                values.append(words[place])
                place += 1
            taken = values[0] if len(values) == 1 else values or True
        if name in fields and fields[name] != taken:
            raise ConfigProblem(f"{file}: --{name} stands twice with two values; keep one of the two.")
        fields[name] = taken
    return fields, others
