"""Ready-made jobs as links (catalogs/edited/setups.yaml)."""

from functools import cache
from typing import Any, NamedTuple

from calc.catalogs.load import FOLDER, read_document
from calc.files.link import link


class Setup(NamedTuple):
    """A job that many teams have: its name, its description, and the query of its link."""

    name: str
    about: str
    query: dict[str, Any]


@cache
def setups() -> list[Setup]:
    """Every ready-made job, in the order in which they are offered."""
    return [Setup(setup["name"], setup["about"], link.compose(setup["asks"])) for setup in read_document(FOLDER, "setups")["setups"]]
