"""The classes of quotas.yaml: its schema, its reader and its documentation."""

from typing import Annotated

from msgspec import Meta

from calc.catalogs.schemas.kinds import CatalogFile, Entry, hint, must_have


class FamilyQuotas(Entry, kw_only=True):
    """The quotas that one instance family counts against."""

    on_demand: Annotated[str, hint("the name of the quota on demand, in quotes")]
    on_demand_code: Annotated[str, hint("its code, for example L-417A185B, or empty")]
    spot: Annotated[str, hint("the name of the quota on spot, or empty")]
    spot_code: Annotated[str, hint("its code, or empty")]
    block: Annotated[str, hint("the name of the quota of capacity blocks, or empty")]
    block_code: Annotated[str, hint("its code, or empty")]


class File(CatalogFile, kw_only=True):
    """Service quotas of EC2 by instance family."""

    quotas: Annotated[
        dict[Annotated[str, Meta(pattern="^[a-z][a-z0-9-]*$")], FamilyQuotas],
        Meta(min_length=1),
        must_have("g", "p"),
    ]
