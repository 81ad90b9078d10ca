"""Layouts that are refused: conditions, and sentences that name the nearest valid one."""

from collections.abc import Callable, Mapping
from math import isqrt
from string import Formatter
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np

from calc.evaluate import Columns, evaluate, parameters_of
from calc.rules.contexts import extension
from calc.scenarios.problems import Problems
from calc.table import Words, distinct, take_rows


class Rule(NamedTuple):
    """A condition on columns, and a sentence filled with columns and `more`.

    `more` holds formulas of one row's numbers, by their name in the sentence.
    """

    wrong: Callable
    says: str
    more: Mapping[str, Callable] = MappingProxyType({})

    @property
    def reads(self) -> tuple[str, ...]:
        """The columns that the sentence reads."""
        fields = [field for _, field, _, _ in Formatter().parse(self.says) if field]
        columns = [field for field in fields if field not in self.more]
        for formula in self.more.values():
            columns += parameters_of(formula)
        return tuple(dict.fromkeys(columns))


def refuse(rules: tuple[Rule, ...], table: Columns, problems: Problems) -> None:
    """Record the first rule that each row breaks; rows with equal columns share a sentence."""
    for rule in rules:
        rows = problems.fresh(evaluate(rule.wrong, table))
        if len(rows):
            columns = {name: take_rows(table[name], table["rows"], rows) for name in rule.reads}
            first, copies = distinct(columns.values(), len(rows))
            sentences = np.array(
                [sentence_of(rule, columns, row) for row in first.tolist()], dtype=object
            )
            problems.note(rows, sentences[copies])


def sentence_of(rule: Rule, columns: Columns, row: int) -> str:
    """The sentence of a rule for one row."""
    values = {}
    for name, column in columns.items():
        if isinstance(column, Words):
            values[name] = column.in_row(row)
        else:
            values[name] = column[row if len(column) > 1 else 0]
    further = {name: evaluate(formula, values) for name, formula in rule.more.items()}
    return rule.says.format_map(values | further)


