"""Activations that one block saves for the backward pass, and its peak. Bytes per token.

Source: Korthikanti et al. 2022, arXiv 2205.05198, equations 1 to 6, for the classic block;
catalogs/read_off/blocks.yaml for all others.
"""

import numpy as np

from calc.scenarios.stack_numbers import ADAPTED


def sequence_split(tensor_parallel, implementation_splits_sequence):
    """GPUs that divide norms and the residual stream: sequence parallelism. [GPUs]

    Source: Korthikanti et al. 2022, arXiv 2205.05198, section 4.2.2.
    """
    return np.where(implementation_splits_sequence > 0, tensor_parallel, 1)


def fuses_norms(implementation_fuses_norms, fuses_blocks):
    """1 if a norm is one kernel: that of the software, or Liger's. By definition. [0 or 1]"""
    return np.maximum(implementation_fuses_norms, fuses_blocks)


def stack_fused_bytes_per_token(
    rms_norms,
    stack_hidden,
    stack_layers,
    fuses_norms,
    sequence_split,
    stack_shares_form,
    fuses_blocks,
    activation_bytes_each,
    stack_gated_ffn_width,
):
    """Bytes that fused kernels do not store: the norms' fp32 copies, the gate's activation. [B]

    Source: liger_kernel/ops/rms_norm.py and ops/swiglu.py of Liger 0.8.5.
    """
    norms = 4 * rms_norms * stack_hidden * fuses_norms / sequence_split
    gate = activation_bytes_each * stack_gated_ffn_width * fuses_blocks
    return (norms + gate) * (stack_layers > 0) * (1 - stack_shares_form)


def stack_written_over_bytes_per_token(
    fuses_blocks, activation_bytes_each, stack_gated_ffn_width, keeps_all, stack_shares_form
):
    """Gradients of a gate that Liger's kernel writes over its inputs. [B]

    PyTorch makes those of both factors anew, and of a recomputed block that of the gate too.
    Source: as stack_fused_bytes_per_token.
    """
    gradients_bytes = np.where(keeps_all > 0, 2, 3) * activation_bytes_each * stack_gated_ffn_width
    return fuses_blocks * gradients_bytes * (1 - stack_shares_form)


def stack_several_bytes_per_token(linear_forms, trains):
    """Bytes that a trained block saves if the micro-batch has several sequences. [B]"""
    return linear_forms("saved", trains)


def stack_adapted_bytes_per_token(
    linear_forms,
    adapts,
    stack_adapter_saved_bytes_per_token,
    kept_input_bytes_each,
    stack_hidden,
    stack_ffn_width,
    stack_fused_bytes_per_token,
):
    """Bytes that a frozen block with adapters saves, with the inputs of bitsandbytes' int8. [B]"""
    inputs = kept_input_bytes_each * (2 * stack_hidden + stack_ffn_width)
    frozen = linear_forms("frozen", adapts) - stack_fused_bytes_per_token
    return frozen + stack_adapter_saved_bytes_per_token + inputs


def stack_trained_bytes_per_token(
    linear_forms,
    trains,
    batch_sequences,
    compute_bytes_each,
    stack_shares_form,
    stack_fused_bytes_per_token,
    stack_several_bytes_per_token,
):
    """Bytes that a trained block saves; 8-bit products save 8-bit inputs. [B]

    With a single sequence some copies stay views. Source: Megatron-Core with transformer_engine,
    module/layernorm_linear.py.
    """
    eight_bit = (compute_bytes_each == 1) & stack_shares_form
    alone = linear_forms("saved_alone", trains * (batch_sequences == 1))
    stored_bytes = np.where(batch_sequences == 1, alone, stack_several_bytes_per_token)
    saved_bytes = stored_bytes - stack_fused_bytes_per_token
    return np.where(eight_bit, linear_forms("saved_eight_bit", eight_bit), saved_bytes)


def stack_widened_norm_bytes_per_token(
    runs_autocast, matrix_bytes_each, stack_layer_norm_width, implementation_fuses_norms
):
    """Additional bytes of autocast's LayerNorm, which runs in fp32 on 16-bit inputs. [B]

    A kernel of the software's own is not on autocast's list. Source: aten/src/ATen/autocast_mode.h,
    layer_norm; Transformer Engine 2, pytorch/module/layernorm_linear.py.
    """
    widens = runs_autocast * (1 - implementation_fuses_norms)
    return widens * (matrix_bytes_each == 2) * 2 * stack_layer_norm_width


def stack_saved_bytes_per_token(
    adapts,
    compiles,
    stack_adapted_bytes_per_token,
    stack_trained_bytes_per_token,
    stack_widened_norm_bytes_per_token,
    linear_forms,
    stack_waveform_active_parameters,
):
    """Bytes that autograd saves for one block; fewer if it is compiled. [B]

    A waveform's blocks save the same either way.
    """
    saved_bytes = (
        np.where(adapts > 0, stack_adapted_bytes_per_token, stack_trained_bytes_per_token)
        + stack_widened_norm_bytes_per_token
    )
    is_compiled = (compiles > 0) & (stack_waveform_active_parameters == 0)
    return np.where(
        is_compiled, np.minimum(saved_bytes, linear_forms("compiled", compiles)), saved_bytes
    )


