"""Sizes per token that some kinds of block have in addition to the plain ones.

families.yaml names these functions under `further`.
"""

import math

from validation.simulate import selective_scan_kernels

CONVOLVED_TOKENS = 3  # of LFM2's convolution
SCAN_STATE = 16  # of a channel in Mamba's scan
STREAMS, RANK = 4, 64  # Gemma 3n's residual streams, and the rank of its second path


def routed(case):
    """Sizes of experts: of those chosen for a token, of all of them, and of the shared one."""
    return dict(
        routed_hidden=case["experts_per_token"] * case["hidden"],
        routed_ffn=case["experts_per_token"] * case["expert_ffn"],
        experts=case["experts"],
        experts_per_token=case["experts_per_token"],
        shared_ffn=case["shared_ffn"],
        experts_hidden=case["experts"] * case["hidden"],
        experts_ffn=case["experts"] * case["expert_ffn"],
    )


def latent(case):
    """Sizes of latent attention: values narrower than keys, partly rotated heads, the latents."""
    return routed(case) | dict(
        query=case["heads"] * (case["nope"] + case["rope"]),
        value=case["heads"] * case["value_dim"],
        keyless=case["heads"] * case["nope"],
        rotary=case["heads"] * case["rope"],
        rotary_head=case["rope"],
        latent=case["latent_rank"] + case["rope"],
        latent_rank=case["latent_rank"],
        query_latent=case["query_rank"],
    )


def rotary(case):
    """The rotated part of a head."""
    return dict(rotary_head=case["rope"])


def angles(case):
    """Rotary angles of each sequence of the batch, as wide as a head."""
    return dict(rotary_head=case["head_dim"])


def crossed(case):
    """Sizes of the other side that a decoder sees, per token of its own."""
    ratio = case["other"] / case["seq"]
    return dict(
        source_hidden=case["hidden"] * ratio,
        source_key=case["heads"] * case["head_dim"] * ratio,
        source_scores=case["heads"] * case["other"],
        shared_source_scores=case["heads"] * case["other"] / case["batch"],
        shared_scores=case["heads"] * case["seq"] / case["batch"],
    )


def relative(case):
    """DeBERTa's 512 relative positions, projected to queries and keys."""
    return dict(
        relative_hidden=case["hidden"] * 512 / case["seq"], relative_heads=case["heads"] * 512
    )


def pooled(case):
    """Sizes outside the measured encoder: CLIP's projected features and the image's states.

    The features have one row per text.
    """
    tiles = (case["image"] // case["patch"]) ** 2 + 1
    return dict(pooled=512 / case["seq"], other_hidden=case["hidden"] * tiles / case["seq"])


def patches(case):
    """Patches without the class token, which is not rotated; the batch shares their angles."""
    alone, share = case["hidden"] / case["seq"], (case["seq"] - 1) / case["seq"]
    return dict(
        patch_hidden=case["hidden"] - alone,
        class_hidden=alone,
        patch_angles=case["head_dim"] * share / case["batch"],
    )


def stem_out(_case):
    """The output of the convolutions over a waveform, which the model keeps."""
    return dict(stem_out=512)


def per_layer(case):
    """Width of the input that each layer has of its own, and of those of all layers together."""
    return dict(
        layer_inputs=case["per_layer"] * len(case["fields"]["layer_types"]),
        per_layer=case["per_layer"],
    )


def streams(case):
    """Gemma 3n's second path and the coefficients of its residual streams."""
    return per_layer(case) | dict(rank=RANK, coefficients=STREAMS**2)


def padded(case):
    """Width of a convolution's output, which is a few tokens longer than its input."""
    return routed(case) | dict(
        padded_hidden=case["hidden"] * (case["seq"] + CONVOLVED_TOKENS - 1) / case["seq"]
    )


def of_mixer(case):
    """Sizes of Mamba; a scan keeps a state and a decay for each chunk of tokens."""
    inner = case["expand"] * case["hidden"]
    chunks = math.ceil(case["seq"] / selective_scan_kernels.CHUNK)
    states = 2 * inner * SCAN_STATE * chunks / case["seq"]
    return dict(
        state_values=inner,
        time_rank=case["rank"],
        state_columns=SCAN_STATE,
        scan_states=states,
        state=inner * SCAN_STATE,
    )


def delta(case):
    """Sizes of a Gated DeltaNet, and of its experts if it has any."""
    keys, values = case["value_heads"] * case["key_dim"], case["value_heads"] * case["value_dim"]
    of_state = dict(
        state_group_keys=case["key_heads"] * case["key_dim"], state_keys=keys, state_values=values
    )
    of_state |= dict(state_heads=case["value_heads"], state=keys * case["value_dim"])
    if "experts" not in case:
        return of_state
    per_token = case["experts_per_token"]
    of_state |= dict(
        routed_hidden=per_token * case["hidden"],
        routed_ffn=per_token * case["expert_ffn"],
        experts=case["experts"],
    )
    return of_state | dict(experts_per_token=per_token, shared_ffn=case["shared_ffn"])
