"""Values that a program in braces writes out: Terraform, TypeScript, JavaScript, Bicep.

The text is split into words and never run. NAME = value, name: value and block "label" { ... } are
kept; whatever else a language has is passed over.
"""

import re
from pathlib import PurePath
from typing import Any, NamedTuple

from calc.mappings import Json

SUFFIXES = (".tf", ".tfvars", ".hcl", ".bicep", ".ts", ".tsx", ".mts", ".js", ".mjs", ".jsx")
BEGINS = re.compile(
    r"\s*(?:(?:resource|module|variable|provider|data|output|terraform|locals)\b[^\n=:]{0,200}\{|"
    r"import\s[^\n]{1,200}\bfrom\s+['\"]|(?:export\s+)?const\s+\w+\s*[:=])"
)
WORD = re.compile(  # with bounds, so that quotations and remarks that nothing closes take no long
    r"(?P<gap>\s+|//[^\n]*|\#[^\n]*|/\*.{0,4000}?\*/)"
    r"|<<-?(?P<mark>\w{1,40})\n(?P<document>.{0,3000}?)\n[ \t]*(?P=mark)(?!\w)"
    r"|(?P<quote>[\"'`])(?P<string>(?:\\.|(?!(?P=quote)).){0,1000}+)(?P=quote)"
    r"|(?P<number>-?\d+(?:\.\d+)?(?![\w.]))"
    r"|(?P<name>[A-Za-z_$][\w$-]*(?:\.[A-Za-z_$][\w$-]*)*)"
    r"|(?P<sign>=>|[-+*/<>!=]=|.)",
    re.DOTALL,
)
ENDS = {"{": "}", "(": ")", "[": "]"}
LITERALS: Json = {"true": True, "false": False, "null": None, "undefined": None}
REFERENCE = re.compile(r"\$\{\s*([\w.$-]{1,160})\s*\}")
MOST_WORDS, DEEPEST = 60_000, 25
MOST_CHARACTERS = 20_000  # of a text whose references are filled in
DEEPEST_REFERENCE = 4
CONVERSIONS = ("tostring", "tonumber", "tobool")  # of Terraform, which leave a value as it is


class Word(NamedTuple):
    """A word: its kind (string, number, name, sign), its text and its line."""

    kind: str
    text: str
    line: int


def has_braces(text: str, file: str) -> bool:
    """Return whether a text is a program in braces, by its name or its first words."""
    suffix = PurePath(file.lower()).suffix
    return suffix in SUFFIXES or (not suffix and bool(BEGINS.match(text)))


def braces_tree(text: str) -> Json:
    """The values of a program in braces, with the names that it gives one value filled in."""
    tree = _Reader(_words(text)).block("", 0)
    return filled_references(tree, _names(tree, 0))


def _words(text: str) -> list[Word]:
    """Split a text into strings, names, numbers and signs, each with its line."""
    words, line = [], 1
    for match in WORD.finditer(text):
        kind = match.lastgroup or ""
        if match["document"] is not None:
            words.append(Word("string", match["document"], line))
        elif match["string"] is not None:
            words.append(Word("string", re.sub(r"\\(.)", r"\1", match["string"]), line))
        elif kind in ("number", "name", "sign"):
            words.append(Word(kind, match[0], line))
        line += match[0].count("\n")
        if len(words) >= MOST_WORDS:
            break
    return words


