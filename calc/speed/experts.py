"""Experts that a decode step reads: those that some token chose, or all in whole tiles."""

import numpy as np

# Expected highest of 1, 2, 4 ... 256 normal variables (Harter 1961, Biometrika 48, table 1).
HIGHEST_NORMAL = (0, 0.56, 1.03, 1.42, 1.77, 2.07, 2.34, 2.59, 2.82)


def expert_batch(running_sequences, expert_gpus, tensor_parallel):
    """Sequences whose tokens meet at one copy of the experts. [sequences]

    By definition.
    """
    return running_sequences * expert_gpus / tensor_parallel


def touched_experts_ratio(
    expert_batch, stack_experts, stack_chosen_experts_ratio, expert_popularity_shape
):
    """Share of the experts that some token of a decode step chose. Shape (stacks, rows). [share]

    1 − (1 − p) (1 + (batch − 1) h / a)^(−a), p = k / E, h = −ln(1 − p): where the popularity of
    experts follows a Gamma distribution of shape a, choices are negative binomial; a → ∞ is 1 − (1
    − p)^batch. Source: the negative binomial distribution as a Poisson mixture, Greenwood and Yule
    1920, J. Roy. Stat. Soc. 83(2), 255-279; a: expert_popularity_shape of
    catalogs/calibrated/time_constants.yaml.
    """
    some = (stack_experts > 0) & (stack_chosen_experts_ratio < 1)
    idle_ratio = np.where(some, 1 - stack_chosen_experts_ratio, 1)
    others = (
        1 - (expert_batch - 1) * np.log(idle_ratio) / expert_popularity_shape
    ) ** -expert_popularity_shape
    return np.where(some, 1 - idle_ratio * others, 1)


def busiest_rank_ratio(expert_parallel, stack_experts, touched_experts_ratio):
    """Experts that the busiest rank reads, over the mean; all others wait for it. [ratio]

    1 + z √((1 − touched) / touched experts of a rank), z the expected highest of as many normal
    variables as there are ranks: a rank's touched experts vary as a binomial does. Shape (stacks,
    rows). Source: Harter 1961, Biometrika 48, table 1, for z.
    """
    highest = np.interp(np.log2(expert_parallel), range(len(HIGHEST_NORMAL)), HIGHEST_NORMAL)
    on_rank = np.maximum(stack_experts / expert_parallel * touched_experts_ratio, 1)
    return np.where(
        stack_experts > 0, 1 + highest * np.sqrt((1 - touched_experts_ratio) / on_rank), 1
    )


def stack_expert_bytes(stack_layers, stack_block_expert_parameters, matrix_bytes_each, expert_gpus):
    """One GPU's share of the experts of each stack. [B]

    By definition.
    """
    return stack_layers * stack_block_expert_parameters * matrix_bytes_each / expert_gpus


def touched_experts_bytes(
    stack_expert_bytes, touched_experts_ratio, busiest_rank_ratio, release_expert_read_ratio
):
    """Experts that the busiest rank reads in a decode step, since a token chose them. [B]

    Releases that read them slowly count as many bytes as other reads would move in that time.
    Source: catalogs/calibrated/earlier_releases.yaml, expert_read_ratio.
    """
    reach = np.where(np.isnan(release_expert_read_ratio), 1, release_expert_read_ratio)
    return np.sum(stack_expert_bytes * touched_experts_ratio * busiest_rank_ratio, axis=0) / reach


def tiled_experts_bytes(
    stack_expert_bytes,
    stack_experts,
    stack_experts_per_token,
    expert_batch,
    release_expert_tile_tokens,
    release_tiled_read_ratio,
):
    """Experts read by releases that pad each expert's tokens to tiles. [B]

    (1 + batch · k / (E · tile)) of all experts, as many bytes as other reads would move in their
    time; NaN for other releases. Source: vLLM, layers/fused_moe/deep_gemm_utils.py,
    compute_aligned_M: M · k + experts · (alignment − 1), rounded up.
    """
    tiles = (
        1
        + expert_batch
        * stack_experts_per_token
        / np.maximum(stack_experts, 1)
        / release_expert_tile_tokens
    )
    return np.sum(stack_expert_bytes * tiles, axis=0) / release_tiled_read_ratio


def read_experts_bytes(
    touched_experts_bytes,
    tiled_experts_bytes,
    card_tiles_experts,
    compute_bytes_each,
    tensor_parallel,
    untiled_tensor_parallel,
):
    """Experts that one GPU reads in a decode step, in whole tiles if padded. [B]

    By definition.
    """
    tiled = (
        (card_tiles_experts > 0)
        & (compute_bytes_each == 1)
        & (tensor_parallel < untiled_tensor_parallel)
    )
    return np.where(tiled & (tiled_experts_bytes >= 0), tiled_experts_bytes, touched_experts_bytes)
