"""What is alive when. A moment is a dict of components in bytes; the estimate is the largest moment, and the breakdown is that moment's.

Between the ends of a stack of like blocks memory is linear (each block frees its activations and adds its gradients), so only
its two ends are looked at. Terms of FSDP, DDP and DeepSpeed: validation/README.md, section "Sharding".
"""

import numpy as np

from calc.evaluate import evaluate

PARTS = ("weights_bytes", "gradients_bytes", "optimizer_bytes", "activations_bytes", "logits_bytes", "kv_cache_bytes", "working_bytes")
PHASES = ("load", "prefill", "decode", "forward", "backward", "step")


def last_block_bytes(stack_block_parameters_here, gathered_bytes_each, fsdp_active):
    """The widest gathered block. FSDP holds it beside the shards. [B]"""
    return fsdp_active * gathered_bytes_each * np.max(stack_block_parameters_here, axis=0)


def live_weights_bytes(
    shards_weights, implementation_fsdp, shard_gpus, trains, implementation_live_elements, gathered_bytes_each,
    blocks_parameters_here, outside_parameters_here, stack_block_parameters_here,
):
    """DeepSpeed's ZeRO 3: gathered weights that stay because they are needed again soon, and a block with the next
    one. [B]"""
    active = shards_weights * (1 - implementation_fsdp) * (shard_gpus > 1) * trains
    live = implementation_live_elements + 2 * np.max(stack_block_parameters_here, axis=0)
    return active * gathered_bytes_each * np.minimum(live, blocks_parameters_here + outside_parameters_here)


def gathered_forward_bytes(
    live_weights_bytes, fsdp_active, shards_weights, implementation_head_apart, gathered_bytes_each,
    outside_parameters_here, head_elements_here, blocks_parameters_here, last_block_bytes,
):
    """Whole weights at the head in the forward pass: the root group and one block (torchtitan: the head twice); ZeRO
    2 keeps all. [B]"""
    together = gathered_bytes_each * outside_parameters_here + shards_weights * last_block_bytes
    apart = 2 * gathered_bytes_each * head_elements_here
    kept = (1 - shards_weights) * gathered_bytes_each * (blocks_parameters_here + implementation_head_apart * head_elements_here)
    return fsdp_active * (np.where(implementation_head_apart > 0, apart, together) + kept) + live_weights_bytes


def gathered_backward_bytes(
    live_weights_bytes, fsdp_active, shards_weights, implementation_head_apart, gathered_bytes_each,
    outside_parameters_here, head_elements_here, blocks_parameters_here, last_block_bytes,
):
    """Whole weights when the backward pass begins: the root group and the block fetched ahead. [B]"""
    together = gathered_bytes_each * outside_parameters_here + shards_weights * last_block_bytes
    apart = gathered_bytes_each * head_elements_here
    kept = (1 - shards_weights) * gathered_bytes_each * blocks_parameters_here
    return fsdp_active * (np.where(implementation_head_apart > 0, apart, together) + kept) + live_weights_bytes


def bucket_bytes(
    full_gradients_bytes, data_parallel, shards_optimizer, shards_gradients, shards_weights,
    implementation_bucket_elements, implementation_fsdp, trains,
):
    """Gradient buckets: DDP holds a copy of all gradients from the start; DeepSpeed twice its bucket while it
    reduces. [B]"""
    ddp = (data_parallel > 1) * (shards_gradients == 0) * (implementation_fsdp > 0) * full_gradients_bytes
    bucket = 2 * np.minimum(implementation_bucket_elements * 2, full_gradients_bytes)
    return trains * np.where(implementation_bucket_elements > 0, (data_parallel > 1) * bucket, ddp)


