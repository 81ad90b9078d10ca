"""Which commands of a shell script run: the branches of its if and case statements."""

import re
from fnmatch import fnmatchcase

TESTS = ("[", "[[", "test")
CLOSERS = ("]", "]]")
UNKNOWN = re.compile(r"\$|`")  # a variable that nothing set, or what a command prints
NVIDIA = ("gpu", "cuda", "nvidia")  # a script for several accelerators runs on the first of these
ELSEWHERE = ("npu", "cpu", "rocm", "amd", "hip", "xpu", "hpu", "tpu", "mps", "ascend", "musa")
NUMBERS = {
    "-eq": lambda left, right: left == right,
    "-ne": lambda left, right: left != right,
    "-gt": lambda left, right: left > right,
    "-ge": lambda left, right: left >= right,
    "-lt": lambda left, right: left < right,
    "-le": lambda left, right: left <= right,
}
Part = tuple[str, list[str]]  # the operator before a command, and its words


class Branches:
    """The open if and case statements of a script, fed one command after the other."""

    def __init__(self) -> None:
        self.open: list[_If | _Case] = []

    def taken(self, before: str, words: list[str]) -> list[str]:
        """The words of a command that run; empty for a keyword or in a branch that does not."""
        if self.open and isinstance(self.open[-1], _Case):
            words = self.open[-1].without_pattern(words)
        if not words:
            return []
        first = words[0]
        if first == "if":
            self.open.append(_If())
            return self._tested("", words[1:])
        if first == "case" and "in" in words[2:]:
            self.open.append(_Case(" ".join(words[1 : words.index("in", 2)])))
            return self.taken("", words[words.index("in", 2) + 1 :])
        if first in ("fi", "esac"):
            self.open = self.open[:-1]
            return []
        innermost = self.open[-1] if self.open else None
        if isinstance(innermost, _If):
            if first == "elif":
                innermost.next_test()
                return self._tested("", words[1:])
            if first in ("then", "else"):
                innermost.decide(is_last=first == "else")
                return words[1:] if self.runs else []
            if innermost.condition is not None:
                return self._tested(before, words)
        return words if self.runs else []

    @property
    def runs(self) -> bool:
        """True if the commands here run."""
        return all(frame.runs for frame in self.open)

    @property
    def undecided(self) -> str:
        """The test of an open statement that nothing in the script decides, or nothing."""
        return next(filter(None, (frame.undecided for frame in self.open)), "")

    def _tested(self, before: str, words: list[str]) -> list[str]:
        """A part of a condition: kept if it is a test, else a command that runs."""
        innermost = self.open[-1]
        assert isinstance(innermost, _If)
        if innermost.condition is not None:
            innermost.condition.append((before, words))
        is_test = not words or words[0] in (*TESTS, "!", "{", "}")
        return words if all(one.runs for one in self.open[:-1]) and not is_test else []


class _If:
    """An if statement, of which the first branch with a true condition runs."""

    def __init__(self) -> None:
        self.condition: list[Part] | None = []  # None behind then and else
        self.runs, self.is_done = True, False
        self.undecided = ""  # the first test that asks for a value that is not here

    def next_test(self) -> None:
        self.condition = []

    def decide(self, is_last: bool) -> None:
        """Decide whether the branch that begins here runs; it does if its test is unknown."""
        parts = self.condition or []
        value = True if is_last else _condition(parts)
        if value is None and not self.is_done:
            self.undecided = self.undecided or " ".join(word for _, part in parts for word in part)
        self.condition = None
        self.runs = value is not False and not self.is_done
        self.is_done = self.is_done or value is True


class _Case:
    """A case statement, of which the first branch that matches runs.

    If nothing in the script sets its value, the value is taken to be an NVIDIA card: the branch of
    NVIDIA runs, and so does every branch before it that names no other accelerator.
    """

    def __init__(self, value: str) -> None:
        self.value = value
        self.is_unset = bool(UNKNOWN.search(value))
        self.alternatives: list[str] = []
        self.runs, self.is_done, self.is_begun = False, False, False
        self.undecided = ""  # the value that nothing sets, in a branch that may run all the same

    def without_pattern(self, words: list[str]) -> list[str]:
        """The words behind a pattern and its bracket; ;; ends the branch."""
        if words and words[0] == ";;":
            self.is_begun, self.alternatives, self.runs = False, [], False
            words = words[1:]
        if self.is_begun or not words or words == ["esac"]:
            return words
        pattern = words[0]
        self.alternatives.append(pattern.removeprefix("(").removesuffix(")"))
        if not pattern.endswith(")"):
            return []
        self.is_begun = True
        self._decide()
        return words[1:]

    def _decide(self) -> None:
        """Decide whether the branch whose pattern was just read runs."""
        if self.is_unset:
            patterns = {pattern.lower() for pattern in self.alternatives}
            matches = not patterns.isdisjoint(NVIDIA)
            may_match = patterns.isdisjoint(ELSEWHERE) and not self.is_done
            self.runs = matches or may_match
            self.undecided = "" if matches else self.value
        else:
            matches = any(fnmatchcase(self.value, pattern) for pattern in self.alternatives)
            self.runs = matches and not self.is_done
        self.is_done = self.is_done or matches


def _condition(parts: list[Part]) -> bool | None:
    """True if a condition holds: tests joined by && and ||, from the left; None if undecided."""
    value: bool | None = None
    for place, (before, words) in enumerate(parts):
        if not words or words[0] == "}":
            continue
        one = _test([word for word in words if word != "{"])
        if place == 0:
            value = one
        elif before == "&&":
            value = False if value is False or one is False else (value and one)
        elif before == "||":
            value = True if value is True or one is True else (None if value is None else one)
    return value


def _test(words: list[str]) -> bool | None:
    """True if one test holds; None if it asks for a file or for a value that is not here."""
    if words[:1] == ["!"]:
        inner = _test(words[1:])
        return None if inner is None else not inner
    if words[:1] == ["true"] or words[:1] == ["false"]:
        return words[0] == "true"
    if not words or words[0] not in TESTS:
        return None
    words = [word for word in words[1:] if word not in CLOSERS]
    if words[:1] == ["!"]:
        inner = _test(["[", *words[1:]])
        return None if inner is None else not inner
    if len(words) == 2 and words[0] in ("-z", "-n"):
        unset = words[1] == "" or bool(re.fullmatch(r"\$\{?\w+\}?", words[1]))
        known = unset or not UNKNOWN.search(words[1])
        return unset == (words[0] == "-z") if known else None
    if len(words) != 3:
        return None
    left, relation, right = words
    if relation in NUMBERS and all(re.fullmatch(r"-?\d{1,15}", one) for one in (left, right)):
        return NUMBERS[relation](int(left), int(right))
    if relation in ("=", "==", "!="):
        same = _same(left, right)
        return None if same is None else same == (relation != "!=")
    return None


def _same(left: str, right: str) -> bool | None:
    """True if two words are the same; what is unknown is an NVIDIA card where that is asked."""
    if not UNKNOWN.search(left + right):
        return fnmatchcase(left, right)
    known = (right if UNKNOWN.search(left) else left).lower()
    if known in NVIDIA or known in ELSEWHERE:
        return known in NVIDIA
    return None
