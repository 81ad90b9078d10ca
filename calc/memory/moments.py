"""The moments of a training step and of a request, with what is alive, as data.

A moment names a column for each component that is not alive all the time. A component that no
moment of either kind of work names is alive all the time, in the column of its own name.
"""

from typing import Any, NamedTuple

import numpy as np

from calc.columns import ALLOCATED, COMPONENTS
from calc.evaluate import Columns, Row

PHASES = ("load", "prefill", "decode", "rollout", "log-probs", "forward", "backward", "step")
WHERE = {
    "rollout": "rolls_out",
    "log-probs": "scores_first",
}  # the column that says whether a phase is there; else it is always
ABSENT = np.zeros(1)


class Moment(NamedTuple):
    """A moment of a phase. `parts` names the column of each component that is not always alive."""

    phase: str
    name: str
    parts: dict[str, str]


def _moment(phase: str, name: str, weights: str = "stored_weights", **parts: str) -> Moment:
    """Return a moment whose components are the columns of these names."""
    parts = {"weights": weights, **parts}
    return Moment(
        phase,
        name,
        {f"{component}_bytes": f"{column}_bytes" for component, column in parts.items()},
    )


def _in_block(name: str) -> Moment:
    """Return a moment inside one block of the backward pass. Its columns cover several places."""
    parts = {
        "gradients": "place_gradients",
        "activations": f"{name}_activations",
        "working": f"{name}_working",
    }
    return _moment(
        "backward",
        f"block-{name}",
        **STATES | {"other_models": "passed_models"},
        **parts,
    )


STATES = {
    "optimizer": "resident_optimizer",
    "other_models": "stepped_models",
    "rollout_engine": "awake_engine",
}
AT_HEAD = STATES | {
    "gradients": "head_earlier_gradients",
    "other_models": "scored_models",
}  # beside earlier micro-batches' gradients
QUIET = STATES | {"other_models": "standing_models"}
SAVED = AT_HEAD | {"activations": "saved_activations"}
ENCODED = {"kv_cache": "prefill_cache"}
LOAD = _moment("load", "load", working="load_working")
MOMENTS = {  # components and the columns that hold them, all in bytes
    "training": (
        LOAD,
        _moment(
            "rollout",
            "rollout",
            weights="rollout_weights",
            optimizer="rollout_optimizer",
            other_models="rollout_models",
            rollout_engine="engine_share",
            kv_cache="answers_cache",
        ),
        _moment(
            "log-probs",
            "log-probs",
            **QUIET | {"activations": "quiet_activations", "logits": "quiet_logits"},
        ),
        _moment(
            "forward",
            "head-forward",
            **SAVED | {"logits": "forward_logits", "working": "forward_working"},
        ),
        _moment(
            "backward",
            "loss-gradient",
            **SAVED | {"logits": "backward_logits", "working": "backward_working"},
        ),
        _moment(
            "backward",
            "head-gradient",
            **SAVED | {"logits": "head_logits", "working": "head_working"},
        ),
        _moment(
            "backward",
            "head-reduction",
            **AT_HEAD | {"activations": "head_reduction_activations", "working": "head_reduction"},
        ),
        _moment(
            "backward",
            "embedding-gradient",
            **STATES
            | {
                "gradients": "end_gradients",
                "activations": "embedding_activations",
                "working": "end_working",
            },
        ),
        _moment(
            "step",
            "optimizer-step",
            **STATES | {"gradients": "step_gradients", "working": "step_working"},
        ),
        _in_block("products"),
        _in_block("attention"),
        _in_block("gradients"),
        _in_block("reduction"),
    ),
    "inference": (
        LOAD,
        _moment(
            "prefill",
            "prompt-block",
            **ENCODED | {"activations": "prefill_activations", "working": "dequantized"},
        ),
        _moment(
            "prefill",
            "prompt-logits",
            **ENCODED | {"activations": "prefill_hidden", "logits": "prefill_logits"},
        ),
        _moment(
            "decode",
            "decode",
            kv_cache="decode_cache",
            logits="decode_logits",
            working="decode_working",
        ),
    ),
}


def named_in(work: str) -> frozenset[str]:
    """Return the components that are not alive all the time in one kind of work."""
    return frozenset(name for moment in MOMENTS[work] for name in moment.parts)


PASSING = tuple(
    name for name in ALLOCATED if any(name in named_in(work) for work in MOMENTS)
)  # components that come and go


FORWARD_PASS = tuple(
    name
    for name in PASSING
    if name in named_in("inference") and name not in ("weights_bytes", "kv_cache_bytes")
)  # of a request, beside the weights and its cache


def components_of(work: str) -> tuple[str, ...]:
    """The components that a kind of work can have: permanent ones, and those of its moments."""
    return tuple(name for name in COMPONENTS if name not in PASSING or name in named_in(work))


def moments_of_scenario(table: Columns, work: str) -> list[int]:
    """The numbers of the moments that the one scenario of a table has."""
    return [
        number
        for number, moment in enumerate(MOMENTS[work])
        if moment.phase not in WHERE or table[WHERE[moment.phase]][0] > 0
    ]


def add_moments(table: Columns, work: str) -> Columns:
    """Add each moment's bytes, by component and in all (`moment_bytes`); return the table.

    A column with more axes than rows holds one moment at several places: each row takes the
    largest, of stacks that have blocks.
    """
    always = sum(table[name] for name in ALLOCATED if name not in named_in(work) and name in table)
    columns: dict[str, list[Any]] = {
        name: [] for name in PASSING if name in named_in(work) or name not in table
    }
    totals = []
    for moment in MOMENTS[work]:
        parts = {name: table[column] for name, column in moment.parts.items()}
        total = sum(parts.values())
        if np.ndim(total) > 1:
            parts, total = _largest_place(parts, at_blocks(total, table))
        for name, values in columns.items():
            values.append(parts.get(name, ABSENT))
        totals.append(always + total)
    table |= {f"moment_{name}": tuple(values) for name, values in columns.items()}
    table["moment_bytes"] = tuple(totals)
    return table


def at_blocks(total: np.ndarray, table: Columns) -> np.ndarray:
    """A moment's total at every place; 0 in a stack that has no block on this GPU."""
    has_stacks = np.ndim(total) == 3  # of two axes of places, one is of stacks
    return np.where(table["stack_layers_here"] > 0, total, 0) if has_stacks else total


def _largest_place(parts: Row, total: np.ndarray) -> tuple[Row, np.ndarray]:
    """Components and total at each row's largest place; the leading axes are the places."""
    flat = total.reshape(-1, total.shape[-1])
    place = np.argmax(flat, axis=0)[None]
    largest_parts = {
        name: np.take_along_axis(
            np.broadcast_to(values, total.shape).reshape(flat.shape), place, axis=0
        )[0]
        for name, values in parts.items()
    }
    return largest_parts, np.take_along_axis(flat, place, axis=0)[0]
