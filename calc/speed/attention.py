"""Which attention kernel runs, and the rate that it reaches on the card.

Shares of the data sheet: catalogs/calibrated/utilization.yaml by card, engines.yaml by software.
"""

import numpy as np

# FlashAttention 2, 3 and 4, cuDNN, cuDNN where the card has its own, PyTorch; 0: none is named
KERNELS = (1, 2, 3, 4, 5, 6)


def attention_kernel(
    names_flash_2,
    names_flash_3,
    names_flash_4,
    names_cudnn,
    names_sdpa,
    engine_takes_flash_package,
    engine_takes_cudnn,
):
    """The attention kernel that a row or its software names. [code]

    Software on the flash-attn package takes FlashAttention 3 where nothing is named, Transformer
    Engine cuDNN's kernel where that was written for the card.
    """
    unnamed = names_flash_2 + names_flash_3 + names_flash_4 + names_cudnn + names_sdpa == 0
    return np.select(
        [
            names_flash_2 > 0,
            (names_flash_3 > 0) | unnamed & (engine_takes_flash_package > 0),
            names_flash_4 > 0,
            names_cudnn > 0,
            unnamed & (engine_takes_cudnn > 0),
            names_sdpa > 0,
        ],
        KERNELS,
        0,
    )


def named_attention_ratio(
    attention_kernel,
    card_flash_2_ratio,
    card_flash_3_ratio,
    card_flash_4_ratio,
    card_cudnn_ratio,
    card_attention_ratio,
):
    """Share of the dense rate of the kernel that a row or its software names; else NaN. [share]

    A card without a cuDNN kernel of its own has the software's usual one. Source:
    catalogs/calibrated/utilization.yaml.
    """
    of_card = np.where(card_cudnn_ratio > card_flash_2_ratio, card_cudnn_ratio, np.nan)
    shares = [
        card_flash_2_ratio,
        card_flash_3_ratio,
        card_flash_4_ratio,
        card_cudnn_ratio,
        of_card,
        card_attention_ratio,
    ]
    return np.select([attention_kernel == kernel for kernel in KERNELS], shares, np.nan)


def kernel_attention_ratio(
    trains,
    engine_replays_steps,
    card_attention_ratio,
    engine_attention_ratio,
    named_attention_ratio,
    card_prefill_attention_ratio,
    card_flash_2_ratio,
    card_flash_3_ratio,
):
    """Share of the dense rate that the attention kernel reaches. [share]

    Serving engines run its forward pass alone, which reaches more than forward and backward
    together; FlashAttention 2 is behind the card's best kernel there as in training.
    """
    unnamed = np.isnan(named_attention_ratio)
    behind = np.where(
        named_attention_ratio <= card_flash_2_ratio, card_flash_2_ratio / card_flash_3_ratio, 1
    )
    serving = card_prefill_attention_ratio * np.where(unnamed, engine_attention_ratio, behind)
    training = np.where(
        unnamed, card_attention_ratio * engine_attention_ratio, named_attention_ratio
    )
    return np.where((trains == 0) & (engine_replays_steps > 0), serving, training)


def attention_flops_per_second(
    wide_flops_per_second, kernel_attention_ratio, context_parallel, engine_context_attention_ratio
):
    """Rate that attention reaches. [FLOP/s]

    Under context parallelism each rank works on short pieces and waits for the slowest of the ring,
    a calibrated share. Source: Liu et al. 2023, arXiv 2310.01889.
    """
    of_ring = np.where(context_parallel > 1, engine_context_attention_ratio, 1)
    return wide_flops_per_second * kernel_attention_ratio * of_ring
