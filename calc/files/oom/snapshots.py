"""Peaks of torch's memory snapshots, as JSON or pickled; nothing in them is run."""

import io
import json
import pickle
import pickletools
from collections import Counter
from collections.abc import Iterable
from functools import lru_cache
from itertools import accumulate
from typing import Any

PICKLES = (b"\x80\x02", b"\x80\x03", b"\x80\x04", b"\x80\x05", b"PK\x03\x04")
MOST_BYTES, MOST_EVENTS = 100_000_000, 4_000_000  # of a pickle; of all its traces
# what pickles of builtin containers, numbers and text consist of; nothing here imports or calls
PLAIN = {
    "PROTO",
    "FRAME",
    "STOP",
    "MARK",
    "NONE",
    "NEWTRUE",
    "NEWFALSE",
    "MEMOIZE",
    "BINPUT",
    "LONG_BINPUT",
    "BINGET",
    "LONG_BINGET",
    "EMPTY_DICT",
    "SETITEM",
    "SETITEMS",
    "EMPTY_LIST",
    "APPEND",
    "APPENDS",
    "EMPTY_TUPLE",
    "TUPLE",
    "TUPLE1",
    "TUPLE2",
    "TUPLE3",
    "BININT",
    "BININT1",
    "BININT2",
    "LONG1",
    "BINFLOAT",
    "SHORT_BINUNICODE",
    "BINUNICODE",
    "SHORT_BINBYTES",
    "BINBYTES",
}
CHANGES = {  # what is counted -> its size in a segment, and what changes it in a trace
    "allocated_bytes.all.peak": ("allocated_size", {"alloc": 1, "free_completed": -1}),
    "reserved_bytes.all.peak": ("total_size", {"segment_alloc": 1, "segment_free": -1}),
}
BROKEN = (
    ArithmeticError,
    AttributeError,
    LookupError,
    RecursionError,
    TypeError,
    ValueError,
    EOFError,
    pickle.UnpicklingError,
)


class _Containers(pickle.Unpickler):
    def find_class(self, module_name: str, global_name: str) -> Any:
        raise pickle.UnpicklingError(f"{module_name}.{global_name} is no builtin container")


@lru_cache(maxsize=4)
def pickled_peaks(content: bytes) -> str:
    """A pickled snapshot's peaks as memory_stats() has them, JSON; empty of other pickles.

    Every opcode is checked before anything is made, and none that imports or calls is taken.
    Source: Python's documentation, pickle, Restricting Globals; torch/cuda/memory.py,
    _dump_snapshot.
    """
    try:
        for opcode, place, _ in pickletools.genops(content):
            if opcode.name not in PLAIN or (
                opcode.name == "LONG_BINPUT" and (place or 0) >= len(content)
            ):
                return ""
        peaks = peaks_of(_Containers(io.BytesIO(content)).load())
    except BROKEN:
        return ""
    return json.dumps(peaks) if peaks else ""


def peaks_of(snapshot: Any) -> dict[str, float]:
    """The fullest device's peaks of torch.cuda.memory._snapshot(); empty of anything else. [B]

    Source: torch/cuda/memory.py, _snapshot: `segments` are what stands at the end, `device_traces`
    how it came to that.
    """
    try:
        traces, segments = snapshot["device_traces"], snapshot["segments"]
        if sum(len(trace) for trace in traces) > MOST_EVENTS:
            return {}
        return {
            name: peak
            for name, (size, signs) in CHANGES.items()
            if (peak := max(_device_peaks(traces, segments, size, signs), default=0)) > 0
        }
    except BROKEN:
        return {}


def _device_peaks(
    traces: list[Any], segments: list[Any], size: str, signs: dict[str, int]
) -> Iterable[float]:
    """Yield the largest memory of each device over its trace. [B]

    `size` is the field of a segment to sum up, and `signs` says which events add to it (1) or take
    from it (-1). The trace ends with what the segments hold, so its start follows from that.
    """
    end_bytes: Counter[int] = Counter()
    for segment in segments:
        end_bytes[segment.get("device", 0)] += segment.get(size, 0)
    for device, trace in enumerate(traces):
        changes_bytes = [
            signs[event["action"]] * event["size"] for event in trace if event["action"] in signs
        ]
        start_bytes = end_bytes[device] - sum(changes_bytes)
        yield max(accumulate(changes_bytes, initial=start_bytes))
