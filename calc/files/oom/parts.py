"""Reported memory beside the estimate of the run, part by part. [B]"""

from collections.abc import Mapping
from typing import Any, NamedTuple

from calc.catalogs.load import Catalogs
from calc.engine.pipeline import estimate
from calc.evaluate import Row
from calc.files.oom.failures import Failure
from calc.files.oom.findings import is_other_work
from calc.memory.moments import FORWARD_PASS
from calc.scenarios.inputs import BY_NAME
from calc.units import GIB

DRIVER_KEEPS_RATIO = 0.035  # of a card's memory, at most: what torch calls its capacity is less than nvidia-smi's (T4: 3 %)
ROUNDED_BYTES = 0.05 * GIB  # differences of sizes that were printed with two decimals


class MeasuredPart(NamedTuple):
    """A part of the memory: reported and estimated bytes (None where missing), and meaning."""

    name: str
    measured: float
    estimated: float | None
    meaning: str

    def in_gib(self) -> dict[str, Any]:
        """The part as a table row: measured, estimated and difference, None if incomparable. [GiB]"""
        measured = self.measured / GIB
        estimated = None if self.estimated is None else self.estimated / GIB
        difference = None if estimated is None else measured - estimated
        return {
            "part": self.name,
            "measured_gib": measured,
            "estimated_gib": estimated,
            "difference_gib": difference,
            "meaning": self.meaning,
        }


def cards_of_capacity(total: float | None, catalogs: Catalogs) -> list[str]:
    """Ids of cards whose driver reports this memory: those that AWS rents first, then nearest."""
    if not total:
        return []
    memory = catalogs.gpus["memory_bytes"].astype(float)
    near = memory[(total >= (1 - DRIVER_KEEPS_RATIO) * memory) & (total <= 1.005 * memory)]
    sold = set(catalogs.instances["gpu"])
    return sorted(map(str, near.index), key=lambda name: (name not in sold, abs(near[name] - total)))


def on_card(row: Row, total: float | None, catalogs: Catalogs) -> dict[str, Any]:
    """The row on the card of the message, estimated anew where it names another card."""
    cards = cards_of_capacity(total, catalogs)
    if not cards or row["gpu"] in cards:
        return dict(row)
    scenario = {name: row[name] for name in BY_NAME if name in row and row[name] == row[name] and row[name] is not None}
    return estimate({**scenario, "instance": "", "gpu": cards[0]}, catalogs, solve=False)


def parts_of_failure(failure: Failure, row: Row) -> list[MeasuredPart]:
    """A message's parts: allocated, reserved beyond, context, other processes, free, the card."""
    rows = [
        (
            "Allocated by PyTorch",
            failure.allocated,
            row["allocated_peak_bytes"],
            "Tensors alive when it failed; the estimate is of the peak",
        ),
        (
            "Reserved and not in use",
            failure.unallocated,
            row["overhead_bytes"] - row["context_bytes"],
            "The allocator's cache and fragments",
        ),
        ("Context and libraries", failure.context, row["context_bytes"], "This process outside PyTorch's allocator"),
        (
            "Other processes",
            failure.others_bytes if failure.others_bytes > ROUNDED_BYTES else None,
            0.0,
            "On the same card; no plan counts them",
        ),
        ("Free", failure.free, max(row["headroom_bytes"], 0.0), "On the whole card at that moment"),
        ("The card", failure.total, row["gpu_memory_bytes"], "What its driver leaves to PyTorch"),
    ]
    return _parts(rows)


def parts_of_figures(figures: Mapping[str, float], row: Row, catalogs: Catalogs) -> list[MeasuredPart]:
    """A summary's or a log's parts, each beside what the estimate counts as the same."""
    outside, forward = row["memory_bytes"] - row["context_bytes"], sum(row[name] for name in FORWARD_PASS)
    rows = [
        ("Allocated peak", figures.get("allocated_peak"), row["logged_peak_bytes"], "torch.cuda.max_memory_allocated"),
        ("Reserved peak", figures.get("reserved_peak"), outside, "torch.cuda.max_memory_reserved"),
        ("In use on the card", figures.get("used"), row["memory_bytes"], "What nvidia-smi shows, context included"),
        ("Weights", figures.get("weights"), row["weights_bytes"], "As loaded"),
        ("Peak of a forward pass", figures.get("activation_peak"), forward, "Of the engine's start-up profile"),
        ("Outside PyTorch", figures.get("non_torch"), row["context_bytes"], "Context, NCCL and libraries"),
        (
            "KV cache",
            figures.get("kv_pool"),
            row["kv_cache_bytes"],
            "The engine gives it all that is left; the plan, what its sequences need",
        ),
        ("One request's KV cache", figures.get("kv_needed"), _one_request(figures, row, catalogs), "At the longest that the engine admits"),
        ("CUDA graphs", figures.get("graphs"), None, "Inside the overhead of the estimate"),
    ]
    return _parts(rows if not is_other_work(figures, row) else [(*entry[:2], None, entry[3]) for entry in rows])


def _one_request(figures: Mapping[str, float], row: Row, catalogs: Catalogs) -> float | None:
    """The cache of one sequence as long as the engine admits. [B]"""
    if "kv_needed" not in figures or "request_tokens" not in figures or row["work"] != "inference":
        return None
    scenario = {name: row[name] for name in BY_NAME if name in row and row[name] == row[name] and row[name] is not None}
    longest = {"batch": 1, "sequence_tokens": int(figures["request_tokens"]), "prompt_tokens": None}
    return estimate({**scenario, **longest}, catalogs, solve=False)["kv_cache_bytes"]


def _parts(rows: list[tuple[str, float | None, float | None, str]]) -> list[MeasuredPart]:
    return [
        MeasuredPart(name, measured, None if estimated is None or estimated != estimated else float(estimated), meaning)
        for name, measured, estimated, meaning in rows
        if measured is not None
    ]
