"""Values of Python expressions as far as literals give them; no script is ever run."""

import ast
import re
from typing import Any

from calc.files.configs.problem import ConfigProblem
from calc.files.configs.python_calls import CLASS, UNKNOWN, is_plain, value_of_call
from calc.files.configs.substitutions import EVERY_GPU
from calc.mappings import Json

GETS = ("get", "pop")  # methods of a mapping
COUNTS_GPUS = "cuda.device_count"
# Calls that keep the words of a text.
OF_WORDS = ("shlex.split", "textwrap.dedent", "dedent")
WORD_METHODS = ("split", "strip", "format")
CASES = {"lower": str.lower, "upper": str.upper}
FROM_ENVIRONMENT = ("os.environ.get", "os.getenv", "environ.get", "getenv", "env.get")
SUPPORTED = re.compile(
    r"(?P<negated>not )?(?:[\w.]*\.)?(?:is_bf(?:loat)?16_supported\(\)|cuda\.is_available\(\)"
    r"|device(?:\.type)? == 'cuda')"
)  # as every card since Ampere says
ENUMERATION = r"(?:\w+\.)*(?:ShardingStrategy|TaskType|DeepSpeedPlugin)"
CHOICE = re.compile(rf"{ENUMERATION}\.(\w+)")  # of names
CHOOSES = re.compile(ENUMERATION)  # behind which a name stands in brackets
OF_MEMBER = ("value", "name")  # attributes of a member of an enumeration
OF_PROCESSES = ("WORLD_SIZE", "LOCAL_WORLD_SIZE")  # variables that a launcher sets
ENVIRONMENT = re.compile(r"[A-Z][A-Z0-9_]*")  # the name of a variable
COMPARED = {
    ast.Eq: lambda left, right: left == right,
    ast.NotEq: lambda left, right: left != right,
    ast.In: lambda left, right: left in right,
    ast.NotIn: lambda left, right: left not in right,
    ast.Is: lambda left, right: left is right,
    ast.IsNot: lambda left, right: left is not right,
    ast.Gt: lambda left, right: left > right,
    ast.GtE: lambda left, right: left >= right,
    ast.Lt: lambda left, right: left < right,
    ast.LtE: lambda left, right: left <= right,
}
LONGEST_SCRIPT, LONGEST_CODE = 200_000, 60  # characters, of a file and of an unknown value
MOST_QUOTED = 20  # lines with an f-string of Python 3.12
IN_BRACES = re.compile(r"\{[^{}\n]*+\}")
MOST_CHARACTERS = 20_000  # of one joined text
MOST_NUMBER = 10**18
MOST_BASE, MOST_POWER = 1024, 30  # of a power, such as 2**19
DEEPEST = 25


