"""Dense decoder blocks: early ones that attend in plain operations alone, and LayerNorms or networks of two matrices of later years."""

from validation.simulate.dense import DROPOUT, FIELDS, GROUPS, PLAIN_SIZES, plain, real
from validation.simulate.families import EQUAL, SQUARE, Family
from validation.simulate.later import GROUPED_BARE, square
from validation.simulate.more import quarter_turned, rotary

QUARTER = dict(rope_parameters=dict(rope_theta=1e4, partial_rotary_factor=0.25, rope_type="default"))
EARLY = dict(n_embd="hidden", n_head="heads", n_inner="ffn", rotary_dim="rope", n_positions="seq")
EARLY_DROPOUT = dict(attn_pdrop=0.1, resid_pdrop=0.1)
EARLY_BLOCK = dict(
    layers=("n_layer",), attentions=("eager",), paths=dict(blocks="transformer.h"), sizes=(*PLAIN_SIZES, "rotary_head"), further=rotary,
)  # fmt: skip
# CodeGen's heads stand in four groups.
FOURS = tuple(
    dict(each, hidden=heads * each["head_dim"], heads=heads, kv_heads=heads) for each, heads in zip(EQUAL, (12, 8, 16), strict=True)
)


FAMILIES = (
    square(
        "stablelm", "StableLmConfig", "StableLmForCausalLM", GROUPED_BARE, DROPOUT | QUARTER | dict(hidden_dropout=0.1),
        attentions=GROUPS, types=("stablelm",), sizes=("hidden", "key", "ffn", "heads", "kv_heads", "scores", "mask", "one", "rotary_head"),
        widths=quarter_turned(SQUARE), equal=quarter_turned(EQUAL), further=rotary,
        real=real(2560, 32, 32, 80, 6912) | dict(rope=20),
    ),
    Family(
        "arcee", "ArceeConfig", "ArceeForCausalLM", FIELDS, DROPOUT, attentions=GROUPS, types=("arcee",),
        real=real(2560, 20, 4, 128, 18432),
    ),
    square(
        "apertus", "ApertusConfig", "ApertusForCausalLM", GROUPED_BARE, DROPOUT, attentions=GROUPS, types=("apertus",),
        real=real(4096, 32, 8, 128, 21504),
    ),
    plain(
        "gptj", "GPTJConfig", "GPTJForCausalLM", EARLY, EARLY_DROPOUT, **EARLY_BLOCK, types=("gptj",), widths=quarter_turned(EQUAL),
        equal=quarter_turned(EQUAL), real=real(4096, 16, 16, 256, 16384) | dict(rope=64),
    ),
    plain(
        "codegen", "CodeGenConfig", "CodeGenForCausalLM", EARLY, EARLY_DROPOUT, **EARLY_BLOCK, types=("codegen",),
        widths=quarter_turned(FOURS), equal=quarter_turned(FOURS), real=real(6144, 24, 24, 256, 24576) | dict(rope=64),
    ),
    plain(
        "xglm", "XGLMConfig", "XGLMForCausalLM", dict(d_model="hidden", attention_heads="heads", ffn_dim="ffn"),
        dict(max_position_embeddings=4096), types=("xglm",), layers=("num_layers",),
        attentions=("eager",), real=real(2048, 16, 16, 128, 8192),
    ),
)  # fmt: skip
