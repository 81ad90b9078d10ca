"""Which field of each launch file holds which column (catalogs/edited/launch_files.yaml)."""

import dataclasses
from collections.abc import Mapping
from functools import cache
from typing import Any

from calc.catalogs.load import FOLDER, read_document
from calc.evaluate import Row

TYPED = {"true": True, "false": False}


@dataclasses.dataclass(frozen=True)
class Spec:
    """One field of a file and where its value comes from; `raw` is written as it stands."""

    field: str
    column: str = ""
    words: Mapping[str, str] = dataclasses.field(default_factory=dict)
    constant: str = ""
    raw: str = ""
    when: Mapping[str, str] = dataclasses.field(default_factory=dict)

    def value(self, values: Row) -> Any:
        """The value that the file gets, or None where the field is left out."""
        if not matches(self.when, values):
            return None
        if self.constant or self.raw:
            return Raw(self.raw) if self.raw else _typed(self.constant)
        setting = values.get(self.column)
        if self.words:
            word = self.words.get(str(setting))
            return None if word is None else _typed(word)
        return None if setting in ("", None) or setting != setting else setting


@dataclasses.dataclass(frozen=True)
class KitSpec:
    """One tool's files, for the scenarios that its software runs."""

    id: str
    name: str
    software: tuple[str, ...]
    when: Mapping[str, str]
    about: str
    command: str
    flags: tuple[Spec, ...]
    resume: str  # the file that names the checkpoint to go on from; empty: the tool finds it
    files: Mapping[str, tuple[str, tuple[Spec, ...]]]  # name -> form, fields


class Raw(str):
    """Text that is written as it stands."""


@cache
def kit_specs() -> tuple[KitSpec, ...]:
    """Every tool that files are written for."""
    return tuple(_kit(name, entry) for name, entry in read_document(FOLDER, "launch_files")["kits"].items())


def matches(when: Mapping[str, str], values: Row) -> bool:
    """Whether every named value is one of those wanted (a|b)."""
    return all(str(values.get(name, "")) in wanted.split("|") for name, wanted in when.items())


def _kit(name: str, entry: Row) -> KitSpec:
    files = {
        file: (details["form"], tuple(_spec(field) for field in details["fields"])) for file, details in entry.get("files", {}).items()
    }
    flags, resume = tuple(_spec(field) for field in entry.get("flags", ())), entry.get("resume", "")
    return KitSpec(name, entry["name"], tuple(entry["software"]), entry["when"], entry["about"], entry["command"], flags, resume, files)


def _spec(entry: dict[str, Any]) -> Spec:
    return Spec(
        entry["field"], entry.get("column", ""), entry.get("words", {}), entry.get("is", ""), entry.get("raw", ""), entry.get("when", {})
    )


def _typed(word: str) -> bool | int | str:
    return TYPED.get(word, int(word) if word.isdigit() else word)
