"""Decoder blocks with routed experts, and those with latent attention."""

from validation.simulate.dense import FIELDS, FULL_LAYERS, GROUPS, SLIDING_LAYERS, real
from validation.simulate.families import GROUPED, Family, beside

EXPERTS = (
    dict(experts=28, experts_per_token=3, expert_ffn=464, shared_ffn=1168),
    dict(experts=16, experts_per_token=2, expert_ffn=328, shared_ffn=1232),
    dict(experts=20, experts_per_token=4, expert_ffn=712, shared_ffn=888),
)
ROUTED = beside(GROUPED, EXPERTS)
LATENTS = (
    dict(head_dim=88, nope=56, rope=32, value_dim=48, latent_rank=208, query_rank=336),
    dict(head_dim=120, nope=72, rope=48, value_dim=56, latent_rank=176, query_rank=304),
    dict(head_dim=112, nope=48, rope=64, value_dim=48, latent_rank=136, query_rank=232),
)
LATENT = tuple(dict(widths, kv_heads=widths["heads"]) for widths in beside(ROUTED, LATENTS))
PLAIN = ("hidden", "query", "key", "heads", "kv_heads", "scores", "mask", "one")
MIXED = (*PLAIN, "routed_hidden", "routed_ffn", "experts", "experts_per_token")
SHARED = (*MIXED, "shared_ffn")
LATENT_PLAIN = (
    "hidden", "query", "value", "keyless", "rotary", "rotary_head", "latent", "latent_rank", "heads", "scores", "mask",
    "one",
)  # fmt: skip
LATENT_MIXED = (*LATENT_PLAIN, "routed_hidden", "routed_ffn", "experts", "experts_per_token", "shared_ffn")
NO_DENSE = {name: width for name, width in FIELDS.items() if name != "intermediate_size"}
LATENT_FIELDS = dict(
    hidden_size="hidden", num_attention_heads="heads", num_key_value_heads="heads", intermediate_size="ffn",
    qk_nope_head_dim="nope", qk_rope_head_dim="rope", v_head_dim="value_dim", kv_lora_rank="latent_rank",
    n_routed_experts="experts", num_experts_per_tok="experts_per_token", moe_intermediate_size="expert_ffn",
)  # fmt: skip
DROPOUT = dict(attention_dropout=0.1)
LATENT_SIZES = dict(latent=576, query_latent=1536)


def routed(case):
    """Sizes of the experts' side of a block: what the chosen experts see, what all see, and the shared one."""
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
    """Sizes of latent attention: values narrower than keys, a part of each head rotated, the latents themselves."""
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


def mixture(*names, further=routed, widths=ROUTED, **more):
    alike = tuple(dict(one, kv_heads=one["heads"]) for one in widths)
    return Family(*names, further=further, widths=widths, equal=alike, **more)


def latent_attention(id, version, dense, low_rank, types=(), **real_widths):
    """DeepSeek's block: with or without a low-rank query, its first layers dense."""
    config = f"Deepseek{version}Config"
    fields = LATENT_FIELDS | (dict(q_lora_rank="query_rank") if low_rank else {})
    fixed = DROPOUT | dict(first_k_dense_replace=3 if dense else 0, n_shared_experts=1, n_group=4, topk_group=2)
    if not low_rank:
        fixed |= dict(q_lora_rank=None, n_group=1, topk_group=1, topk_method="greedy")
    sizes = (*LATENT_PLAIN, "ffn") if dense else LATENT_MIXED
    return mixture(
        id, config, f"Deepseek{version}ForCausalLM", fields, fixed, types=types, further=latent,
        sizes=(*sizes, "query_latent") if low_rank else sizes, widths=LATENT if dense else SHARED_LATENT,
        constants=LATENT_SIZES, real=real_widths | dict(batch=2, seq=816),
    )  # fmt: skip


# DeepSeek's shared expert is as wide as one routed expert here; it is told from them by their number.
SHARED_LATENT = tuple(dict(widths, shared_ffn=widths["expert_ffn"]) for widths in LATENT)
V2_LITE = dict(
    hidden=2048, heads=16, kv_heads=16, head_dim=192, ffn=10944, nope=128, rope=64, value_dim=128, latent_rank=512,
    query_rank=1536, experts=64, experts_per_token=6, expert_ffn=1408, shared_ffn=1408,
)  # fmt: skip
V3 = V2_LITE | dict(hidden=7168, heads=128, kv_heads=128, ffn=18432, experts=256, experts_per_token=8, expert_ffn=2048,
                    shared_ffn=2048)  # fmt: skip
QWEN2_MOE = real(2048, 16, 16, 128, 0) | dict(experts=60, experts_per_token=4, expert_ffn=1408, shared_ffn=5632)

