"""The reading of a text: columns of a job, the words they are from, and what is open."""

import re
from dataclasses import dataclass, field

from calc.evaluate import Row


@dataclass(frozen=True)
class Question:
    """One thing that the text leaves open, with the words it is about and answers to choose."""

    text: str
    column: str = ""
    words: str = ""
    choices: tuple[str, ...] = ()


@dataclass(frozen=True)
class RequestReading:
    """The columns that a text sets; what it leaves open, puts aside, or cannot be planned.

    `columns`: only what was said; `words`: column -> the words that it came from; `assumed`:
    readings that were chosen; `not_counted`: words with no effect; `problem`: why there is no
    answer at all.
    """

    columns: Row
    words: dict[str, str] = field(default_factory=dict)
    assumed: tuple[str, ...] = ()
    not_counted: tuple[str, ...] = ()
    questions: tuple[Question, ...] = ()
    problem: str = ""
    stored_precision: str = ""  # the format that the name of the model says

    @property
    def unread(self) -> tuple[str, ...]:
        """Return `not_counted` under its name in the contract."""
        return self.not_counted


def without_words(text: str, words: str) -> str:
    """Return a text without words that stand in it once; empty if they do not, or nothing stays."""
    pattern = r"\s*".join(re.escape(word) for word in words.split())
    whole = re.compile(rf"(?<!\w){pattern}(?!\w)", re.IGNORECASE)
    if not pattern or len(whole.findall(text)) != 1:
        return ""
    return re.sub(r"[^\S\n]+", " ", whole.sub("", text)).strip()
