"""The version of the formulas, as a short text: a figure that moved may be their doing."""

import hashlib
from functools import cache
from pathlib import Path

FOLDER = Path(__file__).resolve().parent
ROOMS = ("models", "scenarios", "rules", "memory", "speed", "cost", "engine")  # and the files beside them: what makes an estimate
DIGITS = 8


@cache
def formulas_version() -> str:
    """The digest of the sources that make an estimate."""
    digest = hashlib.sha256()
    for path in sorted([*FOLDER.glob("*.py"), *(path for room in ROOMS for path in (FOLDER / room).rglob("*.py"))]):
        digest.update(path.read_bytes() + b"\0")
    return digest.hexdigest()[:DIGITS]
