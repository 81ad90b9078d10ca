"""The facts of an answer in codes and numbers: exceeded limits, reasons and problems.

Nothing here is a sentence; calc/say puts these facts into words.
"""

from dataclasses import dataclass
from typing import Any

from calc.evaluate import Row

NEVER_RATIO = 1e100  # of a limit: a queue that grows without bound has no time to compare


@dataclass(frozen=True, eq=False)
class Miss:
    """A limit that a row exceeds: what the row needs, what the job allows, and their ratio.

    `value` is infinite if the queue of a service grows without bound.
    """

    limit: str
    value: float
    allowed: Any
    ratio: float


@dataclass(frozen=True, eq=False)
class TooLarge:
    """The smallest layout against the largest allowed card, and what would make it smaller.

    `cures` are codes in the order in which they are named.
    """

    smallest_bytes: float
    card: str
    card_bytes: float
    cures: tuple[str, ...]
    published_bits: int


@dataclass(frozen=True, eq=False)
class Problem:
    """Why a job has no answer that qualifies.

    `code`: invalid-job (the text of its error and its cure), no-layout (the text of the rule that
    all layouts break), nothing-runs (the note of a row), overloaded (no number of sequences in
    flight keeps up with the rate), too-large, limit-exceeded (the nearest row and its misses,
    `worst` the largest), or not-certain (the nearest row and its doubts).
    """

    code: str
    text: str = ""
    cure: str = ""
    row: Row | None = None
    misses: tuple[Miss, ...] = ()
    worst: str = ""
    doubts: tuple[str, ...] = ()
    too_large: TooLarge | None = None
    owns_machines: bool = False


@dataclass(frozen=True, eq=False)
class Rented:
    """The cheapest way to do the same job on rented machines; no row if nothing qualifies."""

    row: Row | None


@dataclass(frozen=True, eq=False)
class Reasons:
    """Why a row is an answer: its names, and the facts that decided.

    `codes` names the facts that a reader should learn; the rows are those with which it is
    compared.
    """

    names: tuple[str, ...]
    codes: tuple[str, ...]
    row: Row
    least: Row
    published_bits: int = 0
    next: Row | None = None
    older: Row | None = None
    otherwise: Row | None = None
    rented: Rented | None = None
