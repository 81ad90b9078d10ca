"""Remarks: what is wrong with a row or worth knowing about it, as a code and its facts."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

# Code -> a template of the facts of its remark, or a function of them.
Sentences = dict[str, str | Callable[..., str]]


@dataclass(frozen=True)
class Remark:
    """A code, and the facts that its sentence names; calc/say/remarks has the sentence."""

    code: str
    facts: tuple[tuple[str, Any], ...] = ()


def remark(code: str, **facts: Any) -> Remark:
    """Return a remark with these facts."""
    return Remark(code, tuple(facts.items()))
