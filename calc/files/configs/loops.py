"""The loops of a shell script: their body is read once, with the first value."""

import re

BEGINS = re.compile(r"(?<![\w$-])for[ \t]+(?P<name>[A-Za-z_]\w*)[ \t]+in[ \t]+(?P<items>[^;\n]+)")
BRACES = re.compile(r"\{(\d{1,6})\.\.(\d{1,6})\}")
UNTIL = ("while", "until")  # which wait or start anew: nothing says how often
MOST_SHOWN = 60  # characters of a loop
MOST_NUMBERS = 1_000


class Loops:
    """The open loops of a script, fed one command after the other."""

    def __init__(self) -> None:
        self.open: list[str] = []

    def body(self, words: list[str]) -> list[str]:
        """The words of a command without the keywords of a loop; empty where nothing is left."""
        while words and words[0] == "do":
            words = words[1:]
        if not words:
            return []
        if words[0] == "for":
            self.open.append(_in_words(words))
            return []
        if words[0] in UNTIL:
            self.open.append("")
            return words[1:]
        if words[0] == "done":
            self.open = self.open[:-1]
            return []
        return words

    @property
    def text(self) -> str:
        """The open loops, the outermost first: for LR in 1e-5 2e-5 (2 times)."""
        return ", ".join(filter(None, self.open))


def first_values(line: str) -> dict[str, str]:
    """The first value of each variable that the loops of a line set."""
    values = {}
    for loop in BEGINS.finditer(line):
        items = _items(loop["items"].split())
        if items and "$" not in items[0]:
            values[loop["name"]] = items[0].strip("'\"")
    return values


def _items(words: list[str]) -> list[str]:
    """The items of a loop, of {0..3} each number."""
    items: list[str] = []
    for word in words:
        if numbers := BRACES.fullmatch(word):
            several = range(int(numbers[1]), int(numbers[2]) + 1)[:MOST_NUMBERS]
            items += map(str, several)
        else:
            items.append(word)
    return items


def _in_words(words: list[str]) -> str:
    """A loop, with how often it runs where its items say that."""
    items = _items(words[3:]) if words[2:3] == ["in"] else []
    text = " ".join(words)[:MOST_SHOWN]
    known = items and not any("$" in item or "*" in item for item in items)
    return f"{text} ({len(items)} times)" if known else text
