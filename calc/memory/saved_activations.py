"""What the blocks save for the backward pass and need at their worst moments. Bytes; stack quantities are (stacks, rows).

Per token a block's bytes are a linear form in its sizes, read off PyTorch storage by storage (catalogs/blocks.yaml).
"""

import numpy as np

from calc.memory.peak import at_peak
from calc.scenarios.join_stacks import FIXED_SIDE


def activations_bytes(peak_moment, moment_activations_bytes):
    """Saved for the backward pass, or the working set of a forward pass, alive at the moment of the peak. [B]

    Blocks · bytes per token · tokens (Korthikanti et al. 2022, arXiv 2205.05198, equations 1 to 6, for the classic block;
    every other kind from catalogs/blocks.yaml): saved_activations_bytes in training, prefill_activations_bytes in serving.
    """
    return at_peak(moment_activations_bytes, peak_moment)


def sequence_split(tensor_parallel, implementation_splits_sequence):
    """GPUs over which norms and the residual stream are divided. [GPUs]

    Sequence parallelism: Korthikanti et al. 2022, arXiv 2205.05198, section 4.2.2.
    """
    return np.where(implementation_splits_sequence > 0, tensor_parallel, 1)


def stack_fused_norm_bytes_per_token(rms_norms, stack_hidden, stack_layers, implementation_fuses_norms, sequence_split, stack_shares_form):
    """The fp32 copies that fused norms do not keep; software's own block does not count them. Shape (stacks, rows). [B]"""
    fused = implementation_fuses_norms * (1 - stack_shares_form)
    return 4 * rms_norms * stack_hidden * (stack_layers > 0) * fused / sequence_split


def stack_several_bytes_per_token(linear_forms, trains, stack_fused_norm_bytes_per_token):
    """Saved by a trained block of several sequences. Shape (stacks, rows). [B]"""
    return linear_forms("saved", trains) - stack_fused_norm_bytes_per_token


def stack_single_bytes_per_token(linear_forms, trains, batch, stack_fused_norm_bytes_per_token):
    """Saved by a trained block of one sequence, where some copies stay views. Shape (stacks, rows). [B]"""
    return linear_forms("saved_alone", trains * (batch == 1)) - stack_fused_norm_bytes_per_token


def stack_adapted_bytes_per_token(
    linear_forms, adapts, stack_adapter_saved_bytes_per_token, kept_input_bytes_each, stack_hidden, stack_ffn_width
):
    """Saved by a frozen block with its adapters; bitsandbytes' int8 product also holds its inputs. [B]"""
    inputs = kept_input_bytes_each * (2 * stack_hidden + stack_ffn_width)
    return linear_forms("frozen", adapts) + stack_adapter_saved_bytes_per_token + inputs


def stack_saved_bytes_per_token(
    adapts,
    batch,
    compiles,
    compute_bytes_each,
    stack_shares_form,
    stack_adapted_bytes_per_token,
    stack_single_bytes_per_token,
    stack_several_bytes_per_token,
    linear_forms,
):
    """What autograd saves of one block; a compiled block keeps less. Shape (stacks, rows). [B]

    Transformer Engine saves the inputs of its 8-bit products in 8 bits (Megatron; module/layernorm_linear.py).
    """
    eight_bit = (compute_bytes_each == 1) & stack_shares_form
    trained = np.where(batch == 1, stack_single_bytes_per_token, stack_several_bytes_per_token)
    trained = np.where(eight_bit, linear_forms("saved_eight_bit", eight_bit), trained)
    saved = np.where(adapts > 0, stack_adapted_bytes_per_token, trained)
    return np.where(compiles > 0, np.minimum(saved, linear_forms("compiled", compiles)), saved)


def stack_checkpoint_bytes_per_token(
    linear_forms, keeps_input, sequence_split, kept_input_bytes_each, stack_hidden, stack_query_width, stack_ffn_width, adapts
):
    """A checkpointed block keeps its input, divided where the sequence is (Chen et al. 2016, arXiv 1604.06174). [B]

    bitsandbytes' int8 product holds its inputs where checkpointing cannot drop them.
    """
    inputs = kept_input_bytes_each * (2 * stack_hidden + stack_query_width + stack_ffn_width)
    return linear_forms("checkpoint", keeps_input, divided=False) / sequence_split + inputs * adapts


