"""Dense decoder blocks."""

from dataclasses import replace

from validation.simulate.families import EQUAL, SQUARE, WINDOW, Family

EVERY = ("sdpa", "sdpa-grouped", "sdpa-window", "eager")
GROUPS = ("sdpa", "sdpa-grouped", "eager")
FIELDS = dict(
    hidden_size="hidden", num_attention_heads="heads", num_key_value_heads="kv_heads", head_dim="head_dim",
    intermediate_size="ffn",
)  # fmt: skip
BARE = {name: width for name, width in FIELDS.items() if name not in ("head_dim", "num_key_value_heads")}
GROUPED_SIZES = ("hidden", "key", "ffn", "heads", "kv_heads", "scores", "mask", "one")
PLAIN_SIZES = ("hidden", "ffn", "heads", "scores", "mask", "one")
DROPOUT = dict(attention_dropout=0.1)
SLIDING = dict(use_sliding_window=True, sliding_window=WINDOW, max_window_layers=0)
FULL_LAYERS = dict(layer_types=["full_attention"] * 3)
SLIDING_LAYERS = dict(layer_types=["sliding_attention"] * 3, sliding_window=WINDOW)


def real(hidden, heads, kv_heads, head_dim, ffn, batch=2, seq=1632):
    """The widths of a real model, and a length at which no activation has as many elements as a weight."""
    return dict(hidden=hidden, heads=heads, kv_heads=kv_heads, head_dim=head_dim, ffn=ffn, batch=batch, seq=seq)


def plain(*names, **more):
    """A block whose heads are all alike and as wide together as the hidden state."""
    return Family(*names, **(dict(sizes=PLAIN_SIZES, widths=EQUAL, equal=EQUAL) | more))