def stack_checkpoint_bytes_per_token(
    linear_forms,
    keeps_input,
    sequence_split,
    kept_input_bytes_each,
    stack_hidden,
    stack_query_width,
    stack_ffn_width,
    adapts,
):
    """Input that a checkpointed block stores, divided if the sequence is. [B]

    Checkpointing cannot drop the inputs that bitsandbytes' int8 product keeps. Source: Chen et al.
    2016, arXiv 1604.06174.
    """
    inputs = kept_input_bytes_each * (2 * stack_hidden + stack_query_width + stack_ffn_width)
    return (
        linear_forms("checkpoint", keeps_input, is_divided=False) / sequence_split + inputs * adapts
    )


def stack_products_bytes_per_token(
    linear_forms,
    keeps_products,
    activation_bytes_each,
    stack_hidden,
    sequence_split,
    tensor_parallel,
    compiles,
):
    """Bytes that torchtitan's policy stores: attention outputs, every second product. [B]

    With sequence parallelism it also stores the outputs of both reduce-scatters, and the last
    product whole, as it is before its own. A compiled block does not store the last product, which
    its backward pass does not read. Source: torchtitan, distributed/activation_checkpoint.py, and
    two of its published runs; validation/data/parallel/tp.csv.
    """
    split = (sequence_split > 1) * 1.0
    kept_bytes = np.where(
        split > 0,
        linear_forms("selective_ops", keeps_products, is_divided=False) / tensor_parallel,
        linear_forms("selective_ops", keeps_products),
    )
    width = activation_bytes_each * stack_hidden
    scattered = split * width * ((1 - 1 / sequence_split) + 2 / sequence_split)
    return kept_bytes + scattered - compiles * width


def stack_kept_bytes_per_token(
    keeps_input,
    keeps_products,
    drops_attention,
    stack_checkpoint_bytes_per_token,
    stack_saved_bytes_per_token,
    linear_forms,
    stack_products_bytes_per_token,
):
    """Bytes that one block stores for the backward pass under the chosen recompute. [B]

    Full: its input. Selective: everything but attention's core, or the products that torchtitan
    keeps. Source: Chen et al. 2016, arXiv 1604.06174; Korthikanti et al. 2022, arXiv 2205.05198,
    section 5.
    """
    without_core = np.minimum(linear_forms("core", drops_attention), stack_saved_bytes_per_token)
    kept_bytes = np.where(drops_attention > 0, without_core, stack_saved_bytes_per_token)
    kept_bytes = np.where(
        keeps_products > 0,
        np.minimum(stack_products_bytes_per_token, stack_saved_bytes_per_token),
        kept_bytes,
    )
    return np.where(keeps_input > 0, stack_checkpoint_bytes_per_token, kept_bytes)


def _worst(linear_forms, attention, trains, keeps_all):
    """The worst of the backward pass, with all kept or after a second forward pass."""
    worst_kept = linear_forms.worst(f"backward{attention}", trains * (keeps_all > 0))
    return np.where(
        keeps_all > 0,
        worst_kept,
        linear_forms.worst(f"recomputed{attention}", trains * (keeps_all == 0)),
    )


def stack_recomputed_end_bytes_per_token(
    keeps_all, runs_autocast, copies_input_bytes_each, stack_adapter_inputs, stack_hidden
):
    """Bytes in addition to a recomputed block's own when its last adapted product ends. [B]

    They are the product's input and, under autocast, its fp32 copy; both products, their sum, and
    the gradient that waits for it. Source: peft 0.21, tuners/lora/layer.py, Linear.forward;
    simulated (validation/data/post_training.csv).
    """
    last = stack_adapter_inputs[ADAPTED.index("down")]
    inputs = (2 + 4 * runs_autocast) * last
    return (1 - keeps_all) * (copies_input_bytes_each > 0) * (inputs + 4 * 2 * stack_hidden)


def stack_backward_bytes_per_token(
    linear_forms,
    trains,
    keeps_all,
    adapts,
    stack_saved_bytes_per_token,
    stack_several_bytes_per_token,
    stack_recomputed_end_bytes_per_token,
    stack_written_over_bytes_per_token,
):
    """One block at the worst moment of its backward pass. [B]"""
    added = _worst(linear_forms, "", trains, keeps_all) - stack_several_bytes_per_token
    worst = np.maximum(added - stack_written_over_bytes_per_token, 0)
    return stack_saved_bytes_per_token + np.maximum(
        worst, adapts * stack_recomputed_end_bytes_per_token
    )


def stack_attention_peak_bytes_per_token(
    linear_forms,
    trains,
    adapts,
    keeps_all,
    stack_saved_bytes_per_token,
    stack_several_bytes_per_token,
):
    """One block at attention's worst moment, after its network's activations are freed. [B]"""
    worst = _worst(linear_forms, "_attention", trains, keeps_all)
    left = worst + stack_saved_bytes_per_token - stack_several_bytes_per_token
    return (worst > 0) * (1 - adapts) * np.maximum(left, 0)


def stack_forward_bytes_per_token(linear_forms, trains):
    """Working set of one block without gradients, in serving. [B]"""
    return linear_forms.worst("forward", trains == 0)