def held_gradients_bytes(
    full_gradients_bytes, gradient_shards, accumulation_steps, pipeline_parallel, fsdp_active,
    trained_parameters_here, reduce_bytes_each, implementation_accumulates_unsharded,
):
    """Gradients of earlier micro-batches, alive in the forward pass. FSDP without synchronisation keeps them whole.
    [B]"""
    whole = fsdp_active * implementation_accumulates_unsharded
    kept = np.where(whole > 0, trained_parameters_here * reduce_bytes_each, full_gradients_bytes / gradient_shards)
    return kept * ((accumulation_steps > 1) | (pipeline_parallel > 1))


def forward(
    weights_bytes, resident_optimizer_bytes, held_gradients_bytes, saved_activations_bytes, forward_logits_bytes,
    stack_autocast_bytes, head_autocast_bytes, gathered_forward_bytes, bucket_bytes, implementation_bucket_elements,
    adapts, keeps_input,
):
    """The head's forward pass: everything saved, logits upcast. Autocast keeps no copy of a frozen matrix that
    nothing saved."""
    copies = np.sum(stack_autocast_bytes, axis=0) * (1 - adapts * keeps_input)
    ddp = np.where(implementation_bucket_elements > 0, 0, bucket_bytes)
    return {
        "weights_bytes": weights_bytes, "optimizer_bytes": resident_optimizer_bytes, "gradients_bytes": held_gradients_bytes,
        "activations_bytes": saved_activations_bytes, "logits_bytes": forward_logits_bytes,
        "working_bytes": copies + head_autocast_bytes + gathered_forward_bytes + ddp,
    }


def backward_start(
    weights_bytes, resident_optimizer_bytes, held_gradients_bytes, saved_activations_bytes, backward_logits_bytes,
    stack_autocast_bytes, head_autocast_bytes, gathered_backward_bytes, bucket_bytes, keeps_input,
    implementation_bucket_elements,
):
    """The loss's gradient: everything saved and the logits' gradients; checkpointed blocks have lost their autocast
    copies."""
    ddp = np.where(implementation_bucket_elements > 0, 0, bucket_bytes)
    return {
        "weights_bytes": weights_bytes, "optimizer_bytes": resident_optimizer_bytes, "gradients_bytes": held_gradients_bytes,
        "activations_bytes": saved_activations_bytes, "logits_bytes": backward_logits_bytes,
        "working_bytes": (1 - keeps_input) * np.sum(stack_autocast_bytes, axis=0) + head_autocast_bytes + gathered_backward_bytes + ddp,
    }


def block_moments(table):
    """The backward pass where it can be largest: at the last, the second and the first block of every stack."""
    layers = table["stack_layers_here"]
    places = [(s, left) for s in range(len(layers)) for left in (layers[s] - 1, np.minimum(layers[s] - 1, 1), 0 * layers[s])]
    return [("backward", parts) for s, left in places for parts in block_backward(table, s, left)]