def parse_python(text: str, file: str) -> ast.Module:
    """The syntax tree of a script; raises ConfigProblem where it is not Python."""
    if len(text) > LONGEST_SCRIPT:
        raise ConfigProblem(
            f"{file} has more than {LONGEST_SCRIPT:,} characters of Python; give the script of the "
            f"run alone."
        )
    try:
        return _parsed(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        reason = str(error)[:120] or "nested too deep"
        raise ConfigProblem(f"{file}: this is not Python ({reason}); correct it there.") from None


def _parsed(text: str) -> ast.Module:
    """Python whose f-strings may hold their own quotes in braces, as from Python 3.12 on."""
    for _ in range(MOST_QUOTED):
        try:
            return ast.parse(text)
        except SyntaxError as error:
            lines = text.split("\n")
            place = (error.lineno or 0) - 1
            if not error.msg.startswith("f-string") or not 0 <= place < len(lines):
                raise
            kept = lines[place]
            lines[place] = IN_BRACES.sub(_without_quotes, kept)
            if lines[place] == kept:
                raise
            text = "\n".join(lines)
    return ast.parse(text)


def _without_quotes(braces: re.Match) -> str:
    """Return what stands in braces without its quotes, on which no setting of a run depends."""
    return braces[0].replace("'", "").replace('"', "")


class Values:
    """Evaluate expressions of a script whose names have known values.

    `names` maps a name, or a dotted one such as args.epochs, to its value or to its expression,
    which is evaluated when it is first needed. Anything without a literal value is a variable,
    ${its code}, as in a shell.
    """

    def __init__(self, names: Json | None = None) -> None:
        self.names: Json = names or {}
        self.imported: dict[str, str] = {}

    def value(self, node: ast.AST, depth: int = 0) -> Any:
        """Return the value of an expression; a call is a mapping of its arguments."""
        if depth > DEEPEST:
            return "${...}"
        match node:
            case ast.Constant():
                return node.value if isinstance(node.value, str | int | float | None) else "${...}"
            case ast.Name() | ast.Attribute():
                return self._named(node, depth)
            case ast.List() | ast.Tuple() | ast.Set():
                return [self.value(element, depth + 1) for element in node.elts]
            case ast.Dict():
                return self._mapping(node, depth)
            case ast.Subscript() if CHOOSES.fullmatch(dotted_name(node.value)):
                return self.value(node.slice, depth + 1)
            case ast.Subscript():
                key, known = self.value(node.slice, depth + 1), self.value(node.value, depth + 1)
                return _element(known, key, variable(node))
            case ast.JoinedStr():
                return self._formatted(node, depth)
            case ast.BinOp():
                left, right = (self.value(side, depth + 1) for side in (node.left, node.right))
                return _combine(node, left, right)
            case ast.UnaryOp(op=ast.USub()):
                value = self.value(node.operand, depth + 1)
                return -value if isinstance(value, int | float) else variable(node)
            case ast.Call() | ast.UnaryOp() | ast.Compare() if asked := SUPPORTED.fullmatch(
                ast.unparse(node)
            ):
                return not asked["negated"]
            case ast.IfExp() if (holds := self.truth(node.test, depth + 1)) is not None:
                return self.value(node.body if holds else node.orelse, depth + 1)
            case ast.Compare() | ast.BoolOp() | ast.UnaryOp(op=ast.Not()):
                holds = self.truth(node, depth + 1)
                return variable(node) if holds is None else holds
            case ast.Call():
                return self._call(node, depth)
        return variable(node)

    def truth(self, node: ast.AST, depth: int = 0) -> bool | None:
        """Return whether a test holds; None where the script does not decide it."""
        if depth > DEEPEST:
            return None
        match node:
            case ast.BoolOp():
                parts = [self.truth(part, depth + 1) for part in node.values]
                decides = isinstance(node.op, ast.Or)
                return decides if decides in parts else None if None in parts else not decides
            case ast.UnaryOp(op=ast.Not(), operand=inner):
                holds = self.truth(inner, depth + 1)
                return None if holds is None else not holds
            case ast.Compare(left=left, ops=[sign], comparators=[right]):
                sides = [self.value(side, depth + 1) for side in (left, right)]
                if any(map(_is_open, sides)) or type(sign) not in COMPARED:
                    return None
                try:
                    return bool(COMPARED[type(sign)](*sides))
                except TypeError:
                    return None
        value = self.value(node, depth + 1)
        return None if _is_open(value) else bool(value)

    def _named(self, node: ast.Name | ast.Attribute, depth: int) -> Any:
        """The value of a name; an attribute of torch without a value is its own name."""
        name = self._full_name(node)
        if isinstance(self.names.get(name), ast.AST):
            expression = self.names.pop(name)  # unknown while it is evaluated: a = a + 1
            self.names[name] = self.value(expression, depth + 1)
        if name in self.names:
            return self.names[name]
        if choice := CHOICE.fullmatch(name):
            return choice[1]
        holder = self.value(node.value, depth + 1) if isinstance(node, ast.Attribute) else None
        if isinstance(node, ast.Attribute) and isinstance(holder, dict) and is_plain(holder):
            return holder.get(node.attr, variable(node))
        if isinstance(node, ast.Attribute) and _is_member(holder) and node.attr in OF_MEMBER:
            return holder
        return name.removeprefix("torch.") if name.startswith("torch.") else variable(node)

    def _full_name(self, node: ast.Name | ast.Attribute) -> str:
        """The name of a node; lora.rank behind lora = cfg.adapter is cfg.adapter.rank."""
        name = ast.unparse(node)
        before, _, last = name.rpartition(".")
        holder = self.names.get(before)
        if name in self.names or not isinstance(holder, ast.Name | ast.Attribute | str):
            return name
        held = holder if isinstance(holder, str) else ast.unparse(holder)
        full = f"{held.removeprefix('${').removesuffix('}')}.{last}"
        return full if full in self.names else name

    def _mapping(self, node: ast.Dict, depth: int) -> Json:
        """A dictionary with the values of its keys; `**other` adds those of another."""
        values: Json = {}
        for key, value in zip(node.keys, node.values, strict=True):
            inner = self.value(value, depth + 1)
            if key is not None:
                values[str(self.value(key, depth + 1))] = inner
            elif isinstance(inner, dict):
                values |= inner
        return values

    def _formatted(self, node: ast.JoinedStr, depth: int) -> str:
        """The text of an f-string with its values filled in."""
        parts = (
            self.value(part.value if isinstance(part, ast.FormattedValue) else part, depth + 1)
            for part in node.values
        )
        return "".join(map(str, parts))[:MOST_CHARACTERS]

    def _arguments(self, node: ast.Call, depth: int) -> tuple[list, Json]:
        """The values of a call's arguments by position, and those by name."""
        placed = [self.value(argument, depth + 1) for argument in node.args]
        named = {
            keyword.arg: self.value(keyword.value, depth + 1)
            for keyword in node.keywords
            if keyword.arg
        }
        for keyword in node.keywords:  # **settings
            inner = {} if keyword.arg else self.value(keyword.value, depth + 1)
            named = (inner if isinstance(inner, dict) else {}) | named
        return placed, named

    def _call(self, node: ast.Call, depth: int) -> Any:
        """The value of a known call, such as os.getenv; of another one its arguments by name."""
        name = ast.unparse(node.func)
        placed, named = self._arguments(node, depth)
        if (value := value_of_call(name, placed, named)) is not UNKNOWN:
            return value
        if "env" in name.lower() and placed and placed[0] in OF_PROCESSES:
            return f"${{{placed[0]}}}"  # which its launcher sets, not the default
        if "env" in name.lower() and len(placed) > 1 and ENVIRONMENT.fullmatch(str(placed[0])):
            return placed[1]  # of a function of the script's own: get_env(NAME, default, type)
        if name.endswith(COUNTS_GPUS):
            return EVERY_GPU
        if name in FROM_ENVIRONMENT and len(placed) == 2:
            return placed[1]
        if name in FROM_ENVIRONMENT and placed:
            return f"${{{placed[0]}}}"
        if isinstance(node.func, ast.Attribute) and node.func.attr in GETS and placed:
            known = self.value(node.func.value, depth + 1)
            if is_plain(known) and (str(placed[0]) in known or len(placed) == 2):
                return known.get(str(placed[0]), placed[-1])
        if isinstance(node.func, ast.Attribute) and node.func.attr == "join" and len(placed) == 1:
            return _join(self.value(node.func.value, depth + 1), placed[0])
        if name in OF_WORDS and placed and isinstance(placed[0], str):
            return placed[0]
        if isinstance(node.func, ast.Attribute) and node.func.attr in WORD_METHODS:
            text = self.value(node.func.value, depth + 1)
            if isinstance(text, str) and not text.startswith("${"):
                return text
        if isinstance(node.func, ast.Attribute) and node.func.attr in CASES and not placed:
            text = self.value(node.func.value, depth + 1)
            if isinstance(text, str) and "${" not in text:
                return CASES[node.func.attr](text)
        first, _, rest = name.partition(".")
        called = ".".join(filter(None, (self.imported.get(first, first), rest)))
        return {CLASS: called, **{str(place): value for place, value in enumerate(placed)}, **named}


def _is_open(value: Any) -> bool:
    """Return whether a value is not known: a variable, a call, or a list with one inside."""
    if isinstance(value, list):
        return any(map(_is_open, value))
    is_variable = isinstance(value, str) and "${" in value
    return is_variable or (isinstance(value, dict) and CLASS in value)


def _is_member(value: Any) -> bool:
    """Return whether a value may be a member of an enumeration: a known text or number."""
    return isinstance(value, str | int | float) and "${" not in str(value)


def _element(known: Any, key: Any, otherwise: Any) -> Any:
    """The element of a mapping or a list at a key or a place; else another value."""
    if is_plain(known):
        return known.get(str(key), otherwise)
    is_place = isinstance(known, list) and isinstance(key, int)
    return known[key] if is_place and -len(known) <= key < len(known) else otherwise


def _join(separator: Any, parts: Any) -> str:
    words = parts if isinstance(parts, list) else [parts]
    return str(separator).join(map(str, words))[:MOST_CHARACTERS]


def _combine(node: ast.BinOp, left: Any, right: Any) -> Any:
    """The value of an operation on two values; a variable where it has none."""
    if isinstance(node.op, ast.BitOr) and is_plain(left) and is_plain(right):
        return {**left, **right}
    numbers = [side for side in (left, right) if isinstance(side, int | float)]
    if isinstance(node.op, ast.Add) and len(numbers) != 1:
        return joined(left, right)
    if len(numbers) < 2:
        return variable(node)
    match node.op:
        case ast.Sub():
            return left - right
        case ast.Mult() if abs(left * right) < MOST_NUMBER:
            return left * right
        case ast.Pow() if 0 < left <= MOST_BASE and abs(right) <= MOST_POWER:
            return left**right
        case ast.FloorDiv() if right:
            return left // right
        case ast.Div() if right:
            return left / right
    return variable(node)


def joined(left: Any, right: Any) -> Any:
    """Two lists, texts or numbers together; of other values the first one that is known."""
    if isinstance(left, list) and isinstance(right, list):
        return [*left, *right][:MOST_CHARACTERS]
    if isinstance(left, str) and isinstance(right, str):
        return (left + right)[:MOST_CHARACTERS]
    if isinstance(left, int | float) and isinstance(right, int | float):
        return left + right
    return right if left is None else left


def variable(node: ast.AST) -> str:
    """An expression without a literal value, as a variable: ${expression}."""
    return f"${{{ast.unparse(node)[:LONGEST_CODE]}}}"


def dotted_name(node: Any) -> str:
    """The name of what is called, trl.SFTConfig; of what a call returns its attributes alone."""
    names = []
    while isinstance(node, ast.Attribute):
        names.append(node.attr)
        node = node.value
    return ".".join(reversed([*names, node.id] if isinstance(node, ast.Name) else names))
