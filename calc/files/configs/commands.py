"""Launch commands as lists of words: comments removed, variables filled in."""

import ast
import operator
import re
import shlex
from collections.abc import Callable, Iterator
from itertools import groupby, islice
from typing import Any

from calc.files.configs.branches import Branches, Part
from calc.files.configs.flags import ENDS
from calc.files.configs.loops import Loops, first_values
from calc.files.configs.problem import (
    LONGEST_SCRIPT,
    LONGEST_VALUE,
    MOST_COMMANDS,
    MOST_WORDS,
    ConfigProblem,
)
from calc.files.configs.shell_arrays import ARRAY, ARRAY_BEGIN, ARRAY_LINE, closing_line
from calc.files.configs.slurm import slurm_options, slurm_variables
from calc.files.configs.substitutions import EVERY_GPU, substituted

ASSIGNED = re.compile(r"(?:export\s+)?([A-Za-z_]\w*)=(.*)", re.S)
INNER = r"(?:[^{}]|\$\{\w{1,100}\})"  # of a default: ${A:-${B}/models/x}
VARIABLE = re.compile(
    rf"\$\{{(?P<braced>[A-Za-z_]\w*|\d(?=:?[-=]))"
    rf"(?:(?P<colon>:?)[-=](?P<default>{INNER}{{0,500}}))?\}}"
    r"|\$(?P<plain>[A-Za-z_]\w*)"
)
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
MOST_REMARKS = 20  # of a line that are looked at
BEGINS_REMARK = re.compile(r"(?:(?<=[ \t;|&])|^)#")
REMARK = re.compile(r"(?<=\s)#(?!\w+=).*$")  # behind the words of a line
ELEMENTS = re.compile(r"\"\$\{(\w+)\[[@*]\]\}\"|\$\{(\w+)\[[@*]\]\}")
HERE = re.compile(
    r"[ \t]*read[ \t].{0,200}?\b(?P<name>\w{1,100})[ \t]*<<-?[ \t]*['\"]?(?P<mark>\w{1,100})['\"]?"
)
BLOCK = re.compile(r"\0(?P<name>\w+)\0(?P<adds>\+?)\0(?P<words>.*)", re.S)  # an array, in its place
LOCATED = re.compile(r"\$\((?:which|command -v) ([\w./-]+)\)")  # $(which trl)
POSITIONAL = re.compile(r"\$\{?\d\}?")  # which leaves the default of an option as it is
PASSED_ON = ("$@", "$*")  # what the script itself was given
BREAKS = ("&&", "||", ";", "|", "&")
ENDS_BRANCH = ";;"  # of a case statement
CONTINUED = re.compile(r"\\[ \t]*\n")
COMMENT_LINE = re.compile(r"(?:(?<=\n)|\A)[ \t]*#(?!SBATCH)[^\n]*")  # goes on nowhere
REDIRECTED = re.compile(r"(?:\d|&)?(?:>>?|<)(?P<target>.*)")  # > server.log, 2>/dev/null
JOINS_OUTPUT = re.compile(r"(?<=\s)\d?>&\d?|(?<=\s)&(?=>)")  # 2>&1, &> server.log
ESCAPED_AND = r"\&\&"  # within the arguments of a launcher that hands a command on
OPENED = re.compile(r"(?:^|[\s=])['\"]")  # where a quotation begins; an apostrophe does not
MOST_OPEN = 400  # lines that a quotation may go on for
DEEPEST_DEFAULT = 8  # of ${A:-${B:-1}}
LONGEST_NUMBER, MOST_NUMBER = 40, 10**18  # characters of a variable in a sum; its value
SHELLS = ("sh", "bash", "zsh")
REMOTE = ("ssh", "pdsh", "mpssh")  # run a script that is one word on other machines
SCRIPT_OPTION = re.compile(r"-[a-z]{0,3}c")  # bash -lc "..."
DEEPEST_SCRIPT = 3


class ScriptCommand(list[str]):
    """The words of a command; `own`: the variables set for it alone (CUDA_VISIBLE_DEVICES=0 x).

    `test`: what must hold for it to run, where nothing in the script decides that. `loops`: those
    that it stands in.
    """

    def __init__(self, words: list[str], own: dict[str, str]) -> None:
        super().__init__(words)
        self.own, self.test, self.loops = own, "", ""


