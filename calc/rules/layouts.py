"""Layouts that are refused: conditions, and the facts that name the nearest valid layout."""

from collections.abc import Callable, Mapping
from math import isqrt
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np

from calc.evaluate import Columns, evaluate, parameters_of
from calc.remarks import Remark, remark
from calc.scenarios.problems import Problems
from calc.table import Words, distinct, take_rows


class Rule(NamedTuple):
    """A condition on columns, and the code and the facts of the remark on rows that meet it.

    `facts` are columns; `computed` holds formulas of one row's columns, by the name of their fact.
    """

    code: str
    wrong: Callable
    facts: tuple[str, ...] = ()
    computed: Mapping[str, Callable] = MappingProxyType({})

    @property
    def reads(self) -> tuple[str, ...]:
        """The columns that the facts read."""
        columns = list(self.facts)
        for formula in self.computed.values():
            columns += parameters_of(formula)
        return tuple(dict.fromkeys(columns))


def refuse(rules: tuple[Rule, ...], table: Columns, problems: Problems) -> None:
    """Record the first rule that each row breaks; rows with equal columns share a remark."""
    for rule in rules:
        rows = problems.fresh(evaluate(rule.wrong, table))
        if len(rows):
            columns = {name: take_rows(table[name], table["rows"], rows) for name in rule.reads}
            first, copies = distinct(columns.values(), len(rows))
            remarks = [remark_of(rule, columns, row) for row in first.tolist()]
            problems.note(rows, np.array(remarks, dtype=object)[copies])


def remark_of(rule: Rule, columns: Columns, row: int) -> Remark:
    """Return the remark of a rule on one row."""
    values = {}
    for name, column in columns.items():
        if isinstance(column, Words):
            values[name] = column.in_row(row)
        else:
            values[name] = column[row if len(column) > 1 else 0]
    facts = {name: values[name] for name in rule.facts}
    figures = {name: evaluate(formula, values) for name, formula in rule.computed.items()}
    return remark(rule.code, **facts, **figures)


