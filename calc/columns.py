"""The glossary: every column with its label, unit and meaning (columns.yaml)."""

from dataclasses import dataclass
from pathlib import Path

from calc.catalogs.rooms import label_of, path_of
from calc.catalogs.strict_yaml import read_strictly

FILE = Path(__file__).with_suffix(".yaml")
ENTRIES = read_strictly(FILE.read_text("utf-8"), FILE.name)
ASSUMPTIONS = tuple(
    read_strictly(path_of("assumptions").read_text("utf-8"), label_of("assumptions"))["assumptions"]
)


@dataclass(frozen=True)
class Quantity:
    """A column: its label on screen, its meaning, and its unit, which is empty for counts."""

    name: str
    label: str
    meaning: str
    unit: str = ""


SECTIONS = {
    section: {
        name: Quantity(name, entry["label"], entry["meaning"], entry.get("unit", ""))
        for name, entry in entries.items()
    }
    for section, entries in ENTRIES.items()
}
GLOSSARY = {name: quantity for entries in SECTIONS.values() for name, quantity in entries.items()}
ALLOCATED = tuple(SECTIONS["components"])  # by PyTorch: all but the overhead
COMPONENTS = (*ALLOCATED, "overhead_bytes")
