"""Which layouts are refused, and the nearest that works."""

import numpy as np

MONTH_HOURS = 744  # of 31 days


def check_layout(table, problems):
    """Note what does not divide, what has nothing to act on, and what cannot be combined."""
    t, p, c, e = (table[name] for name in ("tensor_parallel", "pipeline_parallel", "context_parallel", "expert_parallel"))
    gpus, layers, heads = table["gpus"], np.sum(table["stack_layers"], axis=0), np.max(table["stack_heads"], axis=0)
    experts = np.max(table["stack_experts"], axis=0)
    inner = t * p * c
    problems.add(
        inner > gpus,
        lambda row: (
            f"tensor x pipeline x context parallel is {inner[row]:.0f}, more than the {gpus[row]:.0f} GPUs; take "
            f"{inner[row]:.0f} GPUs or smaller degrees."
        ),
    )
    problems.add(
        (inner <= gpus) & (gpus % inner != 0),
        lambda row: (
            f"{gpus[row]:.0f} GPUs do not divide by tensor x pipeline x context parallel = {inner[row]:.0f}; take "
            f"{gpus[row] // inner[row] * inner[row]:.0f} or {(gpus[row] // inner[row] + 1) * inner[row]:.0f} GPUs."
        ),
    )
    problems.add(
        heads % t != 0,
        lambda row: (
            f"tensor parallel {t[row]:.0f} does not divide the {heads[row]:.0f} heads of {table['model'][row]}; "
            f"take {nearest_divisor(heads[row], t[row])}."
        ),
    )
    problems.add(
        p > layers,
        lambda row: (
            f"pipeline parallel {p[row]:.0f} exceeds the {layers[row]:.0f} blocks of {table['model'][row]}; take at "
            f"most {layers[row]:.0f}."
        ),
    )
    problems.add(
        (e > 1) & (experts == 0),
        lambda row: (
            f"{table['model'][row]} has no experts to divide; set expert_parallel to 1."
        ),
    )
    problems.add(
        (e > 1) & (experts > 0) & (experts % np.maximum(e, 1) != 0),
        lambda row: (
            f"expert parallel {e[row]:.0f} does not divide the {experts[row]:.0f} experts of {table['model'][row]}; "
            f"take {nearest_divisor(experts[row], e[row])}."
        ),
    )
    problems.add(
        (e > 1) & (e > gpus / p),
        lambda row: (
            f"expert parallel {e[row]:.0f} needs as many GPUs per pipeline stage, and there are "
            f"{gpus[row] / p[row]:.0f}; take at most that."
        ),
    )
    problems.add(
        (c > 1) & (table["sequence_tokens"] % (2 * c) != 0),
        lambda row: (
            f"context parallel {c[row]:.0f} does not divide {table['sequence_tokens'][row]:.0f} tokens evenly; take "
            f"a multiple of {2 * c[row]:.0f} tokens."
        ),
    )
    hours = table["hours_per_month"]
    problems.add(
        hours > MONTH_HOURS,
        lambda row: f"hours_per_month is {hours[row]:g}, and a month has at most {MONTH_HOURS}; take at most that.",
    )
    serves = table["trains"] == 0
    problems.add(
        serves & (table["offload"] != "none"),
        "Offloading is estimated for training; set offload to none to serve.",
    )
    problems.add(
        (table["implementation"] == "megatron") & (table["shards_gradients"] > 0),
        "Megatron divides the optimizer state only; set sharding to zero1 or none.",
    )
    problems.add(
        serves & (c > 1),
        "Context parallel is estimated for training only; set context_parallel to 1 to serve.",
    )
    problems.add(
        (table["prompt_tokens"] > table["sequence_tokens"]) & serves,
        lambda row: (
            f"prompt_tokens {table['prompt_tokens'][row]:.0f} exceeds sequence_tokens "
            f"{table['sequence_tokens'][row]:.0f}, which holds prompt and answer; raise sequence_tokens."
        ),
    )
    encoder = np.isin(table["model_kind"].astype(str), ["encoder", "vision", "dual"])
    problems.add(
        serves & encoder & (table["implementation"] == "vllm"),
        "vLLM's cache serves decoders; choose implementation transformers for an encoder.",
    )
    problems.add(
        (table["adapts"] > 0) & (adapted_widths(table) == 0),
        lambda row: (
            f"{table['model'][row]} has no linear layer named {table['lora_targets'][row]}; choose all-linear."
        ),
    )


def adapted_widths(table):
    """Width of all that LoRA adapts in one block of each stack, summed."""
    return sum(np.sum(table[f"adapts_{p}"] * table[f"stack_adapter_{p}_in"], axis=0) for p in ("q", "k", "v", "o", "gate", "up", "down"))


def nearest_divisor(whole, wanted):
    """The divisor of a count that is nearest to the wanted one."""
    divisors = [d for d in range(1, int(whole) + 1) if whole % d == 0] or [1]
    return min(divisors, key=lambda d: (abs(d - wanted), d))