def shell_commands(
    text: str, file: str, environment: dict[str, str] | None = None, depth: int = 0
) -> tuple[list[ScriptCommand], dict[str, str], dict[str, str]]:
    """The commands of a shell script as words, its #SBATCH options, and its variables.

    A line that only sets variables counts as a command. `depth`: of scripts within commands, as of
    srun bash -c "torchrun train.py", whose launcher stands before each of their commands.
    """
    if len(text) > LONGEST_SCRIPT:
        raise ConfigProblem(
            f"{file} has more than {LONGEST_SCRIPT:,} characters; give the launch command alone."
        )
    slurm = slurm_options(text)
    variables = dict(SET_IF_UNSET.findall(text)) | (environment or {}) | slurm_variables(slurm)
    lines = _one_command_per_line(text.replace("\r\n", "\n"), variables).split("\n")
    branches, loops, placed = Branches(), Loops(), set[str]()
    commands: list[ScriptCommand] = []
    words_left = MOST_WORDS
    for words in _lines_as_words(lines, variables, placed, branches, file):
        words_left -= len(words)
        if words_left < 0 or len(commands) > MOST_COMMANDS:
            raise ConfigProblem(
                f"{file} has more than {MOST_COMMANDS:,} commands or {MOST_WORDS:,} words; give "
                f"the launch command alone."
            )
        for before, part in _split(words):
            command = without_redirections(branches.taken(before, loops.body(part)))
            for one in _commands_of(command, variables, placed, file, depth):
                one.test = one.test or branches.undecided
                one.loops = one.loops or loops.text
                commands.append(one)
    return commands, slurm, variables


def _lines_as_words(
    lines: list[str],
    variables: dict[str, str],
    placed: set[str],
    branches: Branches,
    file: str,
) -> Iterator[list[str]]:
    """Yield the words of each line, or of the lines of a quotation; set the arrays between them.

    A line is read when the commands before it have set their variables.
    """
    place = 0
    while place < len(lines):
        line, place = lines[place], place + 1
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        if block := BLOCK.fullmatch(line):
            _place_array(block, variables, placed, branches.runs)
            continue
        words = _words(line, variables, file)
        if words is None:
            line, place = _closed(lines, place)
            words = _words(line, variables, file)
        if words is None and OPENED.search(line):
            raise ConfigProblem(
                f"{file}: the command '{line.strip()[:60]}' leaves a quote open; close it."
            )
        yield words or []  # a sentence with an apostrophe has none


def _commands_of(
    words: list[str], variables: dict[str, str], placed: set[str], file: str, depth: int
) -> list[ScriptCommand]:
    """Set the variables that a command begins with; return it, or those of the script it runs."""
    command = words[1:] if words[:1] == ["export"] else words
    own: dict[str, str] = {}
    assignments = 0
    while assignments < len(command) and (name := ASSIGNED.fullmatch(command[assignments])):
        if not POSITIONAL.fullmatch(name[2]) or name[1] not in variables:
            variables[name[1]] = own[name[1]] = name[2]
        placed.add(name[1])
        assignments += 1
    assigned, command = command[:assignments], command[assignments:]
    launcher, script = _inner_script(command)
    if script and depth < DEEPEST_SCRIPT:
        inner, _, _ = shell_commands(script, file, variables, depth + 1)
        return [ScriptCommand([*launcher, *one], one.own | own) for one in inner]
    # A command of export alone is none.
    return [ScriptCommand(command or assigned, own)] if command or assigned else []


def _inner_script(words: list[str]) -> tuple[list[str], str]:
    """The words before a shell, and the script that it is given; both empty without a script."""
    for place, word in enumerate(words):
        if word == "eval":
            return words[:place], " ".join(words[place + 1 :])
        if word in REMOTE:
            return words[:place], next((one for one in words[place:] if " " in one.strip()), "")
        is_shell = word.rpartition("/")[2] in SHELLS
        if is_shell and SCRIPT_OPTION.fullmatch(" ".join(words[place + 1 : place + 2])):
            return words[:place], " ".join(words[place + 2 : place + 3])
    return [], ""


