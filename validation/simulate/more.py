"""Decoder blocks of further families: squared ReLU, norms at other places, shared experts beside normed heads."""

from validation.simulate.dense import DROPOUT, FIELDS, FULL_LAYERS, GROUPS, real
from validation.simulate.experts import NO_DENSE, ROUTED, SHARED, mixture
from validation.simulate.families import ALIKE, GROUPED, Family
from validation.simulate.later import GROUPED_BARE, SQUARE_EXPERTS, square

# The shared expert is as wide as one routed expert here, as their configs have it.
SHARED_ALIKE = tuple(dict(widths, shared_ffn=widths["expert_ffn"]) for widths in ROUTED)
SHARED_SQUARE = tuple(dict(widths, shared_ffn=widths["expert_ffn"]) for widths in SQUARE_EXPERTS)
ERNIE = {name: width for name, width in NO_DENSE.items() if name != "head_dim"}
ALL_FULL = dict(layer_types=["full_attention"] * 3)
QWEN_EXPERTS = NO_DENSE | dict(moe_intermediate_size="expert_ffn", num_experts="experts", num_experts_per_tok="experts_per_token",
                               shared_expert_intermediate_size="shared_ffn")  # fmt: skip
QUARTER_SIZES = ("hidden", "query", "key", "ffn", "heads", "kv_heads", "scores", "mask", "one")
ERNIE |= dict(moe_intermediate_size="expert_ffn", moe_num_experts="experts", moe_k="experts_per_token")


def quarter_turned(widths):
    """Widths of heads of which a quarter is rotated."""
    return tuple(dict(each, rope=each["head_dim"] // 4) for each in widths)


def rotary(case):
    """The rotated part of a head."""
    return dict(rotary_head=case["rope"])


FAMILIES = (
    Family(
        "nemotron", "NemotronConfig", "NemotronForCausalLM", FIELDS, DROPOUT, attentions=GROUPS, types=("nemotron",),
        real=real(6144, 48, 8, 128, 24576),
    ),
    Family(
        "jais2", "Jais2Config", "Jais2ForCausalLM", FIELDS, DROPOUT, attentions=GROUPS, types=("jais2",),
        real=real(3328, 26, 26, 128, 26624),
    ),
    Family(
        "hyperclovax", "HyperCLOVAXConfig", "HyperCLOVAXForCausalLM", FIELDS, DROPOUT, attentions=GROUPS,
        types=("hyperclovax",), real=real(6144, 48, 8, 128, 14336),
    ),
    Family(
        "vaultgemma", "VaultGemmaConfig", "VaultGemmaForCausalLM", FIELDS, DROPOUT, attentions=("eager",),
        types=("vaultgemma",), full=FULL_LAYERS, real=real(1152, 4, 1, 256, 6912),
    ),
    Family(
        "qwen3_5", "Qwen3_5TextConfig", "Qwen3_5ForCausalLM", FIELDS, DROPOUT | ALL_FULL, attentions=GROUPS,
        types=("qwen3_5_text",), sizes=(*QUARTER_SIZES, "rotary_head"), widths=quarter_turned(GROUPED), equal=quarter_turned(ALIKE),
        further=rotary, real=real(5120, 24, 4, 256, 17408) | dict(rope=64),
    ),
    mixture(
        "qwen3_next_moe", "Qwen3NextConfig", "Qwen3NextForCausalLM", QWEN_EXPERTS, DROPOUT | ALL_FULL, attentions=GROUPS,
        types=("qwen3_next", "qwen3_5_moe_text"), sizes=SHARED, widths=quarter_turned(ROUTED),
        real=real(2048, 16, 2, 256, 0) | dict(rope=64, experts=512, experts_per_token=10, expert_ffn=512, shared_ffn=512),
    ),
    square(
        "cohere_normed", "CohereConfig", "CohereForCausalLM", GROUPED_BARE, DROPOUT | dict(use_qk_norm=True),
        attentions=GROUPS, types=("cohere_normed",), real=real(12288, 96, 8, 128, 33792),
    ),
    mixture(
        "hunyuan_v1_moe", "HunYuanMoEV1Config", "HunYuanMoEV1ForCausalLM",
        NO_DENSE | dict(intermediate_size="expert_ffn", num_experts="experts", moe_topk="experts_per_token"), DROPOUT,
        attentions=GROUPS, types=("hunyuan_v1_moe",), sizes=SHARED, widths=SHARED_ALIKE,
        real=real(4096, 32, 8, 128, 0) | dict(experts=64, experts_per_token=8, expert_ffn=3072, shared_ffn=3072),
    ),
    mixture(
        "ernie4_5_moe", "Ernie4_5_MoeConfig", "Ernie4_5_MoeForCausalLM", ERNIE,
        dict(moe_num_shared_experts=1, moe_layer_start_index=0), attentions=GROUPS, types=("ernie4_5_moe",),
        sizes=SHARED, widths=SHARED_SQUARE,
        real=real(2560, 20, 4, 128, 0) | dict(experts=64, experts_per_token=6, expert_ffn=1536, shared_ffn=1536),
    ),
)  # fmt: skip
