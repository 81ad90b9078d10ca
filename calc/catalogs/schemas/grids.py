"""The classes of grids.yaml: its schema, its reader and its documentation."""

from typing import Annotated, Literal

from msgspec import Meta

from calc.catalogs.schemas.kinds import CatalogFile, Entry, FilledMap, Text, hint


class Grid(Entry, kw_only=True):
    """Overhead and emissions of one region."""

    pue: Annotated[
        float,
        Meta(ge=1, le=3),
        hint("kWh of the data center for each kWh of its machines, for example 1.15"),
    ]
    grid_g_per_kwh: Annotated[
        float, Meta(ge=0, le=2000), hint("grams of CO2e of a kWh, for example 396.25")
    ]
    pue_basis: Literal["published", "assumed"]
    note: Annotated[Text | None, hint("a sentence")] = None


class File(CatalogFile, kw_only=True):
    """Electricity by region."""

    grids: FilledMap[Annotated[str, Meta(pattern="^[a-z]{2}-[a-z]+-[0-9]$")], Grid]