def _words(line: str, variables: dict[str, str], file: str) -> list[str] | None:
    """The words of a line with its variables filled in; None where a quote is left open."""
    plain = _without_remark(line)
    variables |= first_values(substituted(_fill_variables(plain, variables, file), variables))
    filled = JOINS_OUTPUT.sub(" ", _fill_variables(plain, variables, file))
    filled = substituted(LOCATED.sub(r"\1", filled), variables).replace(ESCAPED_AND, ENDS)
    lexer = shlex.shlex(filled, posix=True, punctuation_chars="&;|")
    lexer.whitespace_split = True
    lexer.commenters = ""  # # within a word is none: LaTeX_OCR#1000
    try:
        return [word for word in lexer if word not in PASSED_ON]
    except ValueError:
        return None


def _without_remark(line: str) -> str:
    """A line without what stands behind a # that begins a word outside of quotes."""
    for match in islice(BEGINS_REMARK.finditer(line), MOST_REMARKS):
        if is_closed(line[: match.start()]):
            return line[: match.start()]
    return line


def _closed(lines: list[str], place: int) -> tuple[str, int]:
    """The line before a place with those that close its quotation, and the place after them.

    A quotation that nothing closes ends with its line.
    """
    whole = lines[place - 1]
    for after in range(place, min(place + MOST_OPEN, len(lines))):
        whole = f"{whole}\n{lines[after]}"
        if is_closed(whole):
            return whole, after + 1
    return lines[place - 1], place


def is_closed(text: str) -> bool:
    """Return whether every quotation in a shell text is closed."""
    try:
        shlex.split(text)
    except ValueError:
        return False
    return True


def without_redirections(words: list[str]) -> list[str]:
    """The words of a command without where its output goes: > server.log, 2>&1."""
    left: list[str] = []
    is_target = False
    for word in words:
        match = REDIRECTED.fullmatch(word)
        if not match and not is_target:
            left.append(word)
        is_target = match is not None and not match["target"]
    return left


def _one_command_per_line(text: str, variables: dict[str, str]) -> str:
    """A script with a command on each line; arrays and here-documents become variables."""
    lines = text.split("\n")
    ends = _last_places(lines)
    left: list[str] = []
    place = 0
    while place < len(lines):
        line, place = lines[place], place + 1
        if whole := ARRAY_LINE.fullmatch(line):
            left.append(_set_array(variables, whole, [whole["words"]]))
            continue
        begun = ARRAY_BEGIN.fullmatch(line)
        if begun and (end := closing_line(lines, place - 1)):
            words = "\n".join([begun["words"], *lines[place:end]]).rpartition(")")[0]
            left.append(_set_array(variables, begun, words.split("\n")))
            place = end
            continue
        here, array = HERE.fullmatch(line), ARRAY.fullmatch(line)
        mark = here["mark"] if here else ")"
        block = here or array
        if block is None or ends.get(mark, -1) < place:  # no block, or one that nothing ends
            left.append(line)
            continue
        inside = []
        while not _ends(lines[place], mark):
            inside.append(lines[place])
            place += 1
        left += [
            _set_array(variables, block, inside),
            lines[place].strip().removeprefix(mark),
        ]
        place += 1
    return CONTINUED.sub(" ", COMMENT_LINE.sub("", "\n".join(left)))


def _set_array(variables: dict[str, str], block: re.Match[str], lines: list[str]) -> str:
    """The line that stands for an array or a here-document, whose variable is set to its words.

    A function may use it above its place; NAME+=( ... ) adds to it.
    """
    words = " ".join(
        REMARK.sub("", f" {line}").strip().removesuffix("\\")
        for line in lines
        if not line.lstrip().startswith("#")
    )
    adds = block.groupdict().get("adds") or ""
    before = variables.get(block["name"], "") if adds else ""
    if len(before) + len(words) > LONGEST_VALUE:
        return ""
    variables[block["name"]] = f"{before} {words}".strip()
    return f"\0{block['name']}\0{adds}\0{words}"


