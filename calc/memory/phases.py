"""What is alive when: the moments of a training step and of serving, and the working memory of each. Bytes on one GPU.

Memory is a peak, not a sum: the estimate is the largest moment, and the breakdown is that moment's.
"""

import numpy as np

from calc.memory.peak import Moment, allocated_peak_bytes, at_peak, peak_moment

PHASES = ("load", "prefill", "decode", "forward", "backward", "step")


def working_bytes(peak_moment, moment_working_bytes):
    """Transient copies alive at the moment of the peak. [B]

    Autocast copies, gathered shards and buckets (forward_working_bytes, backward_working_bytes and, inside a block,
    block_backward.py), the optimizer step's temporaries (step_working_bytes), the growing cache (decode_working_bytes).
    """
    return at_peak(moment_working_bytes, peak_moment)


def forward_working_bytes(
    stack_autocast_bytes, adapts, keeps_input, head_autocast_bytes, gathered_forward_bytes, standing_bucket_bytes, stage_buffers_bytes
):
    """At the head in the forward pass. Autocast keeps no copy of a frozen matrix that nothing saved. [B]"""
    copies = np.sum(stack_autocast_bytes, axis=0) * (1 - adapts * keeps_input)
    return copies + head_autocast_bytes + gathered_forward_bytes + standing_bucket_bytes + stage_buffers_bytes


def backward_working_bytes(
    stack_autocast_bytes, keeps_input, head_autocast_bytes, gathered_backward_bytes, standing_bucket_bytes, stage_buffers_bytes
):
    """When the backward pass begins; checkpointed blocks have lost their autocast copies. [B]"""
    copies = (1 - keeps_input) * np.sum(stack_autocast_bytes, axis=0)
    return copies + head_autocast_bytes + gathered_backward_bytes + standing_bucket_bytes + stage_buffers_bytes


def head_logits_bytes(logits_elements, logits_tokens, hidden, holds_head, vocabulary_split, activation_bytes_each, fuses_loss):
    """The logits' gradient as it goes through the head, and that of the hidden states. [B]"""
    hidden_elements = hidden * logits_tokens * holds_head / vocabulary_split
    return activation_bytes_each * (logits_elements + hidden_elements) * (1 - fuses_loss)


def head_working_bytes(
    backward_working_bytes, adds_gradients, trained_head_here, gradient_width_bytes_each, gathered_bytes_each, fsdp_active, fuses_loss
):
    """While the head's gradient is made anew, to be added to that of earlier micro-batches. [B]"""
    width = np.where(fsdp_active > 0, gathered_bytes_each, gradient_width_bytes_each)
    return backward_working_bytes + adds_gradients * trained_head_here * width * (1 - fuses_loss)


def head_reduction_bytes(
    fsdp_active,
    implementation_head_apart,
    reduces_at_end,
    reshards_weights,
    trained_head_here,
    gathered_bytes_each,
    reduce_bytes_each,
    gradient_shards,
    stack_group_here,
    blocks_parameters_here,
):
    """While FSDP reduces the gradient of a head that is a group of its own: it in both widths, and the block fetched ahead. [B]

    torch/distributed/fsdp/_fully_shard/_fsdp_collectives.py, foreach_reduce; simulated: validation/data/parallel/context.csv.
    """
    ahead = np.where(reshards_weights > 0, np.max(stack_group_here, axis=0), blocks_parameters_here)
    reduced = trained_head_here * (gathered_bytes_each + reduce_bytes_each * (1 + 1 / gradient_shards))
    return fsdp_active * implementation_head_apart * (1 - reduces_at_end) * (reduced + gathered_bytes_each * ahead)


def head_reduction_activations_bytes(stack_kept_bytes, outside_backward_bytes, stack_residual_bytes):
    """What the blocks have saved, and the gradient of the last one's output. [B]"""
    return np.sum(stack_kept_bytes, axis=0) + outside_backward_bytes + stack_residual_bytes[0]


def embedding_gradient_bytes(
    embedding_parameters_here, embedding_parameters, holds_embedding, adapts, tied, gradient_width_bytes_each, adds_gradients
):
    """The embedding's gradient, built dense: whole on each tensor-parallel GPU. [B]

    Beside the head's where they share a matrix, and beside that of earlier micro-batches; torch.nn.Embedding with
    sparse=False. Of three users (T5: both sides and the head) the third's is added to the sum of the other two.
    """
    own = embedding_parameters_here * holds_embedding * (1 - adapts)
    beside = tied + adds_gradients - 1  # users whose gradients stand beside it, less its own
    return gradient_width_bytes_each * (embedding_parameters * holds_embedding * (1 - adapts) + own * beside)


