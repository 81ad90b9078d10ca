"""Memory figures in logs of torch, vLLM, SGLang, DeepSpeed and nvidia-smi."""

import json
import re
from collections.abc import Iterator
from typing import Any, NamedTuple

from calc.files.oom.sizes import MOST_CHARACTERS, SIZE, in_bytes, one_line

NUMBER, COUNT = r"(\d{1,12}(?:\.\d{1,9})?)", r"(\d[\d,]{0,14})"
BLOCK_TOKENS = 16  # of vLLM's KV cache, as long as nobody sets it


class Told(NamedTuple):
    """A kind of figure: its name, its pattern ({}, {count}, {number}), the factor of a count."""

    name: str
    pattern: str
    factor: float = 1.0


# Of figures that a log repeats the last counts, of peaks and ranks the largest.
TOLD = (
    Told("card", r"total_gpu_memory \({}\)"),
    Told("utilization", r"gpu_memory_utilization \({number}\)"),
    Told("weights", r"(?:model weights take|Model loading took|mem usage=) ?{}"),
    Told("non_torch", r"non_torch_memory takes {}"),
    Told("activation_peak", r"activation peak memory takes {}"),
    Told("kv_pool", r"(?:reserved for KV Cache is|Available KV cache memory:) {}"),
    Told("kv_pool", r"Allocated {} for max tokens in paged KV cache"),
    Told("kv_tokens", r"GPU KV cache size: {count} tokens"),
    Told("kv_tokens", r"# CUDA blocks: {count}", BLOCK_TOKENS),
    Told("kv_tokens", r"KV Cache is allocated\. #tokens: {count}"),
    Told("kv_tokens", r"stored in KV cache \({count}\)"),
    Told("request_tokens", r"max seq len \({count}\)"),
    Told("kv_needed", r"{} KV cache is needed"),
    Told("kv_pool", r"available KV cache memory \({}\)"),
    Told("most_tokens", r"estimated maximum model length is {count}"),
    Told("graphs", r"CUDA graph pool memory: {}"),
    Told("graphs", r"Graph capturing finished in [\d.]{1,9} secs?, took {}"),
    Told("sampled_sequences", r"warming up sampler with {count} dummy requests"),
    Told("allocated_peak", r"Max_MA {}"),
    Told("allocated_peak", r"MaxMemAllocated={}"),
    Told("reserved_peak", r"Max_CA {}"),
    Told("reserved_peak", r"\bmemory: {}\(\d"),
    Told("used", r"\| {} / \d{1,9}MiB"),
)
STARTUP = re.compile(
    r"Free memory on device(?: [\w:]{1,20})? \(([\d.]{1,12})/([\d.]{1,12}) GiB\) on startup "
    r"is less than desired GPU memory utilization \(([\d.]{1,12})"
)
CELL = rf"\s{{0,20}}{SIZE}\s{{0,20}}"
SUMMARY_ROW = re.compile(
    rf"\|\s{{0,40}}(Allocated memory|GPU reserved memory|Requested memory|Non-releasable memory)\s{{0,40}}\|{CELL}\|{CELL}\|"
)
SUMMARY_PEAKS = {
    "Allocated memory": "allocated_peak",
    "GPU reserved memory": "reserved_peak",
    "Requested memory": "requested_peak",
    "Non-releasable memory": "non_releasable",
}
SUMMARY_COUNTS = {"ooms": rf"CUDA OOMs: {COUNT}", "retries": rf"cudaMalloc retries: {COUNT}"}
STATS = {  # torch.cuda.memory_stats() as JSON
    "allocated_bytes.all.peak": "allocated_peak",
    "reserved_bytes.all.peak": "reserved_peak",
    "requested_bytes.all.peak": "requested_peak",
    "inactive_split_bytes.all.peak": "non_releasable",
    "num_ooms": "ooms",
    "num_alloc_retries": "retries",
}
SILENT = {  # failures that tell no size: what each of them means
    "No available memory for the cache blocks": "vLLM had nothing left for the KV cache after weights and its start-up profile.",
    "occurred when warming up sampler": "vLLM's start-up profile ran out while sampling for all of max_num_seqs at once.",
    "Please try to increase --mem-fraction-static": "SGLang had nothing left for the KV cache: its fraction goes up, or the weights down.",
    "CUBLAS_STATUS_ALLOC_FAILED": "cuBLAS found no memory for its handle: torch's allocator held all of the card.",
    "NVML_SUCCESS == r": "torch failed while it wrote its own out-of-memory message; on MIG slices too.",
    "Cuda failure 'out of memory'": "NCCL found no memory for its buffers.",
    "CUDA error: out of memory": "A kernel or a library found no memory outside torch's allocator; CUDA graphs of an engine do.",
    "Error out of memory at line": "bitsandbytes found no memory for its paged state.",
    "CUDA runtime error in ::cudaMallocAsync": "TensorRT-LLM found no memory; its fraction is of what is free after loading.",
    "pytorch allocator cache flushes": "DeepSpeed sees the allocator giving its cache back in every step: the card is nearly full.",
}


def logged_figures(text: str) -> dict[str, float]:
    """Every figure of the text by name: sizes in bytes, counts, shares."""
    if text.lstrip().startswith("{"):
        return _stats(text)
    line = one_line(text)
    figures: dict[str, float] = {}
    for kind in TOLD:
        for value in _values(kind, line):
            peak = kind.name.endswith("_peak") or kind.name in ("used", "weights")
            figures[kind.name] = max(figures.get(kind.name, 0.0), value) if peak else value
    if (start := STARTUP.search(line)) and float(start[2]) > 0:
        figures |= {"free_at_start": in_bytes(start[1], "GiB"), "card": in_bytes(start[2], "GiB"), "utilization": float(start[3])}
    return figures | _summary(text[:MOST_CHARACTERS])


def silent(text: str) -> list[str]:
    """The meaning of failures that give no size."""
    line = one_line(text)
    return [meaning for words, meaning in SILENT.items() if words in line]


def _values(kind: Told, line: str) -> Iterator[float]:
    pattern = kind.pattern.replace("{}", SIZE).replace("{count}", COUNT).replace("{number}", NUMBER)
    for match in re.finditer(pattern, line):
        groups = [group for group in match.groups() if group is not None]
        yield (in_bytes(*groups[:2]) if "{}" in kind.pattern else float(groups[0].replace(",", ""))) * kind.factor


def _summary(text: str) -> dict[str, float]:
    figures = {SUMMARY_PEAKS[name]: in_bytes(number, unit) for name, _, _, number, unit in SUMMARY_ROW.findall(text)}
    if figures:
        figures |= {
            name: float(count[1].replace(",", "")) for name, pattern in SUMMARY_COUNTS.items() if (count := re.search(pattern, text))
        }
    return figures


def _stats(text: str) -> dict[str, float]:
    try:
        stats: Any = json.loads(text)
    except (ValueError, RecursionError):
        return {}
    if not isinstance(stats, dict):
        return {}
    numbers = {STATS[name]: stats[name] for name in STATS if isinstance(stats.get(name), int | float) and not isinstance(stats[name], bool)}
    return {name: float(value) for name, value in numbers.items() if 0 <= value < 1e18}
