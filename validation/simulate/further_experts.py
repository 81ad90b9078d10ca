"""Decoder blocks with experts: beside a shared network, or chosen by a router of many small steps (Phi-3.5-MoE)."""

from validation.simulate.dense import DROPOUT, EVERY, FULL_LAYERS, GROUPS, SLIDING_LAYERS, real
from validation.simulate.experts import (
    LATENT_FIELDS,
    LATENT_MIXED,
    LATENT_SIZES,
    MIXED,
    NO_DENSE,
    SHARED,
    SHARED_LATENT,
    V3,
    latent,
    mixture,
)
from validation.simulate.later import LOCAL_EXPERTS, SQUARE_EXPERTS
from validation.simulate.more import SHARED_ALIKE

CHOSEN = NO_DENSE | dict(moe_intermediate_size="expert_ffn", num_experts_per_tok="experts_per_token")
NUMBERED = CHOSEN | dict(num_experts="experts")
ROUTED_BY = CHOSEN | dict(n_routed_experts="experts")
SQUARE_ROUTED = {name: width for name, width in ROUTED_BY.items() if name != "head_dim"}
LOW_RANK = LATENT_FIELDS | dict(q_lora_rank="query_rank")
SPARSE = dict(mlp_layer_types=["sparse"] * 3)


def shared(id, config, fields, fixed, real_widths, **more):
    """Experts beside one shared network as wide as one of them."""
    return mixture(
        id, f"{config}Config", f"{config}ForCausalLM", fields, DROPOUT | fixed,
        **(dict(attentions=GROUPS, types=(id,), sizes=SHARED, widths=SHARED_ALIKE, real=real_widths) | more),
    )  # fmt: skip


def chosen(experts, per_token, ffn):
    return dict(experts=experts, experts_per_token=per_token, expert_ffn=ffn, shared_ffn=ffn)


FAMILIES = (
    mixture(
        "phimoe", "PhimoeConfig", "PhimoeForCausalLM", LOCAL_EXPERTS | dict(num_local_experts="experts"), DROPOUT, attentions=GROUPS,
        types=("phimoe",), sizes=MIXED, widths=tuple(dict(each, experts_per_token=2) for each in SQUARE_EXPERTS),
        real=real(4096, 32, 8, 128, 0) | chosen(16, 2, 6400),
    ),
    shared("solar_open", "SolarOpen", ROUTED_BY, dict(n_shared_experts=1), real(4096, 64, 8, 128, 0) | chosen(128, 8, 1280)),
    shared("exaone_moe", "ExaoneMoe", NUMBERED, SPARSE, real(6144, 64, 8, 128, 0) | chosen(128, 8, 2048),
           types=("exaone_moe", "dots1", "hy_v3"), attentions=EVERY, full=FULL_LAYERS, window=SLIDING_LAYERS),
    mixture(
        "axk1_moe", "AXK1Config", "AXK1ForCausalLM", LOW_RANK,
        DROPOUT | SPARSE | dict(n_shared_experts=1, n_group=4, topk_group=2), types=("axk1",), further=latent,
        sizes=(*LATENT_MIXED, "query_latent"), widths=SHARED_LATENT, constants=LATENT_SIZES,
        real=V3 | dict(heads=64, kv_heads=64, experts=192, batch=2, seq=816),
    ),
)  # fmt: skip
