"""The meaning of the sizes: why a run failed, and where it differs from the estimate."""

import re
from collections.abc import Mapping
from math import floor

from calc.catalogs.load import Catalogs
from calc.evaluate import Row
from calc.files.oom.failures import Failure
from calc.files.oom.logs import SIZED, last_named, log_patterns
from calc.files.oom.sizes import printed_lines
from calc.say.numbers import is_missing, size
from calc.units import GIB

FRAGMENTED_RATIO = 0.1  # of the card: fewer fragments are usual
SAME_RATIO = 0.02
NEARLY_FULL = 0.9  # of a cache in which requests wait
PRINTED_RATIO = 0.002  # of a size that is printed with two decimals
CALL = re.compile(r'File "[^"]+", line \d|\.py(?::|\()\d+\)?')
INNERMOST = 2  # calls of a trace that say what was being made
LIKELY_TOKENS = 1024  # of which a pass usually holds a multiple
OF_ENGINES = (
    "kv_pool",
    "kv_tokens",
    "kv_needed",
    "activation_peak",
    "free_at_start",
    "sampled_sequences",
)
OTHER_WORK = (
    "This log is of a serving engine and the run trains: add the engine's command to compare them."
)
HIDDEN = (
    "the longest batch, a second model (reference, reward, vision tower), an evaluation, or a "
    "loss kept with its graph"
)


def findings_of_failure(
    failure: Failure, row: Row, catalogs: Catalogs, trace: str = ""
) -> list[str]:
    """The meaning of a message, the cause first; missing sizes are not guessed.

    `trace`: the text around it, whose functions may name the tensor.
    """
    sentences = [_of_request(failure, row, catalogs, trace), _of_card(failure)]
    if failure.others_bytes > GIB:
        numbers = f" (process {', '.join(map(str, failure.others))})" if failure.others else ""
        sentences.append(
            f"Other processes take {size(failure.others_bytes)}{numbers} of the card: stop "
            f"them first."
        )
    sentences += _against_estimate(failure.allocated or 0.0, row, at_failure=True)
    return [sentence for sentence in sentences if sentence]


def _of_request(failure: Failure, row: Row, catalogs: Catalogs, trace: str) -> str:
    """Return what the refused request was for, by the trace or by its size; empty if unknown."""
    tried = failure.tried
    if named := named_tensor(trace):
        return _of_tensor(*named, tried, row, catalogs)
    if shape := _shape(tried, row, catalogs):
        return f"The request of {size(tried)} has the size of {shape}."
    if is_second_copy(failure):
        return (
            f"The request of {size(tried)} is as large as all that was allocated: a second copy of "
            "the weights, such as gradients in one buffer, fp32 copies, or a cast or merge."
        )
    return ""


def is_second_copy(failure: Failure) -> bool:
    """Return whether a request is as large as all that was allocated, and of a model's size."""
    allocated = failure.allocated or 1.0
    return failure.tried > GIB and abs(failure.tried / allocated - 1) <= SAME_RATIO


def _of_card(failure: Failure) -> str:
    """Return why the card refused the request; empty if the message gives too few sizes."""
    tried = failure.tried
    total = failure.total or 0.0
    free = failure.free
    if reason := _beyond_card(failure) or _not_in_use(failure):
        return reason
    if free is not None and free > tried:
        return (
            f"{size(free)} were free and {size(tried)} were refused: look for a limit below "
            f"the card, a process that has since ended, or fragmented address space."
        )
    if total and failure.allocated is None:
        state = "" if free is None else f": {size(free)} of {size(total)} were free"
        return f"The card was full{state}, and {size(tried)} more did not fit."
    if total:
        return (
            f"The card was full: tensors took {size(failure.allocated or 0.0)} of {size(total)}, "
            f"and {size(tried)} more did not fit."
        )
    return ""


def _beyond_card(failure: Failure) -> str:
    """Return how tensors, or one request alone, are larger than the card; empty if they are not."""
    total, allocated = failure.total or 0.0, failure.allocated or 0.0
    if total and allocated > total:
        return (
            f"{size(allocated)} are allocated on a card of {size(total)}: the driver had "
            f"moved some to CPU memory, which is slow; "
            f"the run needs at least {size(allocated - total)} more than the card has."
        )
    if total and failure.tried > total:
        return (
            f"One request of {size(failure.tried)} is larger than the card: no allocator setting "
            f"helps, so make that tensor smaller."
        )
    return ""


