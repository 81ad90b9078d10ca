"""Shares of memory that are of what the weights leave free, not of the card."""

from collections.abc import Iterator, Mapping, Sequence

from calc.files.configs.field_report import Line
from calc.files.configs.fields import tools

SHARE_OF = "share_of"  # the part that a field sets whose number is such a share
OF_FREE = "{} {}: of what the weights leave free, counted as of the card ({})"


def shares_of_free(
    run: Mapping[str, str], lines: Sequence[Line], effect: str
) -> Iterator[tuple[int, str]]:
    """Yield each share of the free memory that counts as one of the card, with its effect."""
    of_free = {
        name
        for tool in run["source_tool"].split("+")
        if tool in tools()
        for name, field in tools()[tool].fields.items()
        if SHARE_OF in field.sets
    }
    for line in lines:
        if line.field in of_free and "memory_utilization" in line.columns:
            yield 0, OF_FREE.format(line.field, line.text, effect)
