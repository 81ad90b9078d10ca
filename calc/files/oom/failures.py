"""Sizes in torch's out-of-memory message, in its four generations.

c10/cuda/CUDACachingAllocator.cpp writes it: up to 2.0 "already allocated ... reserved in total by
PyTorch" ("cached" before 1.4);
2.1 "a total capacty of"; from 2.2 "capacity"; from 2.4 private pools.
"""

import re
from typing import NamedTuple

from calc.files.oom.logs import SIZED, log_patterns
from calc.files.oom.sizes import first_size, in_bytes, one_line

LONGEST = 1500  # characters of one message
MOST_FAILURES = 1000  # messages of one text, one for each rank
MOST_OF_A_CARD = 2  # times its memory: the driver may move some to CPU memory
OTHER = re.compile(
    r"Process (\d{1,9}) has (\d{1,9}(?:\.\d{1,6})?)\s?(bytes|[KMGT]iB) memory in use"
)


class Failure(NamedTuple):
    """One message: sizes in bytes, None where the message does not give them.

    tried: the request that failed. total, free: of the card. process: of this process, by the
    driver; others: of each other process, by number. allocated: tensors alive at that moment, not
    the peak. private_pools: of CUDA graphs, inside allocated. unallocated: reserved by the
    allocator and not in use. allowed: a limit that the program set.
    """

    release: str
    gpu: int | None
    tried: float
    total: float | None
    free: float | None
    process: float | None
    others: dict[int, float]
    allocated: float | None
    private_pools: float | None
    unallocated: float | None
    allowed: float | None

    @property
    def reserved(self) -> float | None:
        """Allocated memory, and what the allocator has cached. [B]"""
        if self.allocated is None or self.unallocated is None:
            return None
        return self.allocated + self.unallocated

    @property
    def others_bytes(self) -> float:
        """Memory of other processes, or all in use outside this process. [B]"""
        if self.process and self.total is not None and self.free is not None:
            return max(self.total - self.free - self.process, 0.0)
        return sum(self.others.values())

    @property
    def context(self) -> float | None:
        """Memory of this process outside torch's allocator, at most. [B]"""
        if self.reserved is None:
            return None
        if self.process:
            return max(self.process - self.reserved, 0.0)
        if self.total is None or self.free is None:
            return None
        return max(self.total - self.free - self.reserved - self.others_bytes, 0.0)


def failures(text: str) -> list[Failure]:
    """Every message in the text that gives a size, in order."""
    parts = one_line(text).split(SIZED, MOST_FAILURES + 1)[1 : MOST_FAILURES + 1]
    return [failure for part in parts if (failure := _read_failure(part[:LONGEST]))]


def fullest(messages: list[Failure]) -> Failure:
    """The failure of the rank that had reserved the most."""
    return max(messages, key=lambda failure: (failure.reserved or 0.0, failure.tried))


def _read_failure(text: str) -> Failure | None:
    """Return the failure that one message states; None if it does not begin with a size.

    `text` follows the words "Tried to allocate". Releases of PyTorch word the same figure
    differently, so several patterns are tried for some of them.
    """
    tried = first_size(r"^\s*{}", text)
    if tried is None:
        return None
    gpu = re.search(r"GPU (\d{1,4})\b", text)
    allocated = _first(
        text, r"Of the allocated memory {} is allocated by PyTorch", r"{} already allocated"
    )
    reserved = _first(text, r"{} reserved in total by PyTorch", r"{} cached\)")
    unallocated = first_size(r"and {} is reserved by PyTorch but unallocated", text)
    if unallocated is None and reserved is not None and allocated is not None:
        unallocated = max(reserved - allocated, 0.0)
    others = {int(number): in_bytes(amount, unit) for number, amount, unit in OTHER.findall(text)}
    process = first_size(r"this process has {} memory in use", text)
    total = _first(text, r"total capaci?ty of {}", r"{} total capacity")
    free = _first(text, r"of which {} is free", r"{} free")
    if process is not None and total is not None and process > MOST_OF_A_CARD * total:
        process = None  # a driver that cannot tell writes an impossible size
    if process is None and others:
        process = others.pop(_own(others, (allocated or 0.0) + (unallocated or 0.0)), None)
    releases = log_patterns().releases.items()
    return Failure(
        release=next((release for words, release in releases if words in text), ""),
        gpu=int(gpu[1]) if gpu else None,
        tried=tried,
        total=total,
        free=free,
        process=process,
        others=others,
        allocated=allocated,
        private_pools=first_size(r"with {} allocated in private pools", text),
        unallocated=unallocated,
        allowed=first_size(r"{} allowed", text),
    )


def _own(processes: dict[int, float], held_bytes: float) -> int:
    """The number of the process that failed among those listed with their memory; 0 if unknown.

    In a container torch does not know its own number and lists itself with the others: it is the
    smallest that can hold what its allocator reserved. [B]
    """
    able = [number for number, used in processes.items() if used >= held_bytes > 0]
    return min(able, key=processes.__getitem__, default=0)


def _first(text: str, *patterns: str) -> float | None:
    return next(
        (size for size in (first_size(pattern, text) for pattern in patterns) if size is not None),
        None,
    )
