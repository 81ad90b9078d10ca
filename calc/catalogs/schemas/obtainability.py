"""The classes of obtainability.yaml: its schema, its reader and its documentation."""

from typing import Annotated, Literal

from msgspec import Meta

from calc.catalogs.schemas.kinds import CatalogFile, Day, Entry, Text, WholeNumber, hint, must_have


class FamilyObtainability(Entry, kw_only=True):
    """Availability of the instances of one family."""

    on_demand: Annotated[
        Literal["", "at-once", "usually", "wait-or-quota", "by-agreement", "unknown"],
        hint("how hard it is to get on demand"),
    ]
    spot: Annotated[
        Literal["", "at-once", "usually", "wait-or-quota", "by-agreement", "unknown"],
        hint("how hard on spot"),
    ]
    block: Annotated[
        Literal["", "at-once", "usually", "wait-or-quota", "by-agreement", "unknown"],
        hint("how hard as a capacity block; empty where it is not sold so"),
    ]
    several: Annotated[
        WholeNumber,
        hint(
            "from so many instances at once a run waits for a block, and has others by agreement "
            "alone; 0: of no number"
        ),
    ]
    seen_on: Annotated[Day, hint("the day of the newest report, or on which none was found")]
    source: Annotated[Text, hint("who reported it")]
    note: Annotated[Text, hint("what was seen")]


class File(CatalogFile, kw_only=True):
    """Obtainability: how hard instances are to get, by family and market."""

    obtainability: Annotated[
        dict[Annotated[str, Meta(pattern="^[a-z][a-z0-9-]*$")], FamilyObtainability],
        Meta(min_length=1),
        must_have("g", "p"),
    ]