def embedding_activations_bytes(fsdp_active, adapts, holds_embedding, activation_bytes_each, hidden, outside_tokens, stage_waiting_bytes):
    """The gradient of the embedding's output, of the whole sequence on each tensor-parallel GPU; FSDP counts its own. [B]

    In a pipeline the activations of other micro-batches wait meanwhile.
    """
    own = (1 - fsdp_active) * (1 - adapts) * holds_embedding * activation_bytes_each * hidden * outside_tokens
    return own + stage_waiting_bytes


def end_gradients_bytes(
    full_gradients_bytes,
    spread_gradients_bytes,
    fsdp_active,
    last_group_parameters_here,
    gradient_width_bytes_each,
    gradient_shards,
    reduces_at_end,
    stage_reduction_gradients_bytes,
):
    """All gradients at the end of the backward pass, those still to be reduced left out; in a pipeline whole. [B]"""
    waiting = fsdp_active * last_group_parameters_here * gradient_width_bytes_each
    divided = (np.maximum(full_gradients_bytes - waiting, 0) + spread_gradients_bytes) / gradient_shards
    return np.where(reduces_at_end > 0, stage_reduction_gradients_bytes, divided)


def end_working_bytes(
    fsdp_active,
    last_reduction_bytes,
    adapts,
    embedding_gradient_bytes,
    bucket_bytes,
    replicated_bytes_each,
    trained_parameters_here,
    last_group_parameters_here,
    gradient_shards,
    stage_buffers_bytes,
    reduces_at_end,
    stage_reduction_bytes,
):
    """At the end of the backward pass: FSDP's last reduction and what hybrid sharding keeps, or the embedding's dense gradient. [B]"""
    reduced = replicated_bytes_each * (trained_parameters_here - last_group_parameters_here) / gradient_shards
    fsdp = np.where(reduces_at_end > 0, stage_reduction_bytes, last_reduction_bytes * (1 - adapts) + reduced)
    return np.where(fsdp_active > 0, fsdp, embedding_gradient_bytes) + bucket_bytes + stage_buffers_bytes


def step_gradients_bytes(full_gradients_bytes, spread_gradients_bytes, gradient_shards):
    """All gradients at the optimizer's step, divided; those of experts by the ranks that hold the same ones. [B]"""
    return (full_gradients_bytes + spread_gradients_bytes) / gradient_shards


def step_working_bytes(
    trained_parameters_here,
    optimizer_shards,
    gradient_shards,
    largest_parameters_here,
    step_copies,
    trained_bytes_each,
    step_largest_bytes_each,
    implementation_widens_gradients,
    partitions_master,
    shards_optimizer,
    shards_weights,
    data_parallel,
    offloads_optimizer,
    standing_bucket_bytes,
    receive_buffers_bytes,
):
    """The step's temporaries; DeepSpeed widens its shard of the gradients to fp32, Megatron's fused Adam reads them as they are. [B]

    torch/optim by way of catalogs/optimizers.yaml; deepspeed/runtime/zero/stage_1_and_2.py, and stage3.py, which works on
    a sub_group_size of 1e9 elements at a time.
    """
    shard = trained_parameters_here / optimizer_shards
    largest = step_largest_bytes_each * np.minimum(largest_parameters_here, trained_parameters_here) / gradient_shards
    temporary = step_copies * shard * trained_bytes_each + largest
    deepspeed = np.maximum(implementation_widens_gradients, partitions_master) * shards_optimizer * (data_parallel > 1)
    widened = deepspeed * 6 * np.where(shards_weights > 0, np.minimum(shard, 1e9), shard)
    return (temporary + widened) * (1 - offloads_optimizer) + standing_bucket_bytes + receive_buffers_bytes


def decode_working_bytes(cache_growth_bytes, dequantized_bytes):
    """One token per sequence on the full cache: a copy of one layer's, and one matrix widened. [B]"""
    return cache_growth_bytes + dequantized_bytes


