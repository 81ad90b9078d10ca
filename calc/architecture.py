"""From a model's architecture to two tables: what the whole model counts, and its stacks (runs of like blocks). Counts, not bytes.

An entry is one model of catalogs/models.yaml, or one that calc/hf_config.py made of a config: sizes, and what differs from its family
(calc/families.py). `parameters` counts what the class of transformers holds as parameters; checkpoints may add buffers.
"""

import math

import pandas as pd

from calc import adapters, block_parameters
from calc.evaluate import evaluate_all
from calc.families import COMMON, FAMILIES

# Sizes that an entry leaves out where its model does not have them.
ABSENT = {
    "layers": 0, "hidden": 0, "heads": 0, "kv_heads": 0, "head_dim": 0, "ffn": 0, "vocab": 0, "max_position": 0, "tied": 0,
    "window_tokens": math.inf, "windowed_layers": 0, "dense_layers": 0, "windowed_dense_layers": 0,
    "experts": 0, "experts_per_token": 0, "expert_ffn": 0, "shared_ffn": 0, "kv_latent_rank": 0, "rope_head_dim": 0, "query_latent_rank": 0,
    "encoder_layers": 0, "decoder_layers": 0, "mel_bins": 0, "source_positions": 0, "classes": 0, "image": 0, "patch": 0, "channels": 3,
    "text_layers": 0, "text_hidden": 0, "text_heads": 0, "text_ffn": 0, "projection": 0, "relative_positions": 0, "position_projections": 0,
}

MODEL_COLUMNS = (
    "name", "family", "model_type", "kind", "hf_repo", "layers", "hidden", "heads", "kv_heads", "head_dim", "vocab", "max_position",
    "parameters", "active_parameters", "embedding_parameters", "head_parameters", "tied", "outside_parameters", "outputs", "fixed_tokens",
    "hidden_dropout", "attention_dropout", "softcap", "refused", "source", "checked_on", "notes",
)
TEXT_COLUMNS = ("name", "family", "model_type", "kind", "hf_repo", "refused", "source", "checked_on", "notes")
STACK_COLUMNS = (
    "model", "stack", "block", "side", "layers", "hidden", "query_width", "key_width", "value_width", "ffn_width", "heads", "kv_heads",
    "head_dim", "window_tokens", "experts", "experts_per_token", "expert_ffn_width", "shared_ffn_width", "latent_width",
    "query_latent_width", "cached_elements_per_token", "cross_cached_elements_per_token", "cross_attention", "block_parameters",
    "block_linear_parameters", "block_expert_parameters", "block_largest_matrix", *(formula.__name__ for formula in adapters.FORMULAS),
)


