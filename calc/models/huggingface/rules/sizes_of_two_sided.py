"""Sizes that encoder-decoders derive from special fields, as in transformers 5.23."""

from calc.models.huggingface.remarks import class_name
from calc.models.huggingface.values import size_of, whole_number


def t5_sizes(config, _values):
    """Networks with two matrices or gated ones: two families."""
    return {"model_type": "t5_gated" if "gated" in config["feed_forward_proj"] else "t5"}


def marian_sizes(config, values):
    """The sides may have separate tables."""
    sizes = {}
    if not config["share_encoder_decoder_embeddings"]:
        sizes = {"further_outside_parameters": values["vocab"] * values["hidden"], "vocab": size_of(config, "decoder_vocab_size")}
    return sizes


def fsmt_sizes(config, values):
    """Separate tables of embeddings, and tables of position angles as parameters."""
    rows = 2 * (values["max_position"] + whole_number(config.get("pad_token_id", 1), 0, "pad_token_id") + 1)
    rows += 0 if values["tied"] else size_of(config, "src_vocab_size")
    return {"further_outside_parameters": rows * values["hidden"]}


def led_sizes(config, values):
    """Projections of global tokens in the encoder; another table of positions in the decoder."""
    rows = size_of(config, "max_decoder_position_embeddings")
    return {"encoder_sizes": {"position_projections": 3}, "further_outside_parameters": rows * values["hidden"]}


def pegasus_x_sizes(config, values):
    """Global tokens in the encoder, with their own norm in each block."""
    rows = size_of(config, "num_global_tokens")
    return {"encoder_sizes": {"block_norms": 3}, "further_outside_parameters": rows * values["hidden"]}


def bigbird_pegasus_sizes(config, _values):
    """Only the decoder's class has a separate head."""
    return {"tied": 0} if class_name(config).endswith("ForCausalLM") else {}


def prophetnet_sizes(config, values):
    """Several tokens predicted ahead, each with an embedding; relative position biases."""
    ahead, buckets = size_of(config, "ngram"), size_of(config, "num_buckets")
    sizes = {"encoder_sizes": {"further_parameters": 0}, "further_outside_parameters": ahead * values["hidden"]}
    sizes["further_parameters"] = buckets * values["heads"] * (values["hidden"] + 1)
    return sizes


def umt5_sizes(config, values):
    """Each block has its own relative biases."""
    biases = values["relative_buckets"] * values["heads"]
    return {"gated": int("gated" in config["feed_forward_proj"]), "relative_buckets": 0, "further_parameters": biases}


def longt5_sizes(config, values):
    """Blocks of tokens with a summary add a norm in each block and one more table."""
    sums = config["encoder_attention_type"] == "transient-global"
    sizes = {"encoder_sizes": {"further_parameters": sums * values["hidden"]}, "gated": int("gated" in config["feed_forward_proj"])}
    return {**sizes, "further_outside_parameters": sums * values["relative_buckets"] * values["heads"]}


def switch_transformers_sizes(config, values):
    """The second layer of each period has experts; a token uses one of them."""
    sizes = {"experts_per_token": 1}
    for side, layers in (("encoder", values["encoder_layers"]), ("decoder", values["decoder_layers"])):
        sparse = whole_number(config[f"num_sparse_{side}_layers"], 0, f"num_sparse_{side}_layers")
        step = max(layers // sparse, 1) if sparse else layers
        sizes[f"{side}_routed_layers"] = sum(step == 1 or index % step == 1 for index in range(layers))
    return sizes


def nllb_moe_sizes(config, values):
    """The last layer of each period has experts; a token uses two of them."""
    sizes = {"experts_per_token": 2, "encoder_sizes": {"expert_ffn": values["encoder_ffn"]}}
    for side, layers in (("encoder", values["encoder_layers"]), ("decoder", values["decoder_layers"])):
        step = whole_number(config[f"{side}_sparse_step"], 0, f"{side}_sparse_step")
        sizes[f"{side}_routed_layers"] = layers // step if step else 0
    return sizes