MOMENTS = {
    "training": (
        Moment("load", "The model on the GPU before anything runs.", {"working_bytes": "load_working_bytes"}),
        Moment(
            "forward",
            "The head's forward pass: everything saved, logits upcast.",
            {
                "optimizer_bytes": "resident_optimizer_bytes",
                "gradients_bytes": "head_held_gradients_bytes",
                "activations_bytes": "saved_activations_bytes",
                "logits_bytes": "forward_logits_bytes",
                "working_bytes": "forward_working_bytes",
            },
        ),
        Moment(
            "backward",
            "The loss's gradient: everything saved and the logits' gradients.",
            {
                "optimizer_bytes": "resident_optimizer_bytes",
                "gradients_bytes": "head_held_gradients_bytes",
                "activations_bytes": "saved_activations_bytes",
                "logits_bytes": "backward_logits_bytes",
                "working_bytes": "backward_working_bytes",
            },
        ),
        Moment(
            "backward",
            "The head's own gradient, beside that of earlier micro-batches.",
            {
                "optimizer_bytes": "resident_optimizer_bytes",
                "gradients_bytes": "head_held_gradients_bytes",
                "activations_bytes": "saved_activations_bytes",
                "logits_bytes": "head_logits_bytes",
                "working_bytes": "head_working_bytes",
            },
        ),
        Moment(
            "backward",
            "The reduction of the head's gradient, the blocks' activations still there.",
            {
                "optimizer_bytes": "resident_optimizer_bytes",
                "gradients_bytes": "head_held_gradients_bytes",
                "activations_bytes": "head_reduction_activations_bytes",
                "working_bytes": "head_reduction_bytes",
            },
        ),
        Moment(
            "backward",
            "The embedding's gradient, built dense, and FSDP's last reduction.",
            {
                "optimizer_bytes": "resident_optimizer_bytes",
                "gradients_bytes": "end_gradients_bytes",
                "activations_bytes": "embedding_activations_bytes",
                "working_bytes": "end_working_bytes",
            },
        ),
        Moment(
            "step",
            "The optimizer's step: all gradients and the step's temporaries.",
            {
                "optimizer_bytes": "resident_optimizer_bytes",
                "gradients_bytes": "step_gradients_bytes",
                "working_bytes": "step_working_bytes",
            },
        ),
        *(
            Moment(
                "backward",
                says,
                {
                    "optimizer_bytes": "place_resident_optimizer_bytes",
                    "gradients_bytes": "place_gradients_bytes",
                    "activations_bytes": f"{name}_activations_bytes",
                    "working_bytes": f"{name}_working_bytes",
                },
            )
            for name, says in (
                ("products", "The backward pass inside one block, at its widest products."),
                ("attention", "The backward pass inside one block, at attention's worst moment."),
                ("gradients", "The backward pass inside one block, once it has all its gradients."),
                ("reduction", "The backward pass inside one block, while its gradients are reduced."),
            )
        ),
    ),
    "inference": (
        Moment("load", "The model on the GPU before anything runs.", {"working_bytes": "load_working_bytes"}),
        Moment(
            "prefill",
            "The prompt passes through the widest block.",
            {
                "kv_cache_bytes": "prefill_cache_bytes",
                "activations_bytes": "prefill_activations_bytes",
                "working_bytes": "dequantized_bytes",
            },
        ),
        Moment(
            "prefill",
            "The prompt's logits: of its last token, or of all.",
            {"kv_cache_bytes": "prefill_cache_bytes", "activations_bytes": "prefill_hidden_bytes", "logits_bytes": "prefill_logits_bytes"},
        ),
        Moment(
            "decode",
            "One token per sequence on the full cache.",
            {"kv_cache_bytes": "decode_cache_bytes", "logits_bytes": "decode_logits_bytes", "working_bytes": "decode_working_bytes"},
        ),
    ),
}
TRAINING = (
    forward_working_bytes,
    backward_working_bytes,
    head_logits_bytes,
    head_working_bytes,
    head_reduction_bytes,
    head_reduction_activations_bytes,
    embedding_gradient_bytes,
    embedding_activations_bytes,
    end_gradients_bytes,
    end_working_bytes,
    step_gradients_bytes,
    step_working_bytes,
)
SERVING = (decode_working_bytes,)
PEAK = (peak_moment, allocated_peak_bytes)