def block_backward(table, s, left):
    """The backward pass inside one block: its widest products, then all its gradients, then (FSDP) their reduction.

    The blocks above it are done: their activations are freed, their gradients kept. FSDP holds this block and the next one
    whole while the block above is still reduced. `left` blocks of stack `s` lie below it; p and g are bytes per gathered and
    per reduced element.
    """
    layers, kept, autocast = (table[f"stack_{name}"] for name in ("layers_here", "kept_bytes", "autocast_bytes"))
    f, apart, keeps = table["fsdp_active"], table["implementation_head_apart"], 1 - table["shards_weights"]
    p, g, width = table["gathered_bytes_each"], table["reduce_bytes_each"], table["gradient_width_bytes_each"]
    block, tokens = table["stack_block_parameters_here"][s], table["stack_tokens"][s]
    trained, per_block = block * table["trained_ratio"], np.maximum(layers[s], 1)
    head = table["head_elements_here"] * table["holds_head"] * (1 - table["adapts"])
    before = np.sum(layers[:s], axis=0) + left
    above = np.sum(layers[s + 1:] * table["stack_block_parameters_here"][s + 1:], axis=0) * table["trained_ratio"]
    highest = (np.sum(layers[s + 1:], axis=0) == 0) & (left == layers[s] - 1)

    whole_root = f * (1 - apart) * p * (table["outside_parameters_here"] + head)
    fetched = np.where(before >= 1, block, apart * table["embedding_parameters_here"])
    whole_blocks = f * p * (block + np.where(keeps > 0, block * before, fetched))
    reducing = f * g * np.where(highest, apart * head, trained)
    below = np.sum(kept[:s], axis=0) + (left + table["keeps_input"]) * kept[s] / per_block
    copies = np.where(table["keeps_input"] > 0, 0, np.sum(autocast[:s], axis=0) + left * autocast[s] / per_block) + autocast[s] / per_block
    finished = above + (layers[s] - 1 - left) * trained + np.where(f * (1 - apart) > 0, 0, head)
    done = finished * width / table["gradient_shards"] * (1 - table["offloads_weights"])
    buffers = table["live_weights_bytes"] + table["bucket_bytes"] + table["dequantized_bytes"]
    working = whole_root + whole_blocks + reducing + copies + buffers
    products = f * 2 * p * table["stack_largest_linear"][s] / table["tensor_parallel"] * (table["adapts"] == 0)
    residual = table["activation_bytes_each"] * table["stack_hidden"][s] * tokens
    moments = (
        (products, table["stack_backward_bytes_per_token"][s] * tokens),
        (np.where(f > 0, p, width) * trained, 2 * residual),
        (f * g * trained, residual),
    )
    present = layers[s] > 0
    return [{
        "weights_bytes": present * table["weights_bytes"], "optimizer_bytes": present * table["resident_optimizer_bytes"],
        "gradients_bytes": present * np.maximum(done, table["held_gradients_bytes"]),
        "activations_bytes": present * (below + activations + table["outside_backward_bytes"]),
        "working_bytes": present * (working + extra),
    } for extra, activations in moments]


def backward_end(
    weights_bytes, resident_optimizer_bytes, full_gradients_bytes, gradient_shards, tied, embedding_parameters_here,
    embedding_parameters, holds_embedding,
    gradient_width_bytes_each, adapts, bucket_bytes, fsdp_active, shards_weights, gathered_bytes_each, reduce_bytes_each,
    outside_parameters_here,
    head_elements_here, last_block_bytes, implementation_head_apart, stack_tokens, hidden, tensor_parallel, matrix_bytes_each,
):
    """The embedding's gradient, built dense: beside the head's when they share a matrix, whole on each tensor-
    parallel GPU, and FSDP's last reduction."""
    embedding = embedding_parameters_here * holds_embedding * (1 - adapts)
    dense = gradient_width_bytes_each * (embedding_parameters * holds_embedding * (1 - adapts) - embedding * (1 - tied))
    group = np.where(implementation_head_apart > 0, embedding, outside_parameters_here * (1 - adapts))
    p, g = gathered_bytes_each, reduce_bytes_each
    last = np.where(implementation_head_apart + (1 - tied) > 0, embedding, 0)
    cast = np.where(g == matrix_bytes_each, 0, matrix_bytes_each * group / gradient_shards)
    reducing = g / np.maximum(p, 1) * last_block_bytes  # the first block's gradients in the reduction's width
    root = (1 - implementation_head_apart) * p * outside_parameters_here
    first = root + 2 * p * embedding + reducing + p * hidden * stack_tokens[0]
    reduction = np.maximum(np.maximum(first, (p + g) * group), g * group + g * group / gradient_shards + cast + p * last)
    done = np.maximum(full_gradients_bytes - fsdp_active * group * gradient_width_bytes_each, 0) / gradient_shards
    return {
        "weights_bytes": weights_bytes, "optimizer_bytes": resident_optimizer_bytes, "gradients_bytes": done,
        "working_bytes": np.where(fsdp_active > 0, reduction * (1 - adapts), dense) + bucket_bytes,
    }


