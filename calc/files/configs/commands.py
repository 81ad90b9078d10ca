"""Launch commands as lists of words: comments removed, variables filled in."""

import ast
import operator
import re
import shlex
from itertools import groupby, takewhile
from typing import Any

from calc.files.configs.problem import ConfigProblem

ASSIGNED = re.compile(r"(?:export\s+)?([A-Za-z_]\w*)=(.*)", re.S)
VARIABLE = re.compile(r"\$\{([A-Za-z_]\w*)(?::?[-=]([^{}]*))?\}|\$([A-Za-z_]\w*)")
COMPUTED = re.compile(
    r"\$\(\(([\w\s+*/%()-]{1,200})\)\)|\$\(expr ([\w\s+*/%-]{1,200})\)"
)  # $((GPUS * NODES)) and $(expr 16 / 2), once variables with a $ are filled in
SET_IF_UNSET = re.compile(r"\$\{([A-Za-z_]\w*):?=([^{}]*)\}")
OPERATORS = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.floordiv,
    ast.Mod: operator.mod,
}
ARRAY = re.compile(
    r"^[ \t]*([A-Za-z_]\w*)\+?=\(\s*\n(.*?)^[ \t]*\)", re.M | re.S
)  # ARGS=( ... ), a line each
ELEMENTS = re.compile(r"\"?\$\{(\w+)\[[@*]\]\}\"?")
HERE = re.compile(
    r"^[ \t]*read[ \t][^\n]*?(\w+)[ \t]*<<-?[ \t]*['\"]?(\w+)['\"]?\n(.*?)^[ \t]*\2[ \t]*$",
    re.M | re.S,
)
PASSED_ON = ("$@", "$*")  # what the script itself was given
SLURM = re.compile(r"^#SBATCH[ \t]+--?([\w-]+)(?:[= \t]+([^\s#]\S*))?", re.M)
BREAKS = ("&&", "||", ";", "|", "&")
OVERRIDE = re.compile(
    r"[+~]*[A-Za-z_][\w.]*="
)  # a word after a flag's value that sets a field (tune run --config NAME batch_size=4)
FLAG = re.compile(r"--?[A-Za-z][\w.-]*")
ENDS = "--"  # between a launcher and what it launches
DEEPEST_DEFAULT = 8  # of ${A:-${B:-1}}


def shell_commands(
    text: str, file: str, environment: dict[str, str] | None = None
) -> tuple[list[list[str]], dict[str, str], dict[str, str]]:
    """The commands of a shell script as words, its #SBATCH options, and its variables.

    A line that only sets variables counts as a command.
    """
    slurm = {name.replace("-", "_"): value or "true" for name, value in SLURM.findall(text)}
    variables = dict(SET_IF_UNSET.findall(text)) | (environment or {})
    if "nodes" in slurm:
        variables |= dict.fromkeys(("SLURM_JOB_NUM_NODES", "SLURM_NNODES"), slurm["nodes"])
    commands = []
    for line in _joined(text.replace("\r\n", "\n"), variables).split("\n"):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        try:
            lexer = shlex.shlex(_filled(line, variables), posix=True, punctuation_chars="&;|")
            lexer.whitespace_split = True
            words = [word for word in lexer if word not in PASSED_ON]
        except ValueError:
            raise ConfigProblem(
                f"{file}: the command '{line.strip()[:60]}' leaves a quote open; close it."
            ) from None
        for command in _split(words):
            assigned: list[str] = []
            while command and (assignment := ASSIGNED.fullmatch(command[0])):
                variables[assignment[1]] = assignment[2]
                assigned, command = [*assigned, command[0]], command[1:]
            commands.append(command or assigned)
    return commands, slurm, variables


def _joined(text: str, variables: dict[str, str]) -> str:
    """A script with a command on each line; arrays and here-documents become variables."""
    for block in (HERE, ARRAY):
        for match in block.finditer(text):
            lines = (
                line.strip().removesuffix("\\")
                for line in match[block.groups].split("\n")
                if not line.lstrip().startswith("#")
            )
            variables[match[1]] = " ".join(lines)
        text = block.sub("", text)
    return re.sub(r"\\\s*\n", " ", text)


def _filled(line: str, variables: dict[str, str]) -> str:
    """A line with its variables, or their defaults, and whole-number arithmetic written out."""
    line = ELEMENTS.sub(lambda match: variables.get(match[1], match[0]), line)
    for _ in range(DEEPEST_DEFAULT):
        before, line = (
            line,
            VARIABLE.sub(
                lambda match: variables.get(
                    match[1] or match[3], match[2] if match[2] is not None else match[0]
                ),
                line,
            ),
        )
        line = COMPUTED.sub(lambda match: _computed(match, variables), line)
        if line == before:
            break
    return line


def _computed(match: re.Match, variables: dict[str, str]) -> str:
    """The number that an arithmetic expansion gives; as it stands where a name has no number."""
    words = re.sub(
        r"[A-Za-z_]\w*", lambda name: variables.get(name[0], name[0]), match[1] or match[2]
    )
    try:
        return str(_number(ast.parse(words.strip(), mode="eval").body))
    except (KeyError, TypeError, SyntaxError, ZeroDivisionError, RecursionError):
        return match[0]


def _number(node: Any) -> int:
    if isinstance(node, ast.BinOp):
        return OPERATORS[type(node.op)](_number(node.left), _number(node.right))
    if isinstance(node, ast.Constant) and isinstance(node.value, int):
        return node.value
    raise TypeError


def _split(words: list[str]) -> list[list[str]]:
    """The commands between shell operators."""
    commands = [
        list(group) for operator, group in groupby(words, BREAKS.__contains__) if not operator
    ]
    return [command[1:] if command[0] == "export" else command for command in commands]


def fields_of(
    words: list[str], file: str, short: dict[str, str], switches: frozenset[str] = frozenset()
) -> tuple[dict[str, Any], list[str]]:
    """The flags of a command as fields, true where a flag has no value, and its other words.

    `short` maps abbreviated flags (-tp) to the field; `switches` are flags that take no value.
    """
    fields: dict[str, Any] = {}
    others: list[str] = []
    place = 0
    while place < len(words):
        word, place = words[place], place + 1
        name, equals, value = word.partition("=")
        if not FLAG.fullmatch(name):
            others += [word] if word != ENDS else []
            continue
        name = short.get(name, name.lstrip("-").replace("-", "_"))
        setting: Any = value
        if not equals:
            values = (
                []
                if name in switches
                else list(
                    takewhile(
                        lambda word: word != ENDS and not FLAG.fullmatch(word.partition("=")[0]),
                        words[place:],
                    )
                )
            )
            place += len(values)
            others += [value for value in values[1:] if OVERRIDE.match(value)]
            values = values[:1] + [value for value in values[1:] if not OVERRIDE.match(value)]
            setting = values[0] if len(values) == 1 else values or True
        if fields.setdefault(name, setting) != setting:
            raise ConfigProblem(f"{file}: --{name} has two values; keep one of them.")
    return fields, others