FAMILIES = (
    mixture(
        "mixtral", "MixtralConfig", "MixtralForCausalLM",
        NO_DENSE | dict(intermediate_size="expert_ffn", num_local_experts="experts",
                        num_experts_per_tok="experts_per_token"),
        DROPOUT | dict(sliding_window=None), attentions=GROUPS, types=("mixtral",), sizes=MIXED,
        real=real(4096, 32, 8, 128, 0) | dict(experts=8, experts_per_token=2, expert_ffn=14336, shared_ffn=0),
    ),
    mixture(
        "qwen3_moe", "Qwen3MoeConfig", "Qwen3MoeForCausalLM",
        NO_DENSE | dict(moe_intermediate_size="expert_ffn", num_experts="experts",
                        num_experts_per_tok="experts_per_token"),
        DROPOUT | dict(norm_topk_prob=True), attentions=GROUPS, types=("qwen3_moe",), sizes=MIXED,
        real=real(2048, 32, 4, 128, 0) | dict(experts=128, experts_per_token=8, expert_ffn=768, shared_ffn=0),
    ),
    mixture(
        "minimax_m2", "MiniMaxM2Config", "MiniMaxM2ForCausalLM",
        NO_DENSE | dict(intermediate_size="expert_ffn", num_local_experts="experts",
                        num_experts_per_tok="experts_per_token"),
        DROPOUT, attentions=GROUPS, types=("minimax_m2",), sizes=MIXED,
        real=real(3072, 48, 8, 128, 0) | dict(experts=256, experts_per_token=8, expert_ffn=1536, shared_ffn=0),
    ),
    mixture(
        "qwen2_moe", "Qwen2MoeConfig", "Qwen2MoeForCausalLM",
        NO_DENSE | dict(moe_intermediate_size="expert_ffn", num_experts="experts",
                        num_experts_per_tok="experts_per_token", shared_expert_intermediate_size="shared_ffn"),
        DROPOUT, attentions=GROUPS, types=("qwen2_moe",), sizes=SHARED, real=QWEN2_MOE,
    ),
    mixture(
        "gpt_oss", "GptOssConfig", "GptOssForCausalLM",
        NO_DENSE | dict(intermediate_size="expert_ffn", num_local_experts="experts",
                        num_experts_per_tok="experts_per_token"),
        DROPOUT, attentions=("eager",), types=("gpt_oss",), sizes=MIXED, full=FULL_LAYERS, window=SLIDING_LAYERS,
        real=real(2880, 64, 8, 64, 0) | dict(experts=32, experts_per_token=4, expert_ffn=2880, shared_ffn=0),
    ),
    mixture(
        "glm4_moe", "Glm4MoeConfig", "Glm4MoeForCausalLM",
        NO_DENSE | dict(moe_intermediate_size="expert_ffn", n_routed_experts="experts",
                        num_experts_per_tok="experts_per_token"),
        DROPOUT | dict(first_k_dense_replace=0, use_qk_norm=True, attention_bias=True), attentions=GROUPS,
        types=("glm4_moe",), sizes=SHARED,
        widths=tuple(dict(widths, shared_ffn=widths["expert_ffn"]) for widths in ROUTED),
        real=real(4096, 96, 8, 128, 0) | dict(experts=128, experts_per_token=8, expert_ffn=1408, shared_ffn=1408),
    ),
    Family(
        "glm4_moe_dense", "Glm4MoeConfig", "Glm4MoeForCausalLM", FIELDS,
        DROPOUT | dict(first_k_dense_replace=3, use_qk_norm=True, attention_bias=True), attentions=GROUPS,
        real=real(4096, 96, 8, 128, 10944),
    ),
    latent_attention("deepseek_dense", "V2", True, False, types=("deepseek_v2",), **V2_LITE),
    latent_attention("deepseek_moe", "V2", False, False, **V2_LITE),
    latent_attention("deepseek_v3_dense", "V3", True, True, types=("deepseek_v3", "kimi_k2", "minicpm3"), **V3),
    latent_attention("deepseek_v3_moe", "V3", False, True, **V3),
    mixture(
        "llama4_moe", "Llama4TextConfig", "Llama4ForCausalLM",
        NO_DENSE | dict(intermediate_size="expert_ffn", num_local_experts="experts"),
        DROPOUT | dict(moe_layers=[0, 1, 2], no_rope_layers=[1, 1, 1], num_experts_per_tok=1), attentions=GROUPS,
        types=("llama4", "llama4_text"), full=dict(layer_types=["full_attention"] * 3),
        sizes=(*PLAIN, "shared_ffn", "experts", "experts_hidden", "experts_ffn"),
        widths=tuple(dict(widths, shared_ffn=widths["expert_ffn"]) for widths in ROUTED),
        real=real(5120, 40, 8, 128, 0) | dict(experts=16, experts_per_token=1, expert_ffn=8192, shared_ffn=8192),
    ),
    mixture(
        "llama4_dense", "Llama4TextConfig", "Llama4ForCausalLM",
        NO_DENSE | dict(intermediate_size_mlp="ffn", intermediate_size="expert_ffn"),
        DROPOUT | dict(moe_layers=[], no_rope_layers=[1, 1, 1]), attentions=GROUPS, sizes=(*PLAIN, "ffn"),
        full=dict(layer_types=["full_attention"] * 3),
        real=real(5120, 40, 8, 128, 16384) | dict(experts=16, experts_per_token=1, expert_ffn=8192, shared_ffn=8192),
    ),
)  # fmt: skip
