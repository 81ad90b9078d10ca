"""What is alive when: the moments of a training step and of serving a request, as data.

A moment names, for each component that comes and goes, the column that holds it then. A component that no moment of either kind
of work names is alive all the time, under the column of its own name.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from calc.columns import ALLOCATED, COMPONENTS
from calc.evaluate import Columns, reading

PHASES = ("load", "prefill", "decode", "forward", "backward", "step")
ABSENT = np.zeros(1)


class Moment(NamedTuple):
    """A moment of a phase: `parts` gives the column of each component that comes and goes."""

    phase: str
    says: str
    parts: dict[str, str]


def _moment(phase: str, says: str, **parts: str) -> Moment:
    return Moment(phase, says, parts)


def _at_head(phase: str, says: str, **parts: str) -> Moment:
    """A moment at the head, beside the gradients of earlier micro-batches."""
    return Moment(phase, says, {"optimizer_bytes": "resident_optimizer_bytes", "gradients_bytes": "head_earlier_gradients_bytes", **parts})


def _in_block(name: str, says: str) -> Moment:
    """A moment of the backward pass inside one block; its columns hold it at several places."""
    return Moment(
        "backward",
        f"The backward pass inside one block, {says}.",
        {
            "optimizer_bytes": "resident_optimizer_bytes",
            "gradients_bytes": "place_gradients_bytes",
            "activations_bytes": f"{name}_activations_bytes",
            "working_bytes": f"{name}_working_bytes",
        },
    )


LOAD = _moment("load", "The model on the GPU before anything runs.", working_bytes="load_working_bytes")
MOMENTS = {
    "training": (
        LOAD,
        _at_head(
            "forward",
            "The head's forward pass: everything saved, logits upcast.",
            activations_bytes="saved_activations_bytes",
            logits_bytes="forward_logits_bytes",
            working_bytes="forward_working_bytes",
        ),
        _at_head(
            "backward",
            "The loss's gradient: everything saved and the logits' gradients.",
            activations_bytes="saved_activations_bytes",
            logits_bytes="backward_logits_bytes",
            working_bytes="backward_working_bytes",
        ),
        _at_head(
            "backward",
            "The head's own gradient, beside that of earlier micro-batches.",
            activations_bytes="saved_activations_bytes",
            logits_bytes="head_logits_bytes",
            working_bytes="head_working_bytes",
        ),
        _at_head(
            "backward",
            "The reduction of the head's gradient, the blocks' activations still there.",
            activations_bytes="head_reduction_activations_bytes",
            working_bytes="head_reduction_bytes",
        ),
        _moment(
            "backward",
            "The embedding's gradient, built dense, and FSDP's last reduction.",
            optimizer_bytes="resident_optimizer_bytes",
            gradients_bytes="end_gradients_bytes",
            activations_bytes="embedding_activations_bytes",
            working_bytes="end_working_bytes",
        ),
        _moment(
            "step",
            "The optimizer's step: all gradients and the step's temporaries.",
            optimizer_bytes="resident_optimizer_bytes",
            gradients_bytes="step_gradients_bytes",
            working_bytes="step_working_bytes",
        ),
        _in_block("products", "at its widest products"),
        _in_block("attention", "at attention's worst moment"),
        _in_block("gradients", "once it has all its gradients"),
        _in_block("reduction", "while its gradients are reduced"),
    ),
    "inference": (
        LOAD,
        _moment(
            "prefill",
            "The prompt passes through the widest block.",
            kv_cache_bytes="prefill_cache_bytes",
            activations_bytes="prefill_activations_bytes",
            working_bytes="dequantized_bytes",
        ),
        _moment(
            "prefill",
            "The prompt's logits: of its last token, or of all.",
            kv_cache_bytes="prefill_cache_bytes",
            activations_bytes="prefill_hidden_bytes",
            logits_bytes="prefill_logits_bytes",
        ),
        _moment(
            "decode",
            "One token per sequence on the full cache.",
            kv_cache_bytes="decode_cache_bytes",
            logits_bytes="decode_logits_bytes",
            working_bytes="decode_working_bytes",
        ),
    ),
}


def named_in(work: str) -> frozenset[str]:
    """The components that come and go in one kind of work."""
    return frozenset(name for moment in MOMENTS[work] for name in moment.parts)


PASSING = tuple(name for name in ALLOCATED if any(name in named_in(work) for work in MOMENTS))  # components that come and go


FORWARD_PASS = tuple(
    name for name in PASSING if name in named_in("inference") and name != "kv_cache_bytes"
)  # of a request, its cache apart


def components_of(work: str) -> tuple[str, ...]:
    """The components that a kind of work can have: the standing, and those its moments name."""
    return tuple(name for name in COMPONENTS if name not in PASSING or name in named_in(work))


def add_moments(table: Columns, work: str) -> Columns:
    """Add each moment's bytes, by component and in all (`moment_bytes`); return the table.

    A column with more axes than rows holds one moment at several places: each row takes the largest, of stacks that have blocks.
    """
    always = sum(table[name] for name in ALLOCATED if name not in named_in(work) and name in table)
    columns: dict[str, list[Any]] = {name: [] for name in PASSING if name in named_in(work) or name not in table}
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
    return np.where(table["stack_layers_here"] > 0, total, 0) if np.ndim(total) == 3 else total


def _largest_place(parts: dict[str, Any], total: np.ndarray) -> tuple[dict[str, Any], np.ndarray]:
    """Components and total at each row's largest place; the leading axes are the places."""
    flat = total.reshape(-1, total.shape[-1])
    place = np.argmax(flat, axis=0)[None]
    chosen = {
        name: np.take_along_axis(np.broadcast_to(values, total.shape).reshape(flat.shape), place, axis=0)[0]
        for name, values in parts.items()
    }
    return chosen, np.take_along_axis(flat, place, axis=0)[0]


def _at_peak(component: str) -> Callable:
    """The formula of a component that comes and goes: its bytes at the moment of the peak."""

    @reading(("peak_moment", f"moment_{component}"))
    def formula(peak_moment, **moments):
        return np.choose(peak_moment, *moments.values())

    formula.__name__ = component
    formula.__doc__ = f"The component {component} at the moment of the peak. [B]"
    return formula


AT_PEAK = tuple(_at_peak(component) for component in PASSING)