def nearest_divisor(total: float, near: float) -> int:
    """Return the divisor of a count that is nearest to the wanted number."""
    small = [d for d in range(1, isqrt(int(total)) + 1) if total % d == 0] or [1]
    divisors = [*small, *(int(total) // d for d in small)]
    return min(divisors, key=lambda d: (abs(d - near), d))


def _lacks_engine(
    trains,
    is_engine,
    shared_prompt_tokens,
    reused_prompt_tokens,
    turns,
    speculates,
    served_adapters,
    kv_offload_bytes,
):
    """Return which rows set what only an engine with pages has. Shape: (rows,)."""
    asks = (
        (shared_prompt_tokens > 0)
        | (reused_prompt_tokens > 0)
        | (turns > 1)
        | (speculates > 0)
        | (served_adapters > 0)
        | (kv_offload_bytes > 0)
    )
    return (trains == 0) & (is_engine == 0) & asks


def least_prompt_tokens(turns: Any, answer_tokens: Any, cached_prompt_tokens: Any) -> Any:
    """The shortest prompt of a mean turn: earlier answers, and a token of each question."""
    return cached_prompt_tokens + answer_tokens * (turns - 1) / 2 + (turns + 1) / 2


RULES = (
    Rule(
        "positions-exceeded",
        lambda sequence_tokens, decoder_tokens, longest_sequence_tokens: (
            np.maximum(sequence_tokens, decoder_tokens) > longest_sequence_tokens
        ),
        ("model", "longest_sequence_tokens"),
        {"tokens": lambda sequence_tokens, decoder_tokens: max(sequence_tokens, decoder_tokens)},
    ),
    Rule(
        "context-exceeded",
        lambda sequence_tokens, context_limit_tokens: sequence_tokens > context_limit_tokens,
        (
            "model",
            "max_position",
            "sequence_tokens",
            "implementation",
            "extended_tokens",
            "extended_by",
        ),
    ),
    Rule(
        "images-not-taken",
        lambda images_per_sequence, usual_image_tokens: (
            (images_per_sequence > 0) & (usual_image_tokens == 0)
        ),
        ("model",),
    ),
    Rule(
        "images-exceed-tokens",
        lambda images_per_sequence, image_tokens, trains, sequence_tokens, prompt_tokens: (
            images_per_sequence * image_tokens
            > np.where(trains > 0, sequence_tokens, prompt_tokens)
        ),
        ("images_per_sequence",),
        {
            "tokens": lambda images_per_sequence, image_tokens: images_per_sequence * image_tokens,
            "held": lambda trains, sequence_tokens, prompt_tokens: (
                sequence_tokens if trains else prompt_tokens
            ),
            "what": lambda trains: "sequence_tokens" if trains else "prompt_tokens",
        },
    ),
    Rule(
        "images-with-parallel",
        lambda images_per_sequence, pipeline_parallel, context_parallel: (
            (images_per_sequence > 0) & (np.maximum(pipeline_parallel, context_parallel) > 1)
        ),
    ),
    Rule(
        "degrees-exceed-gpus",
        lambda replica_gpus, training_gpus: replica_gpus > training_gpus,
        ("replica_gpus", "training_gpus"),
    ),
    Rule(
        "gpus-not-divided",
        lambda replica_gpus, training_gpus: (
            (replica_gpus <= training_gpus) & (training_gpus % replica_gpus != 0)
        ),
        ("training_gpus", "replica_gpus"),
        {
            "below": lambda training_gpus, replica_gpus: (
                training_gpus // replica_gpus * replica_gpus
            ),
            "above": lambda training_gpus, replica_gpus: (
                (training_gpus // replica_gpus + 1) * replica_gpus
            ),
        },
    ),
    Rule(
        "heads-not-divided",
        lambda most_heads, tensor_parallel: most_heads % tensor_parallel != 0,
        ("tensor_parallel", "most_heads", "model"),
        {
            "nearest": lambda most_heads, tensor_parallel: nearest_divisor(
                most_heads, tensor_parallel
            )
        },
    ),
    Rule(
        "stages-exceed-blocks",
        lambda pipeline_parallel, all_layers: pipeline_parallel > all_layers,
        ("pipeline_parallel", "all_layers", "model"),
    ),
    Rule(
        "no-experts",
        lambda expert_parallel, most_experts: (expert_parallel > 1) & (most_experts == 0),
        ("model",),
    ),
    Rule(
        "experts-not-divided",
        lambda expert_parallel, most_experts: (
            (expert_parallel > 1) & (most_experts > 0) & (most_experts % expert_parallel != 0)
        ),
        ("expert_parallel", "most_experts", "model"),
        {
            "nearest": lambda most_experts, expert_parallel: nearest_divisor(
                most_experts, expert_parallel
            )
        },
    ),
    Rule(
        "experts-exceed-stage",
        lambda expert_parallel, gpus, pipeline_parallel: (
            (expert_parallel > 1) & (expert_parallel > gpus / pipeline_parallel)
        ),
        ("expert_parallel",),
        {"stage": lambda gpus, pipeline_parallel: gpus / pipeline_parallel},
    ),
    Rule(
        "sequence-not-divided",
        lambda context_parallel, sequence_tokens: (
            (context_parallel > 1) & (sequence_tokens % (2 * context_parallel) != 0)
        ),
        ("context_parallel", "sequence_tokens"),
        {"twice": lambda context_parallel: 2 * context_parallel},
    ),
    Rule(
        "states-not-divided",
        lambda trains, context_parallel, stack_state_bytes, implementation_divides_states: (
            (trains > 0)
            & (context_parallel > 1)
            & np.any(stack_state_bytes > 0, axis=0)
            & (implementation_divides_states == 0)
        ),
        ("implementation", "model"),
    ),
    Rule(
        "shard-group-not-filled",
        lambda gpus, replica_gpus, context_parallel, group_gpus: (
            (gpus / replica_gpus * context_parallel > group_gpus)
            & (gpus / replica_gpus * context_parallel % np.maximum(group_gpus, 1) != 0)
        ),
        ("sharding", "group_gpus"),
        {
            "ranks": lambda gpus, replica_gpus, context_parallel: (
                gpus // replica_gpus * context_parallel
            )
        },
    ),
    Rule(
        "offload-in-serving",
        lambda trains, leaves_optimizer, leaves_activations: (
            (trains == 0) & (leaves_optimizer + leaves_activations > 0)
        ),
    ),
    Rule(
        "context-parallel-in-serving",
        lambda trains, context_parallel: (trains == 0) & (context_parallel > 1),
    ),
    Rule(
        "prompt-exceeds-sequence",
        lambda trains, prompt_tokens, sequence_tokens: (
            (trains == 0) & (prompt_tokens > sequence_tokens)
        ),
        ("prompt_tokens", "sequence_tokens"),
    ),
    Rule("needs-engine", _lacks_engine),
    Rule(
        "shared-prompt-exceeds-prompt",
        lambda trains, shared_prompt_tokens, prompt_tokens: (
            (trains == 0) & (shared_prompt_tokens > prompt_tokens)
        ),
        ("shared_prompt_tokens", "prompt_tokens"),
    ),
    Rule(
        "reused-prompt-exceeds-prompt",
        lambda trains, reused_prompt_tokens, prompt_tokens: (
            (trains == 0) & (reused_prompt_tokens > prompt_tokens)
        ),
        ("reused_prompt_tokens", "prompt_tokens"),
    ),
    Rule(
        "turns-and-reused-prompt",
        lambda turns, reused_prompt_tokens: (turns > 1) & (reused_prompt_tokens > 0),
        ("turns", "reused_prompt_tokens"),
    ),
    Rule(
        "turns-without-answers",
        lambda trains, turns, prompt_tokens, sequence_tokens: (
            (trains == 0) & (turns > 1) & (prompt_tokens >= sequence_tokens)
        ),
        ("turns",),
    ),
    Rule(
        "turns-exceed-prompt",
        lambda trains, turns, prompt_tokens, sequence_tokens, cached_prompt_tokens: (
            (trains == 0)
            & (turns > 1)
            & (
                prompt_tokens
                < least_prompt_tokens(turns, sequence_tokens - prompt_tokens, cached_prompt_tokens)
            )
        ),
        ("prompt_tokens", "turns"),
        {
            "answer": lambda sequence_tokens, prompt_tokens: sequence_tokens - prompt_tokens,
            "least": lambda turns, sequence_tokens, prompt_tokens, cached_prompt_tokens: (
                least_prompt_tokens(turns, sequence_tokens - prompt_tokens, cached_prompt_tokens)
            ),
        },
    ),
    Rule(
        "prefix-cache-unknown",
        lambda shared_prompt_tokens, reused_prompt_tokens, turns, is_decoder, stack_state_bytes: (
            ((shared_prompt_tokens > 0) | (reused_prompt_tokens > 0) | (turns > 1))
            & ((is_decoder == 0) | np.any(stack_state_bytes > 0, axis=0))
        ),
        ("model",),
    ),
    Rule(
        "encoder-in-vllm",
        lambda trains, generates, is_decoder, implementation_decoders_only: (
            (trains == 0)
            & (generates == 0)
            & (is_decoder == 0)
            & (implementation_decoders_only > 0)
        ),
    ),
    Rule(
        "trains-decoders-only",
        lambda trains, is_decoder, implementation_decoders_only: (
            (trains > 0) & (is_decoder == 0) & (implementation_decoders_only > 0)
        ),
        ("implementation", "model"),
    ),
    Rule(
        "no-such-layer",
        lambda adapts, served_adapters, stack_adapter_parameters: (
            (adapts + served_adapters > 0) & (np.sum(stack_adapter_parameters, axis=0) == 0)
        ),
        ("model", "lora_targets"),
    ),
    Rule(
        "shard-not-whole-blocks",
        lambda trains, refused_shard_elements, implementation_reserves_share: (
            (trains == 0) & (refused_shard_elements > 0) & (implementation_reserves_share > 0)
        ),
        (
            "implementation",
            "model",
            "precision",
            "tensor_parallel",
            "refused_shard_elements",
            "scale_elements",
        ),
    ),
)