def _place_array(
    block: re.Match[str], variables: dict[str, str], placed: set[str], runs: bool
) -> None:
    """Set an array where the script does; without its words in a branch that does not run."""
    name = block["name"]
    before = variables.get(name, "") if name in placed else ""
    if runs:
        variables[name] = f"{before if block['adds'] else ''} {block['words']}".strip()
        placed.add(name)
    elif name not in placed:
        variables[name] = ""


def _ends(line: str, mark: str) -> bool:
    """Return whether a line ends a block: it is the closing word, or starts with the bracket."""
    return line.lstrip(" \t").startswith(")") if mark == ")" else line.strip(" \t") == mark


def _last_places(lines: list[str]) -> dict[str, int]:
    """Return the number of the last line with each text; `)` is any line that begins with it."""
    places = {}
    for place, line in enumerate(lines):
        text = line.strip(" \t")
        places[")" if text.startswith(")") else text] = place
    return places


def _fill_variables(line: str, variables: dict[str, str], file: str) -> str:
    """A line with its variables, or their defaults, and whole-number arithmetic written out."""
    line = _replace_matches(
        ELEMENTS, line, file, lambda match: variables.get(match[1] or match[2], "")
    )
    for _ in range(DEEPEST_DEFAULT):
        before = line
        line = _replace_matches(
            VARIABLE,
            line,
            file,
            lambda match: variable_value(match, variables),
        )
        line = COMPUTED.sub(lambda match: _arithmetic_value(match, variables), line)
        if line == before:
            break
    return line


def variable_value(match: re.Match[str], variables: dict[str, str]) -> str:
    """The value of a variable, else its default; ${A:-b} takes that for an empty one too."""
    value = variables.get(match["braced"] or match["plain"])
    if value is None or (not value and match["colon"]):
        return match[0] if match["default"] is None else str(match["default"])
    return value


def _replace_matches(
    pattern: re.Pattern, line: str, file: str, value_of: Callable[[re.Match], str]
) -> str:
    """A line with the value of each match; raises ConfigProblem where it is too long."""
    parts, place, length = [], 0, len(line)
    for match in pattern.finditer(line):
        value = value_of(match)
        length += len(value) - len(match[0])
        if length > LONGEST_VALUE:
            break
        parts += [line[place : match.start()], value]
        place = match.end()
    if length > LONGEST_VALUE:
        raise ConfigProblem(
            f"{file}: the command '{line.strip()[:60]}' has more than {LONGEST_VALUE:,} characters "
            f"once its variables are filled in; give the launch command alone."
        )
    return "".join([*parts, line[place:]])


def _arithmetic_value(match: re.Match, variables: dict[str, str]) -> str:
    """The number that an arithmetic expansion gives; as it stands where a name has no number."""

    def number_of(name: re.Match) -> str:
        value = variables.get(name[0], "")
        return value if 0 < len(value) <= LONGEST_NUMBER else name[0]

    words = re.sub(r"[A-Za-z_]\w*", number_of, match[1] or match[2])
    try:
        number = _number(ast.parse(words.strip(), mode="eval").body)
        return str(number) if abs(number) < MOST_NUMBER else match[0]
    except (KeyError, TypeError, ValueError, SyntaxError, ZeroDivisionError, RecursionError):
        return f"$(({words}))" if EVERY_GPU in words else match[0]


def _number(node: Any) -> int:
    """Return the value of an expression of whole numbers; raises TypeError for any other."""
    if isinstance(node, ast.BinOp):
        return OPERATORS[type(node.op)](_number(node.left), _number(node.right))
    if isinstance(node, ast.Constant) and isinstance(node.value, int):
        return node.value
    raise TypeError


def _split(words: list[str]) -> list[Part]:
    """The commands between shell operators, each behind the operator before it."""
    parts: list[Part] = []
    before = ""
    for kind, group in groupby(words, lambda word: (word in BREAKS, word == ENDS_BRANCH)):
        if kind == (False, False):
            parts.append((before, list(group)))
        else:
            before = next(group)
            parts += [("", [ENDS_BRANCH])] if before == ENDS_BRANCH else []
    return parts