def stack_products_bytes_per_token(
    linear_forms, keeps_products, activation_bytes_each, stack_hidden, sequence_split, tensor_parallel, compiles
):
    """What torchtitan's policy per operator keeps: attention's outputs and every second product. Shape (stacks, rows). [B]

    With sequence parallelism also both reduce-scatters' outputs, and the last product whole, as it is before it
    (torchtitan, distributed/activation_checkpoint.py; simulated: validation/data/parallel/tp.csv). A compiled block does
    not keep the last product, which its backward pass does not read (torchtitan's published runs, two of them).
    """
    split = (sequence_split > 1) * 1.0
    own = np.where(
        split > 0,
        linear_forms("selective_ops", keeps_products, divided=False) / tensor_parallel,
        linear_forms("selective_ops", keeps_products),
    )
    width = activation_bytes_each * stack_hidden
    scattered = split * width * ((1 - 1 / sequence_split) + 2 / sequence_split)
    return own + scattered - compiles * width


def stack_kept_bytes_per_token(
    keeps_input,
    keeps_products,
    drops_attention,
    stack_checkpoint_bytes_per_token,
    stack_saved_bytes_per_token,
    linear_forms,
    stack_products_bytes_per_token,
):
    """What one block keeps for the backward pass under the chosen recompute. Shape (stacks, rows). [B]

    Full: its input (Chen et al. 2016, arXiv 1604.06174). Selective: all but attention's core (Korthikanti et al. 2022,
    arXiv 2205.05198, section 5), or the products that torchtitan keeps.
    """
    without_core = np.minimum(linear_forms("core", drops_attention), stack_saved_bytes_per_token)
    kept = np.where(drops_attention > 0, without_core, stack_saved_bytes_per_token)
    kept = np.where(keeps_products > 0, np.minimum(stack_products_bytes_per_token, stack_saved_bytes_per_token), kept)
    return np.where(keeps_input > 0, stack_checkpoint_bytes_per_token, kept)


def stack_backward_bytes_per_token(linear_forms, trains, keeps_all, stack_saved_bytes_per_token, stack_several_bytes_per_token):
    """One block at the worst moment of its backward pass: catalogs/blocks.yaml. Shape (stacks, rows). [B]"""
    kept, again = trains * (keeps_all > 0), trains * (keeps_all == 0)
    worst = np.where(keeps_all > 0, linear_forms.worst("backward", kept), linear_forms.worst("recomputed", again))
    return stack_saved_bytes_per_token + np.maximum(worst - stack_several_bytes_per_token, 0)


def stack_attention_backward_bytes_per_token(
    linear_forms, trains, adapts, keeps_all, stack_saved_bytes_per_token, stack_several_bytes_per_token
):
    """One block at attention's worst moment, its network's activations gone: catalogs/blocks.yaml. Shape (stacks, rows). [B]"""
    kept, again = trains * (keeps_all > 0), trains * (keeps_all == 0)
    plain, recomputed = linear_forms.worst("backward_attention", kept), linear_forms.worst("recomputed_attention", again)
    worst = np.where(keeps_all > 0, plain, recomputed)
    left = worst + stack_saved_bytes_per_token - stack_several_bytes_per_token
    return (worst > 0) * (1 - adapts) * np.maximum(left, 0)


def stack_forward_bytes_per_token(linear_forms, trains):
    """Working set of one block without gradients, in serving: catalogs/blocks.yaml. Shape (stacks, rows). [B]"""
    return linear_forms.worst("forward", trains == 0)


def stack_kept_each_bytes(stack_layers_here, stack_kept_bytes_per_token, stack_tokens, offloads_activations):
    """Kept by all blocks of a stack for one micro-batch. Shape (stacks, rows). [B]

    Blocks · bytes per token · tokens (Korthikanti et al. 2022, arXiv 2205.05198); offloaded, only two blocks' worth stays.
    """
    blocks = np.where(offloads_activations > 0, np.minimum(stack_layers_here, 2), stack_layers_here)
    return blocks * stack_kept_bytes_per_token * stack_tokens


def stack_kept_bytes(stack_kept_each_bytes, microbatches_waiting):
    """Kept by all blocks of a stack between forward and backward, in a pipeline of all that waits. Shape (stacks, rows). [B]

    Narayanan et al. 2021, arXiv 2104.04473.
    """
    return stack_kept_each_bytes * microbatches_waiting


