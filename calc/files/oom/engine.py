"""Options of a serving engine that ran out which mend it without another machine."""

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from calc.catalogs.load import Catalogs
from calc.evaluate import Row
from calc.files.oom.memory_parts import estimate_with
from calc.say.numbers import is_missing, size, with_capital

LEAST_BYTES = 64 * 1024.0**2  # less is not worth a change
MOST_SHARE = 0.97  # of a card: beyond it the driver and other processes run out
FEWEST_TOKENS, FEWEST_SEQUENCES = 2048, 8
USUAL_SEQUENCES, USUAL_TOKENS = 256, 8192  # where the plan names none
FLAGS = {
    "memory_utilization": "--gpu-memory-utilization, --mem-fraction-static",
    "max_sequences": "--max-num-seqs, --max-running-requests",
    "max_batched_tokens": "--max-num-batched-tokens, --chunked-prefill-size",
    "kv_precision": "--kv-cache-dtype",
    "sequence_tokens": "--max-model-len, --context-length",
}
WORDS = {
    "memory_utilization": "a larger share of the card, {}",
    "max_sequences": "fewer concurrent sequences, {:.0f}",
    "max_batched_tokens": "fewer batched tokens, {:.0f}",
    "kv_precision": "a KV cache in {}",
    "sequence_tokens": "a shorter length, {:.0f} tokens at most",
}


class EngineCure(NamedTuple):
    """One option of the engine: the column, its new value, and the cache that it gains. [B]"""

    column: str
    value: Any
    gained_bytes: float | None  # None where no card is known

    def sentence(self) -> str:
        """The option with its flags and its effect."""
        words = WORDS[self.column].format(self.value)
        gain = (
            "" if self.gained_bytes is None else f": {size(self.gained_bytes)} more for the cache"
        )
        return f"{with_capital(words)} ({FLAGS[self.column]}){gain}"


def takes_a_share(row: Row) -> bool:
    """Return whether a row is of a serving engine that takes a share of the card."""
    return row["work"] == "inference" and not is_missing(row.get("memory_utilization"))


def engine_cures(row: Row, figures: Mapping[str, float], catalogs: Catalogs) -> list[EngineCure]:
    """The options that leave more for the cache or ask less of it, the gentlest first.

    Each is estimated and left out where the software refuses it.
    """
    if not takes_a_share(row):
        return []
    cures = []
    for column, value in _options(row, figures):
        after = estimate_with(row, {"prompt_tokens": None, column: value}, catalogs)
        if after["problem"] or after["runs"] == "no":
            continue
        gained = after["kv_pool_bytes"] - row["kv_pool_bytes"]
        if column == "kv_precision":
            gained = row["kv_pool_bytes"] / 2  # the same room holds twice the tokens
        if is_missing(gained) or column == "sequence_tokens":
            cures.append(EngineCure(column, value, None))
        elif gained > LEAST_BYTES:
            cures.append(EngineCure(column, value, gained))
    return cures


def _options(row: Row, figures: Mapping[str, float]) -> Iterator[tuple[str, Any]]:
    """Yield the settings that make an engine start, each with a value to try."""
    longest = figures.get("most_tokens") or figures.get("kv_tokens") or row.get("kv_pool_tokens")
    asked = max(row["sequence_tokens"], figures.get("request_tokens", 0.0))
    if longest and not is_missing(longest) and 0 < longest < asked:
        yield "sequence_tokens", int(longest)
    share = row["memory_utilization"]
    weights = figures.get("weights", 0.0)
    free = figures.get("free_after_weights", 0.0)
    least = weights / (weights + free) if weights and free else 0.0
    wanted = max(round(least + 0.02, 2), min(share + 0.03, MOST_SHARE))
    if share < wanted <= MOST_SHARE:
        yield "memory_utilization", round(wanted, 2)
    sequences = _value_or_default(row.get("max_sequences"), USUAL_SEQUENCES)
    if sequences > FEWEST_SEQUENCES:
        yield "max_sequences", max(sequences // 2, FEWEST_SEQUENCES)
    tokens = _value_or_default(row.get("max_batched_tokens"), USUAL_TOKENS)
    if tokens > FEWEST_TOKENS:
        yield "max_batched_tokens", max(tokens // 2, FEWEST_TOKENS)
    if is_missing(row["kv_precision"]):
        yield "kv_precision", "fp8"


def _value_or_default(value: Any, usual: int) -> int:
    return usual if value is None or is_missing(value) else int(value)
