"""The glossary: every column with its label, unit and meaning (columns.yaml)."""

from dataclasses import dataclass
from pathlib import Path

from calc.catalogs.strict_yaml import read_strictly

FILE = Path(__file__).with_suffix(".yaml")


@dataclass(frozen=True)
class Quantity:
    """A column: its label on screen, its meaning, and its unit, which is empty for counts."""

    name: str
    label: str
    meaning: str
    unit: str = ""


SECTIONS = {
    section: {name: Quantity(name, **entry) for name, entry in entries.items()}
    for section, entries in read_strictly(FILE.read_text("utf-8"), FILE.name).items()
}
GLOSSARY = {name: quantity for entries in SECTIONS.values() for name, quantity in entries.items()}
ALLOCATED = tuple(SECTIONS["components"])  # by PyTorch: all but the overhead
COMPONENTS = (*ALLOCATED, "overhead_bytes")