class _Reader:
    """The words of a program, and the place of the next."""

    def __init__(self, words: list[Word]) -> None:
        self.words, self.place = words, 0

    def next(self, ahead: int = 0) -> Word:
        """The word at the place, or ahead of it; an empty one behind the last."""
        place = self.place + ahead
        return self.words[place] if place < len(self.words) else Word("end", "", 0)

    def block(self, end: str, depth: int) -> Json:
        """The values up to a closing bracket, or to the end of the text."""
        tree: Json = {}
        while (word := self.next()).kind != "end" and word.text != end:
            if word.kind in ("name", "string") and self._labels(depth):
                label, inner = self._labeled(depth)
                _add(tree, label, inner)
            elif word.kind in ("name", "string") and self.next(1).text in ("=", ":"):
                self.place += 2
                _add(tree, word.text, self._value(depth))
            elif word.kind == "sign" and word.text in ENDS:
                self.place += 1
                _add(tree, f"line {word.line}", self._group(word.text, depth))
            elif end == ")" and word.kind in ("name", "string") and self.next(1).text in (",", ")"):
                placed = f"${{{word.text}}}" if word.kind == "name" else word.text
                tree[str(sum(map(str.isdigit, tree)))] = placed  # an argument without a name
                self.place += 1
            else:
                self.place += 1
        self.place += 1
        return tree

    def _labels(self, depth: int) -> int:
        """The number of words in a block's head, resource "a" "b" {; 0 where no block begins."""
        count = 1
        while count < 8 and self.next(count).kind in ("name", "string"):
            count += 1
        head = self.next(count)
        return count if head.text == "{" and head.kind == "sign" and depth < DEEPEST else 0

    def _labeled(self, depth: int) -> tuple[str, Json]:
        """A block with words in its head, under its words joined by dots."""
        labels = [self.next(place).text for place in range(self._labels(depth))]
        self.place += len(labels) + 1
        return ".".join(labels)[:160], self.block("}", depth + 1)

    def _group(self, opened: str, depth: int) -> Any:
        """The content of brackets: a list of values, or the values of a block."""
        if depth >= DEEPEST:
            self.place = len(self.words)
            return None
        if opened != "[":
            return self.block(ENDS[opened], depth + 1)
        values = []
        while self.next().kind != "end" and self.next().text != "]":
            if self.next().text == "," and self.next().kind == "sign":
                self.place += 1
            else:
                values.append(self._value(depth + 1))
        self.place += 1
        return values

    def _value(self, depth: int) -> Any:
        """One value; what an expression has besides is passed over to the end of its line."""
        word = self.next()
        self.place += 1
        value: Any = None
        if word.kind == "string":
            value = word.text
        elif word.kind == "number":
            value = float(word.text) if "." in word.text else int(word.text)
        elif word.kind == "sign" and word.text in ENDS:
            value = self._group(word.text, depth)
        elif word.kind == "name":
            value = self._of_name(word, depth)
        self._pass_rest(word.line)
        return value

    def _of_name(self, word: Word, depth: int) -> Any:
        """A literal, a call, what a typed name is set to, or a reference."""
        while word.text in ("new", "await") and self.next().kind == "name":
            word = self.next()
            self.place += 1
        if self.next().text == "=" and self.next().kind == "sign":  # name: Type = value
            self.place += 1
            return self._value(depth)
        if self.next().text == "(":
            self.place += 1
            called = self._group("(", depth)
            if word.text in CONVERSIONS and isinstance(called, dict):
                return next(iter(called.values()), None)
            return {"class": word.text, **(called if isinstance(called, dict) else {})}
        return LITERALS.get(word.text, f"${{{word.text}}}")

    def _pass_rest(self, line: int) -> None:
        """Move past the rest of a line; a group that begins there is passed whole."""
        while (word := self.next()).kind != "end" and word.line == line:
            if word.kind == "sign" and word.text in ",;)]}":
                return
            if word.kind == "sign" and word.text in ENDS:
                self.place += 1
                self._group(word.text, 0)
                return
            self.place += 1


def _add(tree: Json, name: str, value: Any) -> None:
    """Add a value under its name, behind others of that name under a name of its own."""
    tree[name if name not in tree else f"{name} {len(tree)}"] = value


def _names(tree: Json, depth: int) -> dict[str, str]:
    """The names that stand for one text or number: constants, locals, defaults of variables."""
    names: dict[str, str] = {}
    for key, value in tree.items():
        if isinstance(value, dict) and depth < DEEPEST:
            kind, _, label = key.partition(".")
            if kind == "variable" and isinstance(value.get("default"), str | int | float):
                names[f"var.{label}"] = str(value["default"])
            inner = _names(value, depth + 1)
            if kind == "locals":
                inner |= {f"local.{name}": one for name, one in inner.items()}
            names = inner | names
        elif isinstance(value, str | int | float) and not isinstance(value, bool):
            names.setdefault(key, str(value))
    return names


def filled_references(value: Any, names: dict[str, str]) -> Any:
    """A value whose references to known names are written out."""
    if isinstance(value, dict):
        return {key: filled_references(inner, names) for key, inner in value.items()}
    if isinstance(value, list):
        return [filled_references(inner, names) for inner in value]
    for _ in range(DEEPEST_REFERENCE):
        if not isinstance(value, str) or "${" not in value or len(value) > MOST_CHARACTERS:
            break
        value = REFERENCE.sub(lambda match: names.get(match[1], match[0])[:1000], value)
    return value
