"""The version of the formulas, a short text that changes whenever a figure may have moved."""

import hashlib
from functools import cache
from pathlib import Path

FOLDER = Path(__file__).resolve().parent
# The rooms of an estimate; the files at the top of calc count too.
ROOMS = ("models", "scenarios", "rules", "memory", "speed", "cost", "engine")
DIGITS = 8


@cache
def formulas_version() -> str:
    """The digest of the source files behind an estimate."""
    digest = hashlib.sha256()
    for path in sorted(
        [*FOLDER.glob("*.py"), *(path for room in ROOMS for path in (FOLDER / room).rglob("*.py"))]
    ):
        digest.update(path.read_bytes() + b"\0")
    return digest.hexdigest()[:DIGITS]
