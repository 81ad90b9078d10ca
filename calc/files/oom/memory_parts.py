"""Reported memory and the estimate of the run, part by part. [B]"""

import math
import re
from collections.abc import Mapping
from typing import NamedTuple

from calc.catalogs.load import Catalogs
from calc.engine.pipeline import estimate
from calc.evaluate import Row
from calc.files.configs.inside.cards import cards_in
from calc.files.oom.failures import Failure
from calc.files.oom.findings import is_other_work
from calc.files.oom.logs import log_patterns
from calc.mappings import Json
from calc.memory.moments import FORWARD_PASS
from calc.search.row_status import scenario_of
from calc.table import is_missing
from calc.units import GIB

DRIVER_KEEPS_RATIO = (
    0.035  # at most, of a card: torch's capacity is less than that of nvidia-smi (T4: 3 %)
)
IDLE_BYTES = 512 * 1024.0**2  # of a card without a program, assumed
ROUNDED_BYTES = 0.05 * GIB  # of sizes printed with two decimals
CARD_LINE = re.compile(r"\b(?:NVIDIA|GeForce|Tesla|Quadro|RTX|GPU|Instinct)\b")


class MeasuredPart(NamedTuple):
    """A part of the memory: measured and estimated bytes (None where missing), and its meaning."""

    name: str
    measured: float
    estimated: float | None
    meaning: str

    def in_gib(self) -> Json:
        """The part as a table row: measured, estimated and difference, None if incomparable.
        [GiB]
        """
        measured = self.measured / GIB
        estimated = None if self.estimated is None else self.estimated / GIB
        difference = None if estimated is None else measured - estimated
        sizes = {"measured_gib": measured, "estimated_gib": estimated, "difference_gib": difference}
        return {"part": self.name, **sizes, "meaning": self.meaning}


def cards_of_capacity(total: float | None, catalogs: Catalogs) -> list[str]:
    """Ids of cards whose driver reports this memory: rented by AWS first, then the nearest."""
    if not total:
        return []
    memory = catalogs.gpus["memory_bytes"].astype(float)
    near = memory[(total >= (1 - DRIVER_KEEPS_RATIO) * memory) & (total <= 1.005 * memory)]
    sold = set(catalogs.instances["gpu"])
    return sorted(
        map(str, near.index), key=lambda name: (name not in sold, abs(near[name] - total))
    )


def cards_of_log(text: str, total: float | None, catalogs: Catalogs) -> list[str]:
    """Ids of the cards that a log may be of: the one that it names, else those of its capacity."""
    lines = (line for line in text.splitlines() if CARD_LINE.search(line))
    named = {card for line in lines for card, _ in cards_in(line) if card in catalogs.gpus.index}
    by_capacity = cards_of_capacity(total, catalogs)
    if len(named) == 1 and (not by_capacity or named <= set(by_capacity)):
        return list(named)
    return by_capacity


def on_card(row: Row, cards: list[str], catalogs: Catalogs) -> Json:
    """The row on the card of the message; estimated again where that is another card."""
    if not cards or row["gpu"] in cards:
        return dict(row)
    return estimate_with(row, {"instance": "", "gpu": cards[0]}, catalogs)


def parts_of_failure(failure: Failure, row: Row) -> list[MeasuredPart]:
    """The parts of a message: allocated, reserved, context, other processes, free, the card."""
    estimated = {
        "allocated": row["allocated_peak_bytes"],
        "unallocated": row["overhead_bytes"] - row["context_bytes"],
        "context": row["context_bytes"],
        "others_bytes": 0.0,
        "free": max(row["headroom_bytes"], 0.0),
        "total": row["gpu_memory_bytes"],
    }
    measured = {name: getattr(failure, name) for name in estimated}
    return _parts(
        measured | ({} if failure.others_bytes > ROUNDED_BYTES else {"others_bytes": None}),
        estimated,
    )


def parts_of_figures(
    figures: Mapping[str, float], row: Row, catalogs: Catalogs
) -> list[MeasuredPart]:
    """The parts of a summary or a log, each with its counterpart in the estimate."""
    estimated = {
        "allocated_peak": row["logged_peak_bytes"],
        "reserved_peak": _taken(row) - row["context_bytes"],
        "used": _taken(row),
        "weights": row["weights_bytes"],
        "activation_peak": sum(row[name] for name in FORWARD_PASS),
        "non_torch": row["context_bytes"],
        "kv_pool": row["kv_pool_bytes"],
        "kv_needed": _one_request(figures, row, catalogs),
    }
    measured = {name: value for name, value in figures.items() if not _is_idle(name, value)}
    return _parts(measured, {} if is_other_work(figures, row) else estimated)


def _is_idle(figure: str, value: float) -> bool:
    """Return whether a figure is what nvidia-smi shows of a card on which nothing runs yet. [B]"""
    return figure == "used" and value < IDLE_BYTES


def _taken(row: Row) -> float:
    """Memory in use on the card, of an engine with its whole pool instead of its requests. [B]"""
    pool = row["kv_pool_bytes"]
    grows = not is_missing(pool) and pool > row["kv_cache_bytes"]
    return float(row["memory_bytes"] + (pool - row["kv_cache_bytes"] if grows else 0))


def _one_request(figures: Mapping[str, float], row: Row, catalogs: Catalogs) -> float | None:
    """The KV cache of one sequence of the longest length that the engine admits. [B]"""
    if "kv_needed" not in figures or "request_tokens" not in figures or row["work"] != "inference":
        return None
    longest = {"batch": 1, "sequence_tokens": int(figures["request_tokens"]), "prompt_tokens": None}
    return estimate_with(row, longest, catalogs)["kv_cache_bytes"]


def estimate_with(row: Row, changes: Row, catalogs: Catalogs) -> Row:
    """The estimate of a row's scenario with some columns changed."""
    return estimate({**scenario_of(row), **changes}, catalogs, solve=False)


def _parts(
    measured: Mapping[str, float | None], estimated: Mapping[str, float | None]
) -> list[MeasuredPart]:
    counterparts = {
        figure: float(value)
        for figure, value in estimated.items()
        if value is not None and not math.isnan(value)
    }
    return [
        MeasuredPart(words.name, size, counterparts.get(figure), words.meaning)
        for figure, words in log_patterns().parts.items()
        if (size := measured.get(figure)) is not None
    ]