FAMILIES = (
    Family(
        "llama", "MistralConfig", "MistralForCausalLM", FIELDS, DROPOUT, attentions=EVERY,
        types=("llama", "mistral", "qwen2", "smollm3", "granite"), full=dict(sliding_window=None),
        window=dict(sliding_window=WINDOW), real=real(4096, 32, 8, 128, 14336),
    ),
    Family(
        "qwen3", "Qwen3Config", "Qwen3ForCausalLM", FIELDS, DROPOUT, attentions=EVERY, types=("qwen3",),
        window=SLIDING, real=real(2560, 32, 8, 128, 9728),
    ),
    Family(
        "gemma3", "Gemma3TextConfig", "Gemma3ForCausalLM", FIELDS, DROPOUT,
        attentions=(*EVERY, "sdpa-window-multiquery"),
        types=("gemma3", "gemma3_text"), full=FULL_LAYERS, window=SLIDING_LAYERS, real=real(2560, 8, 4, 256, 10240),
    ),
    Family(
        "gemma2", "Gemma2Config", "Gemma2ForCausalLM", FIELDS, DROPOUT, attentions=("eager",), types=("gemma2",),
        full=FULL_LAYERS, real=real(2304, 8, 4, 256, 9216),
    ),
    Family(
        "phi3", "Phi3Config", "Phi3ForCausalLM", FIELDS, DROPOUT | dict(resid_pdrop=0.1, pad_token_id=0),
        attentions=(*EVERY, "sdpa-window-equal"), types=("phi3",), full=dict(sliding_window=None), window=dict(sliding_window=WINDOW),
        real=real(5120, 40, 10, 128, 17920),
    ),
    plain(
        "phi", "PhiConfig", "PhiForCausalLM", BARE, types=("phi",), real=real(2560, 32, 32, 80, 10240),
        fixed=DROPOUT | dict(resid_pdrop=0.1, rope_parameters=dict(rope_theta=1e4, partial_rotary_factor=0.5,
                                                                   rope_type="default")),
    ),
    plain(
        "gpt2", "GPT2Config", "GPT2LMHeadModel", dict(n_embd="hidden", n_head="heads", n_inner="ffn"),
        types=("gpt2",), layers=("n_layer",), fixed=dict(n_positions=4096), real=real(1600, 25, 25, 64, 6400),
        paths=dict(blocks="transformer.h"),
    ),
    plain(
        "gpt_neox", "GPTNeoXConfig", "GPTNeoXForCausalLM", BARE, DROPOUT | dict(hidden_dropout=0.1),
        types=("gpt_neox",), paths=dict(blocks="gpt_neox.layers"), real=real(2048, 16, 16, 128, 8192),
    ),
    plain(
        "opt", "OPTConfig", "OPTForCausalLM",
        dict(hidden_size="hidden", num_attention_heads="heads", ffn_dim="ffn", word_embed_proj_dim="hidden"),
        types=("opt",), paths=dict(blocks="model.decoder.layers"), fixed=DROPOUT, real=real(2048, 32, 32, 64, 8192),
    ),
    plain(
        "bloom", "BloomConfig", "BloomForCausalLM", dict(hidden_size="hidden", n_head="heads"), types=("bloom",),
        layers=("n_layer",), paths=dict(blocks="transformer.h"), attentions=("eager",),
        fixed=DROPOUT | dict(hidden_dropout=0.1), real=real(1024, 16, 16, 64, 4096),
    ),
    Family(
        "falcon", "FalconConfig", "FalconForCausalLM",
        dict(hidden_size="hidden", num_attention_heads="heads", ffn_hidden_size="ffn"),
        DROPOUT | dict(hidden_dropout=0.1, multi_query=True, parallel_attn=True, new_decoder_architecture=False),
        types=("falcon",), paths=dict(blocks="transformer.h"), sizes=("hidden", "key", "ffn", "heads", "scores",
                                                                      "mask", "one"),
        widths=tuple(dict(widths, kv_heads=1) for widths in SQUARE), equal=EQUAL,
        real=real(4544, 71, 1, 64, 18176),
    ),
    Family(
        "falcon_new", "FalconConfig", "FalconForCausalLM",
        dict(hidden_size="hidden", num_attention_heads="heads", ffn_hidden_size="ffn", num_kv_heads="kv_heads"),
        DROPOUT | dict(hidden_dropout=0.1, multi_query=True, parallel_attn=True, new_decoder_architecture=True),
        paths=dict(blocks="transformer.h"), sizes=GROUPED_SIZES, widths=SQUARE, equal=EQUAL,
        real=real(8192, 128, 8, 64, 32768),
    ),
    Family(
        "olmo2", "Olmo2Config", "Olmo2ForCausalLM", BARE | dict(num_key_value_heads="kv_heads"), DROPOUT,
        attentions=GROUPS, types=("olmo2",), sizes=GROUPED_SIZES, widths=SQUARE, equal=EQUAL,
        real=real(5120, 40, 8, 128, 27648),
    ),
    Family(
        "gemma", "GemmaConfig", "GemmaForCausalLM", FIELDS, DROPOUT, attentions=GROUPS, types=("gemma",),
        real=real(2048, 8, 1, 256, 16384),
    ),
    Family(
        "seed_oss", "SeedOssConfig", "SeedOssForCausalLM", FIELDS, attentions=GROUPS, types=("seed_oss",),
        real=real(5120, 80, 8, 128, 27648),
    ),
    Family(
        "gpt_bigcode", "GPTBigCodeConfig", "GPTBigCodeForCausalLM",
        dict(n_embd="hidden", n_head="heads", n_inner="ffn"), dict(n_positions=4096), types=("gpt_bigcode",),
        layers=("n_layer",), paths=dict(blocks="transformer.h"), widths=tuple(dict(w, kv_heads=1) for w in SQUARE),
        equal=EQUAL, sizes=("hidden", "key", "ffn", "heads", "scores", "mask", "one"),
        real=real(6144, 48, 1, 128, 24576),
    ),
    plain(
        "mpt", "MptConfig", "MptForCausalLM", dict(d_model="hidden", n_heads="heads", max_seq_len="seq"),
        types=("mpt",), layers=("n_layers",), paths=dict(blocks="transformer.blocks"), attentions=("eager",),
        real=real(4096, 32, 32, 128, 16384),
    ),
)  # fmt: skip

# The same blocks with an activation function that their config may name instead: one kernel, or composed of simple
# operations. The id is that of the block and the activation function.
ACTIVATIONS = {
    "gpt2": ("activation_function", ("gelu", "gelu_fast", "relu")),
    "gpt_bigcode": ("activation_function", ("gelu_new", "gelu_fast")),
    "gpt_neox": ("hidden_act", ("gelu_new", "gelu_fast", "relu")),
    "opt": ("activation_function", ("gelu",)),
    "phi": ("hidden_act", ("gelu", "gelu_fast")),
}


def activated(family):
    """The variants of a family by activation function; `gelu` stands for all that are one kernel."""
    field, functions = ACTIVATIONS.get(family.id, ("", ()))
    return [replace(family, id=f"{family.id}-{function}", types=(), fixed=family.fixed | {field: function}) for function in functions]


FAMILIES = (*FAMILIES, *(variant for family in FAMILIES for variant in activated(family)))