def _not_in_use(failure: Failure) -> str:
    """Return which memory the program leaves: beyond its limit, or fragmented; empty if none."""
    tried, cached = failure.tried, failure.unallocated or 0.0
    if failure.allowed and (failure.allocated or 0.0) + cached + tried > failure.allowed:
        return (
            f"The program allows itself only {size(failure.allowed)}: raise "
            f"set_per_process_memory_fraction."
        )
    if cached >= tried and cached > FRAGMENTED_RATIO * (failure.total or 0.0):
        return (
            f"Fragmentation: {size(cached)} are reserved and not in use, more than the "
            f"{size(tried)} asked for. Set "
            f"{_setting(failure.release)}=expandable_segments:True, and sort or pack "
            f"sequences of like length."
        )
    return ""


def findings_of_figures(figures: Mapping[str, float], row: Row) -> list[str]:
    """Return what the figures of a memory summary or a log mean."""
    sentences = [*_of_allocator(figures), _of_start(figures), _of_longest_request(figures)]
    if is_other_work(figures, row):
        sentences.append(OTHER_WORK)
    else:
        peak = figures.get("allocated_peak", 0.0)
        sentences += [_of_weights(figures, row), *_against_estimate(peak, row, at_failure=False)]
    return [sentence for sentence in sentences if sentence]


def _of_allocator(figures: Mapping[str, float]) -> list[str]:
    """Return what retries of the allocator and memory beyond the allocated peak mean."""
    sentences = []
    if figures.get("retries", 0) > 0 and not figures.get("ooms"):
        sentences.append(
            f"The allocator gave its cache back {figures['retries']:.0f} times to go on: the "
            f"card is nearly full."
        )
    peak = figures.get("allocated_peak", 0.0)
    reserved = figures.get("reserved_peak", 0.0)
    if peak and reserved - peak > FRAGMENTED_RATIO * reserved:
        sentences.append(
            f"{size(reserved - peak)} were reserved beyond the allocated peak: fragments, or "
            f"a short peak of another shape."
        )
    return sentences


def _of_start(figures: Mapping[str, float]) -> str:
    """Return the share that an engine found free at its start, and the share that it wanted."""
    if "free_at_start" not in figures:
        return ""
    free, card = figures["free_at_start"], figures["card"]
    wanted = figures["utilization"] * card
    return (
        f"At start {size(card - free)} of the card were taken, {size(free)} free and "
        f"{size(wanted)} wanted: free the card, or lower gpu_memory_utilization to "
        f"{floor(100 * free / card) / 100} at most."
    )


def _of_longest_request(figures: Mapping[str, float]) -> str:
    """Return by how much the cache is too small for one longest request; empty if it is not."""
    most = figures.get("most_tokens") or figures.get("kv_tokens")
    needed = figures.get("request_tokens")
    if needed and most and most < needed:
        return (
            f"The cache has room for {most:,.0f} tokens and one request may need "
            f"{needed:,.0f}: set max_model_len to at most {most:,.0f}."
        )
    if needed and figures.get("kv_needed", 0.0) > figures.get("kv_pool", float("inf")):
        ratio = figures["kv_pool"] / figures["kv_needed"]
        return (
            f"The cache has room for {ratio:.0%} of one longest request: lower "
            f"max_model_len, or take an fp8 cache."
        )
    return ""


def _of_weights(figures: Mapping[str, float], row: Row) -> str:
    """Return the weights beside those of the plan if the two differ."""
    weights, planned = figures.get("weights"), row["weights_bytes"]
    is_known = planned > 0  # NaN without a plan
    if weights is None or not is_known or abs(weights / planned - 1) <= 2 * SAME_RATIO:
        return ""
    return (
        f"The weights take {size(weights)} and {size(planned)} in the plan: another model, "
        "number format or split."
    )


def findings_of_cache(figures: Mapping[str, float], row: Row) -> list[str]:
    """Return the cache of a running engine beside the estimate, and how full it is."""
    tokens = figures.get("kv_tokens")
    estimated = row.get("kv_pool_tokens")
    if not tokens:
        return _usage(figures)
    beside = ""
    if estimated and not is_missing(estimated):
        beside = f", {estimated:,.0f} by the estimate ({estimated / tokens - 1:+.0%})"
    requests = figures.get("concurrency")
    length = f": {requests:g} requests of the full length" if requests else ""
    return [f"The engine's cache holds {tokens:,.0f} tokens{beside}{length}.", *_usage(figures)]


def _usage(figures: Mapping[str, float]) -> list[str]:
    """The share of its cache that an engine uses, and the requests that wait for room."""
    if "kv_usage" not in figures:
        return []
    used = f"{figures['kv_usage']:.1%} of the cache is in use"
    waiting = figures.get("waiting", 0)
    if figures["kv_usage"] < NEARLY_FULL or not waiting:
        return [f"{used}."]
    return [
        f"{used} and {waiting:.0f} requests wait: a larger share of the card, an fp8 cache or "
        "another replica takes more at once."
    ]