def moved_activations_bytes(stack_layers_here, stack_kept_bytes_per_token, stack_tokens):
    """Saved activations of all blocks but two, which offloading moves to CPU memory. [B]"""
    return np.sum(np.maximum(stack_layers_here - 2, 0) * stack_kept_bytes_per_token * stack_tokens, axis=0)


def saved_activations_bytes(stack_kept_each_bytes, microbatches_waiting_at_head, outside_saved_bytes, outside_backward_bytes, holds_head):
    """All that waits for the backward pass, logits apart (Korthikanti et al. 2022, arXiv 2205.05198). [B]

    The final norm stands before the head.
    """
    outside = outside_backward_bytes + (outside_saved_bytes - outside_backward_bytes) * holds_head
    return np.sum(stack_kept_each_bytes, axis=0) * microbatches_waiting_at_head + outside


def stack_autocast_bytes(
    stack_layers_here,
    stack_block_linear_here,
    stack_block_experts_here,
    autocast_bytes_each,
    autocast_active,
    adapts_experts,
    stack_adapter_experts_in,
    matrix_bytes_each,
):
    """The 16-bit copy of every matrix, quantised ones apart, that autocast makes once and keeps. Shape (stacks, rows). [B]

    torch/amp/autocast_mode.py, cache_enabled; adapted experts are merged into a copy likewise (peft 0.21).
    """
    cast = stack_block_linear_here * autocast_bytes_each * autocast_active * (matrix_bytes_each >= 2)
    merged = adapts_experts * (stack_adapter_experts_in > 0) * stack_block_experts_here * matrix_bytes_each
    return stack_layers_here * (cast + merged)


def stack_merging_bytes(adapts_experts, stack_adapter_experts_in, stack_block_experts_here, adapter_bytes_each):
    """The gradient of adapted experts on its way back to their adapters, in the adapters' width. Shape (stacks, rows). [B]

    That of gate and up, two thirds of the experts, twice: before and after its scaling (peft, tuners/lora/layer.py,
    ParamWrapper.get_delta_weight). The merged copy's own gradient stands where the copy stood.
    """
    return adapts_experts * (stack_adapter_experts_in > 0) * stack_block_experts_here * 2 / 3 * 2 * adapter_bytes_each


def head_autocast_bytes(head_matrix_parameters, holds_head, vocabulary_split, autocast_active, autocast_bytes_each):
    """Autocast's copy of the head's matrix (torch/amp/autocast_mode.py, cache_enabled). [B]"""
    return head_matrix_parameters * holds_head / vocabulary_split * autocast_active * autocast_bytes_each


def prefill_block_bytes(stack_forward_bytes_per_token, stack_tokens, stack_layers_here, stack_side, prompt_share, tower_forward_bytes):
    """Working set of the widest block over the prompt, or of a vision tower; an encoder of images or sound reads all at once. [B]"""
    share = np.where(stack_side == FIXED_SIDE, 1, prompt_share)
    of_blocks = np.max(stack_forward_bytes_per_token * stack_tokens * (stack_layers_here > 0) * share, axis=0)
    return np.maximum(of_blocks, tower_forward_bytes)


def prefill_activations_bytes(is_engine, engine_forward_bytes, prefill_block_bytes):
    """Working set while the prompt passes: of the widest block, or of an engine's own profile. [B]"""
    return np.where(is_engine > 0, engine_forward_bytes, prefill_block_bytes)


def prefill_hidden_bytes(is_engine, batch, prompt_tokens, hidden, served_logit_bytes_each):
    """Final hidden states of the prompt; an engine's are in its profile. [B]"""
    return np.where(is_engine > 0, 0.0, batch * prompt_tokens * hidden * served_logit_bytes_each)


BLOCKS = (
    sequence_split,
    stack_fused_norm_bytes_per_token,
    stack_several_bytes_per_token,
    stack_single_bytes_per_token,
    stack_adapted_bytes_per_token,
    stack_saved_bytes_per_token,
    stack_checkpoint_bytes_per_token,
    stack_products_bytes_per_token,
    stack_kept_bytes_per_token,
    stack_backward_bytes_per_token,
    stack_attention_backward_bytes_per_token,
    stack_forward_bytes_per_token,
)
KEPT = (stack_kept_each_bytes,)
SAVED = (stack_kept_bytes, moved_activations_bytes, saved_activations_bytes, stack_autocast_bytes, stack_merging_bytes, head_autocast_bytes)
SERVED = (prefill_block_bytes, prefill_activations_bytes, prefill_hidden_bytes)
