"""Cures of a failure by its cause: an engine's options, or the catalog's words."""

from collections.abc import Mapping

from calc.catalogs.load import Catalogs
from calc.evaluate import Row
from calc.files.oom.causes import NO_ROOM, SECOND_COPY, cures_by_cause
from calc.files.oom.engine import engine_cures, takes_a_share
from calc.files.oom.failures import Failure

# Causes that changes of a plan's columns mend.
BY_COLUMNS = (
    "logits",
    "attention scores",
    "optimizer state",
    "gradients",
    "gathered weights",
    SECOND_COPY,
    "training",
    "inference",
    "any",
)


def cures_of(
    text: str,
    cause: str,
    failure: Failure | None,
    row: Row,
    figures: Mapping[str, float],
    catalogs: Catalogs,
) -> list[str]:
    """Return what helps by the cause alone; nothing where changes of the row say it.

    An engine whose cache has no room takes more of the card; one that ran out beside its cache
    takes less.
    """
    is_engine = takes_a_share(row)
    if is_engine and cause == NO_ROOM:
        return [f"{cure.sentence()}." for cure in engine_cures(row, figures, catalogs)]
    if is_engine or cause not in BY_COLUMNS:
        return [f"{cure}." for cure in cures_by_cause(text, failure, is_engine)]
    return []
