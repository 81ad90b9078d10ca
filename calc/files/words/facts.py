"""Facts that are gathered of a text: columns with their words, questions, what is put aside."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from calc.evaluate import Row
from calc.files.words.request_reading import Question
from calc.files.words.vocabulary import vocabulary

LIMITS = frozenset(
    {"hours_most", "usd_most", "usd_per_hour_most", "first_token_seconds"}
)  # of two the tighter holds
PEAKS = frozenset({"requests_per_second"})  # of two rates the higher must be served
POWERS = frozenset(
    {"context_tokens", "sequence_tokens", "prompt_tokens", "answer_tokens"}
)  # 8k is 8,192


@dataclass
class Facts:
    """Columns with their words, and what is open."""

    columns: Row = field(default_factory=dict)
    words: dict[str, str] = field(default_factory=dict)
    questions: list[Question] = field(default_factory=list)
    not_counted: list[str] = field(default_factory=list)
    assumed: list[str] = field(default_factory=list)
    disputed: set[str] = field(default_factory=set)  # columns of which a text says two values

    def put(self, column: str, value: Any, words: str, scale: str = "") -> None:
        """Set a column by words.

        Of two limits the tighter holds and of two loads the higher; two other values are asked.
        """
        if isinstance(value, float):
            value = as_counted(
                value * 1.024 if scale == "k" and _is_power(column, value) else value
            )
        words = words.strip(" ,.;:")
        if column in self.disputed:
            self.ask(column, words)
            return
        if self.columns.get(column, value) == value:
            self.columns[column] = value
            self.words.setdefault(column, words)
            return
        if column in PEAKS:
            self.not_counted.append(words if value < self.columns[column] else self.words[column])
            if value > self.columns[column]:
                self.columns[column], self.words[column] = value, words
            return
        if column in LIMITS:
            self.not_counted.append(words if value > self.columns[column] else self.words[column])
            if value < self.columns[column]:
                self.columns[column], self.words[column] = value, words
            return
        first, before = self.words[column], self.columns[column]
        self.disputed.add(column)
        if first == words:  # two values of one phrase: 2M documents, of which 400k
            self.ask(column, words, (_shown(before), _shown(value)))
        else:
            self.ask(column, f"{first} and {words}", (first, words))
        self.drop(column)

    def ask(self, column: str, words: str, choices: Iterable[str] = (), text: str = "") -> None:
        """Ask what words mean."""
        question = vocabulary().questions.get(column, "What does it mean?")
        sentence = text or f"You wrote '{words}'. {question}"
        if sentence not in {question.text for question in self.questions}:
            self.questions.append(Question(sentence, column, words, tuple(choices)))

    def assume(self, words: str) -> None:
        """Name a reading that was chosen."""
        if words not in self.assumed:
            self.assumed.append(words)

    def drop(self, column: str) -> None:
        """Take a column back."""
        self.columns.pop(column, None)
        self.words.pop(column, None)

    def within_bounds(self) -> None:
        """Ask about each value that is out of its plausible range, and drop its column."""
        for column, bound in vocabulary().bounds.items():
            name = {"run_tokens": "train_tokens"}.get(column, column)
            for one in {column, name}:
                value = self.columns.get(one)
                if isinstance(value, int | float) and not bound.least <= value <= bound.most:
                    words = self.words.get(one, str(value))
                    self.drop(one)
                    question = vocabulary().questions.get(one, "What is meant?")
                    text = f"You wrote '{words}', which is not plausible. {question}"
                    self.ask(one, words, text=text)


def _shown(value: Any) -> str:
    return f"{value:,.10g}" if isinstance(value, int | float) else str(value)


def _is_power(column: str, value: float) -> bool:
    return column in POWERS and is_power(value)


def is_power(value: float) -> bool:
    """Return whether a number is a power of two in thousands, as sequence lengths are: 8k."""
    thousands = value / 1000
    return thousands.is_integer() and thousands > 0 and int(thousands) & int(thousands - 1) == 0


def as_counted(number: float) -> int | float:
    """The number as an integer where it is one."""
    number = float(f"{number:.12g}")
    return int(number) if number.is_integer() else number
