"""The classes of a file that `python -m calc simulate` writes: a model of your own."""

from typing import Annotated

from msgspec import Meta

from calc.catalogs.schemas.blocks import BlockMemory
from calc.catalogs.schemas.kinds import Entry
from calc.mappings import Json


class File(Entry, kw_only=True):
    """A model of your own: its entry, and its blocks by id."""

    format: int | None = None
    entry: Json
    blocks: dict[Annotated[str, Meta(pattern="^simulated-[A-Za-z0-9_.-]+$")], BlockMemory]