def fixed_tokens(kind, image, patch, source_positions):
    """Tokens whose number the model fixes: the patches of an image and its class token, or the frames of a sound. [tokens]"""
    return (image // patch) ** 2 + 1 if patch else source_positions * (kind == "audio")


def outputs(vocab, classes, kind):
    """Width of the logits: the vocabulary, or the classes of an image classifier; an encoder of pairs has none. [elements]"""
    return 0 if kind == "dual" else classes + vocab


def embedding_parameters(vocab, embedding_width):
    """The table of token embeddings. [parameters]"""
    return vocab * embedding_width


def head_parameters(tied, outputs, embedding_width):
    """The output matrix; 0 where it is the embedding table. [parameters]"""
    return (1 - tied) * outputs * embedding_width


def position_parameters(learned_positions, max_position, extra_positions, token_types, relative_positions, relative_buckets, heads, kind,
                        text_width, hidden):
    """Learned positions, segments, DeBERTa's relative positions and T5's relative bias (one table per side). [parameters]"""
    tables = learned_positions * (max_position + extra_positions) * text_width
    bias = relative_buckets * heads * (2 if kind == "encoder-decoder" else 1)
    return tables + (token_types + relative_positions) * hidden + bias


def outside_norm_parameters(embedding_norms, final_norms, norm_vectors, hidden):
    """Norms on the embeddings and after the last block. [parameters]"""
    return (embedding_norms + final_norms) * norm_vectors * hidden


def projection_parameters(embedding_width, text_width):
    """Matrices between embeddings and blocks of another width (OPT-350m), in and out. [parameters]"""
    return 2 * embedding_width * text_width if embedding_width != text_width else 0


def head_extra_parameters(masked_head, head_bias, hidden, outputs):
    """The masked-LM head's dense layer and norm, and the bias per word of a head that has one. [parameters]"""
    return masked_head * (hidden * hidden + 3 * hidden) + max(masked_head, head_bias) * outputs


def image_parameters(patch, channels, hidden, stem_bias, fixed_tokens):
    """The patch embedding, the class token and the table of positions. [parameters]"""
    return (patch * patch * channels + stem_bias + 1 + fixed_tokens) * hidden if patch else 0


def sound_parameters(mel_bins, hidden, source_positions):
    """Whisper's two convolutions of width 3 with biases, and the encoder's positions (kept fixed, yet a parameter). [parameters]"""
    return (3 * mel_bins + 3 * hidden + 2 + source_positions) * hidden if mel_bins else 0


def pair_parameters(projection, hidden, text_hidden, norm_vectors):
    """CLIP: projections of both sides to the common space, its temperature, the vision side's second norm and the text side's one. [parameters]"""
    return projection * (hidden + text_hidden) + 1 + norm_vectors * (hidden + text_hidden) if projection else 0


def outside_parameters(embedding_parameters, head_parameters, position_parameters, outside_norm_parameters, projection_parameters,
                       head_extra_parameters, image_parameters, sound_parameters, pair_parameters):
    """Everything outside the blocks. [parameters]"""
    return (embedding_parameters + head_parameters + position_parameters + outside_norm_parameters + projection_parameters
            + head_extra_parameters + image_parameters + sound_parameters + pair_parameters)


OUTSIDE = (fixed_tokens, outputs, embedding_parameters, head_parameters, position_parameters, outside_norm_parameters,
           projection_parameters, head_extra_parameters, image_parameters, sound_parameters, pair_parameters, outside_parameters)


def sizes_of(entry):
    """All sizes and traits of a model: what its entry says, else its family, else that it has none."""
    sizes = {**ABSENT, **COMMON, **FAMILIES[entry["model_type"]], **entry}
    text = {"embedding_width": sizes["text_hidden"] or sizes["hidden"], "text_width": sizes["text_hidden"] or sizes["hidden"]}
    sizes = {**text, "value_head_dim": sizes["head_dim"], **sizes}
    return {name: int(value) if isinstance(value, bool) else value for name, value in sizes.items()}


def decoder_stacks(sizes):
    """Blocks by two traits: with a dense feed-forward or with experts, seeing all tokens or those of a window."""
    dense = sizes["dense_layers"] if sizes["experts"] else sizes["layers"]
    windowed = {"dense": sizes["windowed_dense_layers"] if sizes["experts"] else sizes["windowed_layers"]}
    windowed["moe"] = sizes["windowed_layers"] - windowed["dense"]
    counts = {"dense": dense, "moe": sizes["layers"] - dense}
    for kind in counts:
        own = {"block": sizes["block"], "experts": 0, "experts_per_token": 0, "expert_ffn": 0, "shared_ffn": 0}
        own = {"block": sizes["moe_block"], "ffn": 0} if kind == "moe" else own
        yield {**own, "stack": kind, "layers": counts[kind] - windowed[kind], "window_tokens": math.inf}
        yield {**own, "stack": f"{kind}-windowed", "layers": windowed[kind]}


def sided_stacks(sizes):
    """The encoder's blocks and the decoder's, which attend to the encoder."""
    encoder_heads = sizes.get("encoder_heads", sizes["heads"])
    yield {"stack": "encoder", "block": sizes["encoder_block"], "layers": sizes["encoder_layers"], "caches": 0,
           "side": "fixed" if sizes["kind"] == "audio" else "source", "ffn": sizes.get("encoder_ffn", sizes["ffn"]), "heads": encoder_heads,
           "kv_heads": encoder_heads, "head_dim": sizes["head_dim"] * sizes["heads"] // encoder_heads}
    yield {"stack": "decoder", "layers": sizes["decoder_layers"], "cross_attention": 1}


def paired_stacks(sizes):
    """CLIP's vision side and its text side."""
    heads = sizes["text_heads"]
    yield {"stack": "vision", "block": sizes["encoder_block"], "side": "fixed", "caches": 0}
    yield {"stack": "text", "caches": 0, "layers": sizes["text_layers"], "hidden": sizes["text_hidden"], "ffn": sizes["text_ffn"],
           "heads": heads, "kv_heads": heads, "head_dim": sizes["text_hidden"] // heads}


STACKS = {"decoder": decoder_stacks, "encoder": lambda sizes: [{"stack": "encoder", "caches": 0}],
          "vision": lambda sizes: [{"stack": "encoder", "caches": 0, "side": "fixed"}],
          "encoder-decoder": sided_stacks, "audio": sided_stacks, "dual": paired_stacks}


def stacks_of(sizes):
    """One dict per stack that has layers: its sizes and all that calc/block_parameters.py and calc/adapters.py make of them."""
    for own in STACKS[sizes["kind"]](sizes):
        stack = {"side": "tokens", "caches": 1, "cross_attention": 0, **sizes, **own}
        if own.get("head_dim"):
            stack["value_head_dim"] = own["head_dim"]
        renamed = {"ffn_width": stack["ffn"], "expert_ffn_width": stack["expert_ffn"], "shared_ffn_width": stack["shared_ffn"],
                   "query_latent_width": stack["query_latent_rank"]}
        if stack["layers"]:
            yield evaluate_all((*block_parameters.FORMULAS, *adapters.FORMULAS), {**stack, **renamed})


def describe_model(entry):
    """The row of one model and the rows of its stacks; a refused model has no counts and no stacks."""
    model = evaluate_all(OUTSIDE, sizes_of(entry)) if "refused" not in entry else {**ABSENT, **COMMON, **entry}
    stacks = [] if "refused" in entry else list(stacks_of(model))
    model["layers"] = model["layers"] or model["encoder_layers"] + model["decoder_layers"]
    if stacks:
        idle = [stack["block_expert_parameters"] * (1 - stack["experts_per_token"] / max(stack["experts"], 1)) for stack in stacks]
        model["parameters"] = model["outside_parameters"] + sum(stack["layers"] * stack["block_parameters"] for stack in stacks)
        model["active_parameters"] = model["parameters"] - sum(stack["layers"] * part for stack, part in zip(stacks, idle, strict=True))
        model["layers"] = sum(stack["layers"] for stack in stacks)
    return model, stacks


def model_table(entries):
    """The tables `models` (index: id) and `stacks` of a mapping from id to entry. Numbers are float64, what is not known is NaN."""
    models, stacks = {}, []
    for model_id, entry in entries.items():
        models[model_id], own = describe_model(entry)
        stacks += [{**stack, "model": model_id} for stack in own]
    models = pd.DataFrame.from_dict(models, orient="index").reindex(columns=MODEL_COLUMNS)
    stacks = pd.DataFrame(stacks, columns=STACK_COLUMNS)
    models = models.astype({name: float for name in MODEL_COLUMNS if name not in TEXT_COLUMNS})
    models[list(TEXT_COLUMNS)] = models[list(TEXT_COLUMNS)].fillna("").astype(str).astype(object)
    numbers = [name for name in STACK_COLUMNS if name not in ("model", "stack", "block", "side")]
    return models.rename_axis("id"), stacks.astype({name: float for name in numbers})
