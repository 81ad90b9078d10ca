"""Numbers of a result row that sentences quote: memory, card, hours with their range."""

from typing import NamedTuple

import numpy as np
import pandas as pd

from calc.columns import COMPONENTS
from calc.cost.job import ends_of
from calc.evaluate import Row
from calc.mappings import Cells
from calc.units import GIB, MILLISECONDS


def records(rows: pd.DataFrame) -> list[Row]:
    """The rows as dicts; in wide tables ten times as fast as pandas' to_dict."""
    names = rows.columns.tolist()
    if len(rows):
        return [dict(zip(names, row, strict=True)) for row in rows.to_numpy(dtype=object).tolist()]
    return []


class RowFigures(NamedTuple):
    """The figures of a row that sentences quote: memory per GPU, the card, hours, a token.

    `memory_gib` is what must fit. `largest`: the component that takes most of it, empty if none
    takes any. Hours are those of the job; NaN for a service.
    """

    memory_gib: float
    low_gib: float
    high_gib: float
    card_gib: float
    largest: str
    largest_ratio: float
    hours: float
    low_hours: float
    high_hours: float
    token_ms: float

    @property
    def used_ratio(self) -> float:
        """Share of the card that the memory takes."""
        return self.memory_gib / self.card_gib

    @property
    def over_gib(self) -> float:
        """Memory beyond that of the card; below 0 if some is free."""
        return self.memory_gib - self.card_gib


def figures(row: Cells) -> RowFigures:
    """Return the figures of an estimated row."""
    memory_bytes = float(row["needed_bytes"])
    parts = dict.fromkeys(COMPONENTS, 0.0) | needed_parts(row)
    largest = max(parts, key=lambda name: parts[name])
    slower = float(row.get("hours", np.nan)) / float(row["run_hours"]) if ends_of(row) else np.nan
    return RowFigures(
        memory_gib=memory_bytes / GIB,
        low_gib=float(row["needed_low_bytes"]) / GIB,
        high_gib=float(row["needed_high_bytes"]) / GIB,
        card_gib=float(row["gpu_memory_bytes"]) / GIB,
        largest=largest if parts[largest] > 0 else "",
        largest_ratio=parts[largest] / memory_bytes,
        hours=float(row.get("hours", np.nan)),
        low_hours=float(row["run_low_hours"]) * slower,
        high_hours=float(row["run_high_hours"]) * slower,
        token_ms=float(row["time_per_output_token_seconds"]) * MILLISECONDS,
    )


def needed_parts(row: Cells) -> dict[str, float]:
    """Component -> bytes of what must fit on the busiest GPU; they sum to `needed_bytes`. [B]

    Overhead is then what must be free beside the allocated peak: context, fragmentation, and the
    share of the card that a serving engine leaves. The allocator's cache is not part of it.
    """
    sizes = {name: float(row[name]) for name in COMPONENTS if float(row[name]) > 0}
    allocated_bytes = sum(size for name, size in sizes.items() if name != "overhead_bytes")
    return sizes | {"overhead_bytes": max(float(row["needed_bytes"]) - allocated_bytes, 0.0)}


def released_cache_bytes(row: Cells) -> float:
    """Memory that the allocator caches on this card and releases when it is needed. [B]"""
    card = float(row["gpu_memory_bytes"])
    memory_bytes = float(row["memory_bytes"])
    within = min(memory_bytes, card) if card > 0 else memory_bytes
    return max(within - float(row["needed_bytes"]), 0.0)


def parts_of(row: Cells) -> pd.DataFrame:
    """Return what must fit at the row's peak by component: component, gib, share of the sum."""
    sizes = {name: size for name, size in needed_parts(row).items() if size > 0}
    table = pd.DataFrame({"component": list(sizes), "gib": [size / GIB for size in sizes.values()]})
    return table.assign(share_ratio=table["gib"] / (float(row["needed_bytes"]) / GIB))
