"""Decoder blocks of families that came after those of dense.py and experts.py: other places of norms, fused networks."""

from validation.simulate.dense import BARE, DROPOUT, EVERY, FIELDS, FULL_LAYERS, GROUPED_SIZES, GROUPS, SLIDING_LAYERS, real
from validation.simulate.experts import MIXED, NO_DENSE, mixture
from validation.simulate.families import EQUAL, SQUARE, WINDOW, Family, beside

GROUPED_BARE = BARE | dict(num_key_value_heads="kv_heads")
ALL_EXPERTS = NO_DENSE | dict(intermediate_size="expert_ffn", num_experts="experts", num_experts_per_tok="experts_per_token")
LOCAL_EXPERTS = {name: width for name, width in ALL_EXPERTS.items() if name not in ("num_experts", "head_dim")}
# Without a head_dim of their own these are as wide together as the hidden state.
SQUARE_EXPERTS = beside(
    SQUARE,
    (
        dict(experts=28, experts_per_token=3, expert_ffn=464, shared_ffn=1168),
        dict(experts=16, experts_per_token=2, expert_ffn=328, shared_ffn=1232),
        dict(experts=20, experts_per_token=4, expert_ffn=712, shared_ffn=888),
    ),
)


def square(*names, **more):
    """A block whose query heads are as wide together as the hidden state."""
    return Family(*names, **(dict(sizes=GROUPED_SIZES, widths=SQUARE, equal=EQUAL) | more))


FAMILIES = (
    Family(
        "exaone4", "Exaone4Config", "Exaone4ForCausalLM", FIELDS, DROPOUT, attentions=EVERY, types=("exaone4",),
        full=FULL_LAYERS, window=SLIDING_LAYERS, real=real(5120, 40, 8, 128, 27392),
    ),
    square(
        "olmo", "OlmoConfig", "OlmoForCausalLM", GROUPED_BARE, DROPOUT, attentions=GROUPS, types=("olmo",),
        real=real(4096, 32, 32, 128, 11008),
    ),
    square(
        "cohere", "CohereConfig", "CohereForCausalLM", GROUPED_BARE, DROPOUT, attentions=GROUPS, types=("cohere",),
        real=real(8192, 64, 8, 128, 22528),
    ),
    Family(
        "glm", "GlmConfig", "GlmForCausalLM", FIELDS, DROPOUT | dict(pad_token_id=0, attention_bias=True), attentions=GROUPS,
        types=("glm",), real=real(4096, 32, 2, 128, 13696),
    ),
    Family(
        "glm4", "Glm4Config", "Glm4ForCausalLM", FIELDS, DROPOUT | dict(pad_token_id=0, attention_bias=True), attentions=GROUPS,
        types=("glm4",), real=real(6144, 48, 2, 128, 23040),
    ),
    square(
        "starcoder2", "Starcoder2Config", "Starcoder2ForCausalLM", GROUPED_BARE, DROPOUT | dict(residual_dropout=0.1),
        attentions=EVERY, types=("starcoder2",), full=dict(sliding_window=None), window=dict(sliding_window=WINDOW),
        real=real(3072, 24, 2, 128, 12288),
    ),
    mixture(
        "olmoe", "OlmoeConfig", "OlmoeForCausalLM",
        {name: width for name, width in ALL_EXPERTS.items() if name != "head_dim"}, DROPOUT, attentions=GROUPS,
        types=("olmoe",), sizes=MIXED, widths=SQUARE_EXPERTS,
        real=real(2048, 16, 16, 128, 0) | dict(experts=64, experts_per_token=8, expert_ffn=1024, shared_ffn=0),
    ),
    mixture(
        "flex_olmo", "FlexOlmoConfig", "FlexOlmoForCausalLM",
        {name: width for name, width in ALL_EXPERTS.items() if name != "head_dim"}, DROPOUT | dict(pad_token_id=0), attentions=GROUPS,
        types=("flex_olmo",), sizes=MIXED, widths=SQUARE_EXPERTS,
        real=real(4096, 32, 32, 128, 0) | dict(experts=7, experts_per_token=5, expert_ffn=11008, shared_ffn=0),
    ),
    mixture(
        "granitemoe", "GraniteMoeConfig", "GraniteMoeForCausalLM",
        LOCAL_EXPERTS | dict(num_local_experts="experts"), DROPOUT, attentions=GROUPS,
        types=("granitemoe",), sizes=MIXED, widths=SQUARE_EXPERTS,
        real=real(1536, 24, 8, 64, 0) | dict(experts=40, experts_per_token=8, expert_ffn=512, shared_ffn=0),
    ),
)  # fmt: skip
