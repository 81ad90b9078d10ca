"""Which field of each launch file holds which column (catalogs/edited/launch_files.yaml)."""

import dataclasses
from collections.abc import Iterable, Mapping
from typing import Any

from calc.catalogs.load import read_catalog, read_once
from calc.catalogs.schemas import launch_files
from calc.catalogs.schemas.launch_files import FieldSpec, Kit, KitFile, TextBlock
from calc.evaluate import Row
from calc.files.launch.shell import Script, filled_script, filled_text
from calc.table import is_missing

RENTED = ("aws.sh",)  # files that name the instance
TYPED = {"true": True, "false": False}


@dataclasses.dataclass(frozen=True)
class Spec:
    """One field of a file and where its value comes from.

    `script` is a word of a shell as it stands; `values` a list or mapping of a structured file.
    """

    field: str
    column: str = ""
    words: Mapping[str, str] = dataclasses.field(default_factory=dict)
    constant: str = ""
    script: str = ""
    values: Any = None
    when: Mapping[str, str] = dataclasses.field(default_factory=dict)

    def value(self, row: Row) -> Any:
        """The value that the file gets, or None where the field is left out."""
        if not matches(self.when, row):
            return None
        if self.values is not None:
            return self.values
        if self.constant or self.script:
            return Script(self.script) if self.script else _value_of_word(self.constant)
        setting = row.get(self.column)
        if self.words:
            word = self.words.get(str(setting))
            return None if word is None else _value_of_word(word)
        return None if is_missing(setting) else setting


@dataclasses.dataclass(frozen=True)
class KitSpec:
    """One tool's files, for the scenarios that its software runs."""

    id: str
    name: str
    software: tuple[str, ...]
    when: Mapping[str, str]
    about: tuple[TextBlock, ...]
    packages: tuple[TextBlock, ...]
    command: str
    setup: str = ""  # further lines of setup.sh
    before: str = ""  # lines before the command
    flags: tuple[Spec, ...] = ()  # --a-field value
    settings: tuple[Spec, ...] = ()  # a.field=value
    resume: str = ""  # the file that names the checkpoint to resume from; empty: the tool finds it
    saves: str = "no"  # yes: it saves when it is asked to end
    # Name -> form, fields.
    files: Mapping[str, tuple[str, tuple[Spec, ...]]] = dataclasses.field(default_factory=dict)


@read_once
def kit_specs() -> tuple[KitSpec, ...]:
    """Every tool that files are written for."""
    return tuple(_kit(name, entry) for name, entry in launch_document().kits.items())


def place_files(values: Row) -> dict[str, str]:
    """The scripts that set up, start, rent the machines and watch them: name -> text."""
    blocks = {
        name: [filled_script(block.text, values) for block in standing(blocks, values)]
        for name, blocks in launch_document().places.items()
    }
    return {
        name: "".join(texts)
        for name, texts in blocks.items()
        if texts and (values["instance"] or name not in RENTED)
    }


@read_once
def rented_file() -> tuple[list[TextBlock], tuple[Spec, ...]]:
    """The comments and the fields of the SkyPilot task."""
    task = launch_document().sky
    return task.comments, _specs(task.fields)


@read_once
def torchtune_recipes() -> frozenset[str]:
    """The configs that torchtune ships."""
    return frozenset(launch_document().torchtune_recipes)


def check_file(limits: str) -> str:
    """The workflow that checks a plan in a repository, with the gate's limits (numbers)."""
    return filled_text(launch_document().check, {"limits": limits})


def standing(blocks: Iterable[TextBlock], values: Row) -> list[TextBlock]:
    """Return the texts whose condition holds."""
    return [block for block in blocks if matches(block.when or {}, values)]


def matches(when: Mapping[str, str], values: Row) -> bool:
    """Return whether each named value is one of those listed (a|b)."""
    return all(str(values.get(name) or "-") in listed.split("|") for name, listed in when.items())


@read_once
def launch_document() -> launch_files.File:
    """The catalog of launch files."""
    return read_catalog(launch_files.File)


def _kit(name: str, kit: Kit) -> KitSpec:
    """An entry of the catalog as the description of a kit, without empty fields."""
    return KitSpec(
        id=name,
        name=kit.name,
        software=tuple(kit.software),
        when=kit.when,
        about=_blocks(kit.about),
        packages=_blocks(kit.packages),
        command=kit.command,
        setup=kit.setup or "",
        before=kit.before or "",
        flags=_specs(kit.flags),
        settings=_specs(kit.settings),
        resume=kit.resume or "",
        saves=kit.saves or "no",
        files={file: _file(file, details) for file, details in (kit.files or {}).items()},
    )


def _blocks(text: str | list[TextBlock]) -> tuple[TextBlock, ...]:
    """Return texts with their conditions; a text alone always stands."""
    return (TextBlock(text=text),) if isinstance(text, str) else tuple(text)


def _file(file: str, details: KitFile) -> tuple[str, tuple[Spec, ...]]:
    """The form and the fields of a file, or those of the kit that has the same file."""
    if details.of is not None:
        files = launch_document().kits[details.of].files or {}
        details = files[file]
    return details.form or "", _specs(details.fields)


def _specs(fields: list[FieldSpec] | None) -> tuple[Spec, ...]:
    """The entries of flags or settings as descriptions, without empty fields."""
    return tuple(
        Spec(
            field=entry.field,
            column=entry.column or "",
            words=entry.words or {},
            constant=entry.is_ or "",
            script=entry.script or "",
            values=entry.values,
            when=entry.when or {},
        )
        for entry in fields or ()
    )


def _value_of_word(word: str) -> bool | int | str:
    return TYPED.get(word, int(word) if word.isdigit() else word)