def is_other_work(figures: Mapping[str, float], row: Row) -> bool:
    """Return whether the log is of a serving engine and the run trains: nothing can be compared."""
    return row["work"] == "training" and any(name in figures for name in OF_ENGINES)


def _against_estimate(allocated: float, row: Row, at_failure: bool) -> list[str]:
    """Return where the allocated bytes lie in the range of the estimated peak; empty if unknown."""
    peak = row["allocated_peak_bytes"]
    if not peak > 0 or not allocated:
        return []
    high = peak + (row["memory_high_bytes"] - row["memory_bytes"])
    low = peak - (row["memory_bytes"] - row["memory_low_bytes"])
    moment = "when it failed" if at_failure else "at the peak"
    measured = f"{size(allocated)} were allocated {moment}"
    if low <= allocated <= high:
        range_of_peak = f"{size(low)} to {size(high)}"
        return [f"{measured}: within the range of the estimate's peak, {range_of_peak}."]
    if allocated < low and at_failure:
        return [f"It failed before its peak: {measured}, and the estimate's peak is {size(peak)}."]
    side = "above" if allocated > high else "below"
    reason = "the run is smaller than the plan says"
    if allocated > high:
        reason = f"look for what the config does not say, {HIDDEN}"
    return [f"{measured}, {side} the estimate's peak of {size(peak)} and its range: {reason}."]


def named_tensor(trace: str) -> tuple[str, str] | None:
    """Return the tensor that the last line of a trace to name one was making, and that word.

    Where no word of the catalog stands in it, the innermost calls tell by their names.
    """
    if named := last_named(trace, log_patterns().tensors):
        return named
    for call in reversed(innermost_calls(trace)):
        for tensor, pattern in log_patterns().stems.items():
            if match := re.search(pattern, call):
                return tensor, match[0]
    return None


def innermost_calls(trace: str) -> list[str]:
    """The last calls of a Python trace, each with its line of code, the innermost last."""
    lines = printed_lines(trace)
    places = [number for number, line in enumerate(lines) if CALL.search(line)]
    calls = [lines[place : place + 2] for place in places[-INNERMOST:]]
    return [" ".join(line for line in call if SIZED not in line) for call in calls]


def _of_tensor(tensor: str, word: str, tried: float, row: Row, catalogs: Catalogs) -> str:
    """The tensor that a trace names; of the logits the tokens that its size stands for."""
    made = (
        f"The request of {size(tried)} was for the {tensor}: the trace ends in "
        f"{word.removeprefix('in ')}."
    )
    if tensor != "logits" or row["model"] not in catalogs.models.index:
        return made
    vocabulary = float(catalogs.models.loc[row["model"], "outputs"])
    for width in (4, 2):
        tokens = tried / (vocabulary * width)
        likely = max(round(tokens / LIKELY_TOKENS), 1) * LIKELY_TOKENS
        if abs(tokens / likely - 1) <= PRINTED_RATIO:
            return (
                f"{made} {likely:,} tokens x {vocabulary:,.0f} words of the vocabulary x {width} "
                f"bytes: send fewer tokens through in a pass, or take the entropy and the loss in "
                f"chunks."
            )
    return (
        f"{made} It holds tokens x vocabulary: send fewer tokens in a pass, or take it in chunks."
    )


def _shape(tried: float, row: Row, catalogs: Catalogs) -> str:
    """The tensor of the plan within two percent of the request's size, or empty."""
    if row["model"] not in catalogs.models.index:
        return ""
    model = catalogs.models.loc[row["model"]]
    split = float(row["tensor_parallel"])
    tokens = float(row["batch"]) * float(
        row["prompt_tokens"] if row["work"] == "inference" else row["sequence_tokens"]
    )
    length = tokens / float(row["batch"])
    tensors = {
        "the scores of eager attention: batch x heads x length x length": tokens
        * length
        * float(model["heads"])
        / split,
        "the logits: batch x length x vocabulary": tokens * float(model["outputs"]),
        "the embedding or the head: vocabulary x hidden size": float(model["outputs"])
        * float(model["hidden"]),
    }
    for name, elements in tensors.items():
        for width in (2, 4):
            if abs(tried / (width * elements) - 1) <= SAME_RATIO:
                return f"{name}, in {8 * width} bits"
    return ""


def _setting(release: str) -> str:
    return "PYTORCH_ALLOC_CONF" if release.startswith("2.10") else "PYTORCH_CUDA_ALLOC_CONF"