def nearest_divisor(total: float, wanted: float) -> int:
    """Return the divisor of a count that is nearest to the wanted number."""
    small = [d for d in range(1, isqrt(int(total)) + 1) if total % d == 0] or [1]
    divisors = [*small, *(int(total) // d for d in small)]
    return min(divisors, key=lambda d: (abs(d - wanted), d))


def _fewer_tokens(max_position: float, extended_tokens: float, extended_by: str) -> str:
    """Return how to serve more tokens than a model has positions for, or the most it takes."""
    fewer = f"take at most {max_position:,.0f} tokens"
    if longer := extension(max_position, extended_tokens, extended_by):
        return f"{longer}: bring that config, serve with context_extension yarn, or {fewer}"
    return fewer


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
        lambda sequence_tokens, decoder_tokens, longest_sequence_tokens: (
            np.maximum(sequence_tokens, decoder_tokens) > longest_sequence_tokens
        ),
        "{model} has learned positions for {longest_sequence_tokens:.0f} tokens, and "
        "{tokens:.0f} are asked for; take at "
        "most {longest_sequence_tokens:.0f}.",
        {"tokens": lambda sequence_tokens, decoder_tokens: max(sequence_tokens, decoder_tokens)},
    ),
    Rule(
        lambda sequence_tokens, context_limit_tokens: sequence_tokens > context_limit_tokens,
        (
            "{model} takes {max_position:,.0f} tokens, and {sequence_tokens:,.0f} are asked for, "
            "which {implementation} refuses; {cure}."
        ),
        {"cure": _fewer_tokens},
    ),
    Rule(
        lambda images_per_sequence, usual_image_tokens: (
            (images_per_sequence > 0) & (usual_image_tokens == 0)
        ),
        (
            "{model} takes no images or sounds, or its tower is not modeled; set "
            "images_per_sequence to 0."
        ),
    ),
    Rule(
        lambda images_per_sequence, image_tokens, trains, sequence_tokens, prompt_tokens: (
            images_per_sequence * image_tokens
            > np.where(trains > 0, sequence_tokens, prompt_tokens)
        ),
        (
            "{images_per_sequence:g} images or sounds are {tokens:,.0f} tokens, more than {what} "
            "({held:,.0f}); raise it, or take fewer."
        ),
        {
            "tokens": lambda images_per_sequence, image_tokens: images_per_sequence * image_tokens,
            "held": lambda trains, sequence_tokens, prompt_tokens: (
                sequence_tokens if trains else prompt_tokens
            ),
            "what": lambda trains: "sequence_tokens" if trains else "prompt_tokens",
        },
    ),
    Rule(
        lambda images_per_sequence, pipeline_parallel, context_parallel: (
            (images_per_sequence > 0) & (np.maximum(pipeline_parallel, context_parallel) > 1)
        ),
        (
            "Images and sounds are not estimated with pipeline or context parallel; set both to "
            "1, or images_per_sequence to 0."
        ),
    ),
    Rule(
        lambda replica_gpus, training_gpus: replica_gpus > training_gpus,
        "tensor x pipeline x context parallel is {replica_gpus:.0f}, more than the "
        "{training_gpus:.0f} GPUs; take {replica_gpus:.0f} "
        "GPUs or smaller degrees.",
    ),
    Rule(
        lambda replica_gpus, training_gpus: (
            (replica_gpus <= training_gpus) & (training_gpus % replica_gpus != 0)
        ),
        "{training_gpus:.0f} GPUs do not divide by tensor x pipeline x context parallel = "
        "{replica_gpus:.0f}; take {below:.0f} or "
        "{above:.0f} GPUs.",
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
        lambda most_heads, tensor_parallel: most_heads % tensor_parallel != 0,
        (
            "tensor parallel {tensor_parallel:.0f} does not divide the {most_heads:.0f} heads of "
            "{model}; take {nearest}."
        ),
        {
            "nearest": lambda most_heads, tensor_parallel: nearest_divisor(
                most_heads, tensor_parallel
            )
        },
    ),
    Rule(
        lambda pipeline_parallel, all_layers: pipeline_parallel > all_layers,
        (
            "pipeline parallel {pipeline_parallel:.0f} exceeds the {all_layers:.0f} blocks of "
            "{model}; take at most {all_layers:.0f}."
        ),
    ),
    Rule(
        lambda expert_parallel, most_experts: (expert_parallel > 1) & (most_experts == 0),
        "{model} has no experts to divide; set expert_parallel to 1.",
    ),
    Rule(
        lambda expert_parallel, most_experts: (
            (expert_parallel > 1) & (most_experts > 0) & (most_experts % expert_parallel != 0)
        ),
        (
            "expert parallel {expert_parallel:.0f} does not divide the {most_experts:.0f} "
            "experts of {model}; take {nearest}."
        ),
        {
            "nearest": lambda most_experts, expert_parallel: nearest_divisor(
                most_experts, expert_parallel
            )
        },
    ),
    Rule(
        lambda expert_parallel, gpus, pipeline_parallel: (
            (expert_parallel > 1) & (expert_parallel > gpus / pipeline_parallel)
        ),
        (
            "expert parallel {expert_parallel:.0f} needs as many GPUs per pipeline stage, and "
            "there are {stage:.0f}; take at most that."
        ),
        {"stage": lambda gpus, pipeline_parallel: gpus / pipeline_parallel},
    ),
    Rule(
        lambda context_parallel, sequence_tokens: (
            (context_parallel > 1) & (sequence_tokens % (2 * context_parallel) != 0)
        ),
        "context parallel {context_parallel:.0f} does not divide {sequence_tokens:.0f} "
        "tokens evenly; take a multiple of "
        "{twice:.0f} tokens.",
        {"twice": lambda context_parallel: 2 * context_parallel},
    ),
    Rule(
        lambda trains, context_parallel, stack_state_bytes, implementation_divides_states: (
            (trains > 0)
            & (context_parallel > 1)
            & np.any(stack_state_bytes > 0, axis=0)
            & (implementation_divides_states == 0)
        ),
        "{implementation} does not divide sequences of {model} over GPUs, whose layers keep a "
        "state from token to token; set context_parallel to 1, or choose implementation megatron.",
    ),
    Rule(
        lambda gpus, replica_gpus, context_parallel, group_gpus: (
            (gpus / replica_gpus * context_parallel > group_gpus)
            & (gpus / replica_gpus * context_parallel % np.maximum(group_gpus, 1) != 0)
        ),
        "{sharding} shards inside groups of {group_gpus:.0f} GPUs, and data x context "
        "parallel is {ranks:.0f}; take a multiple of "
        "{group_gpus:.0f}, or sharding zero3.",
        {
            "ranks": lambda gpus, replica_gpus, context_parallel: (
                gpus // replica_gpus * context_parallel
            )
        },
    ),
    Rule(
        lambda trains, leaves_optimizer, leaves_activations: (
            (trains == 0) & (leaves_optimizer + leaves_activations > 0)
        ),
        "Offloading is estimated for training; set offload to none to serve.",
    ),
    Rule(
        lambda trains, context_parallel: (trains == 0) & (context_parallel > 1),
        "Context parallel is estimated for training only; set context_parallel to 1 to serve.",
    ),
    Rule(
        lambda trains, prompt_tokens, sequence_tokens: (
            (trains == 0) & (prompt_tokens > sequence_tokens)
        ),
        "prompt_tokens {prompt_tokens:.0f} exceeds sequence_tokens {sequence_tokens:.0f}, "
        "which holds prompt and answer; "
        "raise sequence_tokens.",
    ),
    Rule(
        _lacks_engine,
        "A shared or reused prompt, turns, speculation, served adapters and a cache in CPU memory "
        "are estimated for implementation vllm; choose it, or leave shared_prompt_tokens, "
        "reused_prompt_tokens, turns, speculation, adapters and kv_offload_bytes empty.",
    ),
    Rule(
        lambda trains, shared_prompt_tokens, prompt_tokens: (
            (trains == 0) & (shared_prompt_tokens > prompt_tokens)
        ),
        "shared_prompt_tokens {shared_prompt_tokens:.0f} exceeds prompt_tokens "
        "{prompt_tokens:.0f}, which begins with them; "
        "raise prompt_tokens.",
    ),
    Rule(
        lambda trains, reused_prompt_tokens, prompt_tokens: (
            (trains == 0) & (reused_prompt_tokens > prompt_tokens)
        ),
        "reused_prompt_tokens {reused_prompt_tokens:.0f} exceeds prompt_tokens "
        "{prompt_tokens:.0f}, which holds them; "
        "raise prompt_tokens.",
    ),
    Rule(
        lambda turns, reused_prompt_tokens: (turns > 1) & (reused_prompt_tokens > 0),
        "turns {turns:.0f} and reused_prompt_tokens {reused_prompt_tokens:.0f} both say what "
        "earlier turns leave in the cache; leave one of the two empty.",
    ),
    Rule(
        lambda trains, turns, prompt_tokens, sequence_tokens: (
            (trains == 0) & (turns > 1) & (prompt_tokens >= sequence_tokens)
        ),
        "A conversation of {turns:.0f} turns needs answers, and none is generated; raise "
        "sequence_tokens above prompt_tokens, or set turns to 1.",
    ),
    Rule(
        lambda trains, turns, prompt_tokens, sequence_tokens, cached_prompt_tokens: (
            (trains == 0)
            & (turns > 1)
            & (
                prompt_tokens
                < least_prompt_tokens(turns, sequence_tokens - prompt_tokens, cached_prompt_tokens)
            )
        ),
        "The prompt of a mean turn has {prompt_tokens:,.0f} tokens, too few for {turns:.0f} turns "
        "with answers of {answer:,.0f} tokens; take fewer turns, or prompts of at least "
        "{least:,.0f} tokens.",
        {
            "answer": lambda sequence_tokens, prompt_tokens: sequence_tokens - prompt_tokens,
            "least": lambda turns, sequence_tokens, prompt_tokens, cached_prompt_tokens: (
                least_prompt_tokens(turns, sequence_tokens - prompt_tokens, cached_prompt_tokens)
            ),
        },
    ),
    Rule(
        lambda shared_prompt_tokens, reused_prompt_tokens, turns, is_decoder, stack_state_bytes: (
            ((shared_prompt_tokens > 0) | (reused_prompt_tokens > 0) | (turns > 1))
            & ((is_decoder == 0) | np.any(stack_state_bytes > 0, axis=0))
        ),
        (
            "The memory that a prefix cache saves for {model} is not known; leave "
            "shared_prompt_tokens, reused_prompt_tokens and turns empty."
        ),
    ),
    Rule(
        lambda trains, generates, is_decoder, implementation_decoders_only: (
            (trains == 0)
            & (generates == 0)
            & (is_decoder == 0)
            & (implementation_decoders_only > 0)
        ),
        "vLLM's cache serves decoders; choose implementation transformers for an encoder.",
    ),
    Rule(
        lambda trains, is_decoder, implementation_decoders_only: (
            (trains > 0) & (is_decoder == 0) & (implementation_decoders_only > 0)
        ),
        "{implementation} trains decoders of text alone, and {model} is none; choose "
        "implementation transformers.",
    ),
    Rule(
        lambda adapts, served_adapters, stack_adapter_parameters: (
            (adapts + served_adapters > 0) & (np.sum(stack_adapter_parameters, axis=0) == 0)
        ),
        "{model} has no linear layer named {lora_targets}; choose all-linear.",
    ),
    Rule(
        lambda trains, refused_shard_elements, implementation_reserves_share: (
            (trains == 0) & (refused_shard_elements > 0) & (implementation_reserves_share > 0)
        ),
        "{implementation} refuses {model} in {precision} with tensor parallel "
        "{tensor_parallel:.0f}: a GPU's {refused_shard_elements:g} "
        "columns are not whole blocks of {scale_elements:.0f}; take fewer GPUs to a replica, "
        "experts divided by as many (expert_parallel), "
        "or another precision.",
    ),
)