def step(
    weights_bytes, resident_optimizer_bytes, full_gradients_bytes, gradient_shards, optimizer_shards, trained_parameters_here,
    trained_bytes_each, largest_parameters_here, step_copies, step_largest_bytes_each, bucket_bytes, implementation_bucket_elements,
    data_parallel, shards_optimizer, shards_weights,
    offloads_optimizer,
):
    """The optimizer's step: all gradients and the step's temporaries; DeepSpeed widens its shard of the gradients to
    fp32."""
    shard = trained_parameters_here / optimizer_shards
    largest = step_largest_bytes_each * np.minimum(largest_parameters_here, trained_parameters_here) / gradient_shards
    temporary = step_copies * shard * trained_bytes_each + largest
    deepspeed = (implementation_bucket_elements > 0) * shards_optimizer * (data_parallel > 1)
    widened = deepspeed * 6 * np.where(shards_weights > 0, np.minimum(shard, 1e9), shard)
    ddp = np.where(implementation_bucket_elements > 0, 0, bucket_bytes)
    return {
        "weights_bytes": weights_bytes, "optimizer_bytes": resident_optimizer_bytes,
        "gradients_bytes": full_gradients_bytes / gradient_shards,
        "working_bytes": (temporary + widened) * (1 - offloads_optimizer) + ddp,
    }


def load(weights_bytes):
    """The model on the GPU before anything runs."""
    return {"weights_bytes": weights_bytes}


def prefill(weights_bytes, prefill_cache_bytes, prefill_activations_bytes, dequantized_bytes):
    """The prompt passes through the widest block."""
    return {
        "weights_bytes": weights_bytes, "kv_cache_bytes": prefill_cache_bytes, "activations_bytes": prefill_activations_bytes,
        "working_bytes": dequantized_bytes,
    }


def prefill_head(weights_bytes, prefill_cache_bytes, prefill_logits_bytes, prefill_hidden_bytes):
    """The prompt's logits: of its last token, or of all."""
    return {
        "weights_bytes": weights_bytes, "kv_cache_bytes": prefill_cache_bytes, "activations_bytes": prefill_hidden_bytes,
        "logits_bytes": prefill_logits_bytes,
    }


def decode(weights_bytes, decode_cache_bytes, cache_growth_bytes, decode_logits_bytes, dequantized_bytes):
    """One token per sequence on the full cache."""
    return {
        "weights_bytes": weights_bytes, "kv_cache_bytes": decode_cache_bytes, "logits_bytes": decode_logits_bytes,
        "working_bytes": cache_growth_bytes + dequantized_bytes,
    }


TRAINING_MOMENTS = (("load", load), ("forward", forward), ("backward", backward_start), ("backward", backward_end), ("step", step))
INFERENCE_MOMENTS = (("load", load), ("prefill", prefill), ("prefill", prefill_head), ("decode", decode))
BUFFERS = (live_weights_bytes, last_block_bytes, gathered_forward_bytes, gathered_backward_bytes, bucket_bytes, held_gradients_bytes)


def moments(table, training):
    """All moments of a table whose rows all train, or all serve: pairs of phase and components."""
    named = [(phase, evaluate(moment, table)) for phase, moment in (TRAINING_MOMENTS if training else INFERENCE_MOMENTS)]
    return named + (block_moments(table) if training else [])


def peak(pairs, rows):
    """The components of the largest moment of each row, its phase, and the largest total of each phase."""
    totals = np.stack([np.broadcast_to(sum(parts.values()), rows) for _, parts in pairs])
    largest = np.argmax(totals, axis=0)
    row = np.arange(rows)
    breakdown = {name: np.stack([np.broadcast_to(parts.get(name, 0.0), rows) for _, parts in pairs])[largest, row] for name in PARTS}
    names = np.array([phase for phase, _ in pairs], dtype=object)
    return breakdown, names[largest], totals
