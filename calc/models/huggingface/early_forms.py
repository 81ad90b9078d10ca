"""What types from before the common layout derive from fields of their own, as the classes of transformers 5.23 do it."""

from calc.models.huggingface.remarks import class_name
from calc.models.huggingface.values import ConfigError, must_divide, whole_number


def _size(config, name, model_id):
    """A field of the config that its class fills in where it is left out."""
    return whole_number(config[name], 1, name, model_id)


def four_times_hidden(_config, values, _model_id):
    """The inner width of a network whose config leaves it out."""
    return {"ffn": values.get("ffn", 4 * values["hidden"])}


def _gpt_neox_japanese(config, values, model_id):
    return {"ffn": _size(config, "intermediate_multiple_size", model_id) * values["hidden"]}


def _openai_gpt(config, values, model_id):
    return {**four_times_hidden(config, values, model_id), "caches": 0}  # its class passes the whole sequence for each token


def _xglm(config, _values, _model_id):
    return {"cross_attention": int(bool(config.get("add_cross_attention")))}


def _xlm(config, values, model_id):
    if config.get("asm"):
        raise ConfigError(f"{model_id}: an adaptive softmax (asm) is not covered; choose another model.")
    languages = _size(config, "n_langs", model_id)
    tables = {"token_types": languages} if languages > 1 and config["use_lang_emb"] else {}
    return four_times_hidden(config, values, model_id) | tables | ({"kind": "decoder", "caches": 0} if config["causal"] else {})


def _xlnet(_config, values, model_id):
    """Each block has three biases and two segments for all heads; one embedding stands for all masked tokens.

    What it keeps of a token is its hidden state, half as wide as keys and values together.
    """
    must_divide(values["hidden"], values["heads"], ("the hidden size", "the number of heads"), model_id)
    further = {"further_parameters": 5 * values["hidden"], "further_outside_parameters": values["hidden"]}
    return {"position_projections": 1, "caches": 0.5, **further}


def _big_bird(_config, _values, _model_id):
    return {"pooler": 1}


def _cpmant(config, values, model_id):
    """Learned prompts and segments, and one table of biases for all blocks: of distances, and of each pair of segments."""
    sizes = ("prompt_types", "prompt_length", "segment_types", "position_bias_num_buckets")
    prompts, length, segments, buckets = (_size(config, name, model_id) for name in sizes)
    biases = (buckets + segments**2) * values["heads"]
    return {"tied": 0, "further_outside_parameters": (prompts * length + segments) * values["hidden"] + biases}


def _rembert(config, values, model_id):
    """Tables of positions and segments, and their norm, are as narrow as its embedding; its head is wider, and of its own."""
    if values["tied"]:
        raise ConfigError(f"{model_id}: tie_word_embeddings true is not covered for rembert; its head is wider than its embedding.")
    hidden, narrow, wide = values["hidden"], values["embedding_width"], _size(config, "output_embedding_size", model_id)
    head = (values["vocab"] + hidden) * (wide - narrow) + hidden + 3 * wide
    tables = (values["max_position"] + values["token_types"] + 2) * (hidden - narrow)
    return {"further_outside_parameters": head - tables}


def _roberta(_config, values, _model_id):
    return {"max_position": max(values["max_position"] - 2, 1)}  # two rows of its table stand for no position


def _longformer(config, values, model_id):
    """Chosen tokens see all others, by projections of their own."""
    return {**_roberta(config, values, model_id), "position_projections": 3}


def _nystromformer(config, values, model_id):
    """A convolution for each head beside its attention."""
    return {"further_parameters": values["heads"] * _size(config, "conv_kernel_size", model_id)}


def _albert(config, values, model_id):
    if config.get("inner_group_num", 1) != 1:
        raise ConfigError(f"{model_id}: an albert of several layers in a group (inner_group_num) is not covered; choose another model.")
    must_divide(values["layers"], values["layer_groups"], ("the number of layers", "that of their groups"), model_id)
    hidden = values["hidden"]  # the matrix into the blocks stands there even where the embedding is as wide
    return {"further_outside_parameters": (hidden + 1) * hidden if values["embedding_width"] == hidden else 0}


def _layoutlm(config, values, model_id):
    """Tables of where on the page a word lies, and how large it is."""
    return {"pooler": 1, "further_outside_parameters": 4 * _size(config, "max_2d_position_embeddings", model_id) * values["hidden"]}


def _tapas(config, _values, model_id):
    return {"token_types": sum(whole_number(rows, 1, "type_vocab_sizes", model_id) for rows in config["type_vocab_sizes"])}


def _roc_bert(config, values, model_id):
    """Tables of how a word sounds and looks, and the matrix that joins them with its own."""
    widths = {name: _size(config, f"{name}_embed_dim", model_id) for name in ("pronunciation", "shape")}
    tables = sum(width * _size(config, f"{name}_vocab_size", model_id) for name, width in widths.items())
    joined = values["hidden"] + 1 + sum(width for name, width in widths.items() if config[f"enable_{name}"])
    return {"further_outside_parameters": tables + joined * values["hidden"] * bool(config["concat_input"])}


def _roformer(config, values, model_id):
    """Its table of angles is held as a parameter."""
    if config.get("embedding_size") not in (None, values["hidden"]):
        raise ConfigError(f"{model_id}: a roformer whose embedding_size is not hidden_size is not covered; choose another model.")
    must_divide(values["hidden"], values["heads"], ("the hidden size", "the number of heads"), model_id)
    return {"further_outside_parameters": values["max_position"] * (values["hidden"] // values["heads"])}


def _xmod(config, values, model_id):
    """An adapter of each language in each block, over the block's last norm or one of its own."""
    hidden, languages = values["hidden"], config["languages"]
    width = hidden // _size(config, "adapter_reduction_factor", model_id)
    each = 2 * hidden * width + width + hidden
    norm = 2 * hidden if config["adapter_layer_norm"] else 0
    final = {"final_norms": int(bool(config["pre_norm"]))}
    return {**_roberta(config, values, model_id), **final, "further_parameters": len(languages) * each + norm}


def _tables_shared(config, values, model_id):
    if not values["tied"]:
        named = config["model_type"]
        raise ConfigError(f"{model_id}: tie_word_embeddings false is not covered for {named}; its sides share a table.")
    return {}


def _marian(config, values, model_id):
    """Its sides may have tables of their own."""
    own = {}
    if not config["share_encoder_decoder_embeddings"]:
        own = {"further_outside_parameters": values["vocab"] * values["hidden"], "vocab": _size(config, "decoder_vocab_size", model_id)}
    return _tables_shared(config, values, model_id) | own


def _fsmt(config, values, model_id):
    """Its sides have tables of their own, and tables of angles held as parameters, the first rows up to the padding's unused."""
    rows = 2 * (values["max_position"] + whole_number(config.get("pad_token_id", 1), 0, "pad_token_id", model_id) + 1)
    rows += 0 if values["tied"] else _size(config, "src_vocab_size", model_id)
    return {"further_outside_parameters": rows * values["hidden"]}


def _led(config, values, model_id):
    """Its encoder attends to chosen tokens by projections of their own; its decoder has a table of other length."""
    rows = _size(config, "max_decoder_position_embeddings", model_id)
    own = {"encoder_sizes": {"position_projections": 3}, "further_outside_parameters": rows * values["hidden"]}
    return _tables_shared(config, values, model_id) | own


def _pegasus_x(config, values, model_id):
    """Its encoder carries so many tokens that see all others, with a norm of their own in each block."""
    rows = _size(config, "num_global_tokens", model_id)
    own = {"encoder_sizes": {"block_norms": 3}, "further_outside_parameters": rows * values["hidden"]}
    return _tables_shared(config, values, model_id) | own


def _bigbird_pegasus(config, values, model_id):
    alone = {"tied": 0} if class_name(config).endswith("ForCausalLM") else {}  # that class keeps a head of its own
    return _tables_shared(config, values, model_id) | alone


def _mvp(config, values, model_id):
    if config.get("use_prompt"):
        raise ConfigError(f"{model_id}: prompts learned for each layer (use_prompt) are not covered; choose another model.")
    return _tables_shared(config, values, model_id)


def _prophetnet(config, values, model_id):
    """Its decoder predicts several tokens ahead: an embedding for each, and in each block a bias of relative positions."""
    ahead, buckets = _size(config, "ngram", model_id), _size(config, "num_buckets", model_id)
    own = {"encoder_sizes": {"further_parameters": 0}, "further_outside_parameters": ahead * values["hidden"]}
    own["further_parameters"] = buckets * values["heads"] * (values["hidden"] + 1)
    return _tables_shared(config, values, model_id) | own


def _trocr(config, values, model_id):
    """It attends to an image's encoder, whose width may be another."""
    width = config.get("cross_attention_hidden_size") or values["hidden"]
    wider = whole_number(width, 1, "cross_attention_hidden_size", model_id) - values["hidden"]
    return {"cross_attention": 1, "further_parameters": 2 * wider * values["hidden"]}


def _moshi(_config, values, model_id):
    must_divide(values["ffn"], 2, ("ffn_dim", "its two halves"), model_id)
    return {"ffn": values["ffn"] // 2, "tied": 0, "further_outside_parameters": values["hidden"]}  # a word more at the input


def _umt5(config, values, _model_id):
    """Each block has relative biases of its own."""
    biases = values["relative_buckets"] * values["heads"]
    return {"gated": int("gated" in config["feed_forward_proj"]), "relative_buckets": 0, "further_parameters": biases}


def _longt5(config, values, _model_id):
    """Where its encoder sums up blocks of tokens, it has a norm of the sums in each block and one more table of biases."""
    sums = config["encoder_attention_type"] == "transient-global"
    own = {"encoder_sizes": {"further_parameters": sums * values["hidden"]}, "gated": int("gated" in config["feed_forward_proj"])}
    return {**own, "further_outside_parameters": sums * values["relative_buckets"] * values["heads"]}


def _switch_transformers(config, values, model_id):
    """Of each so many layers the second has experts, one of them for each token."""
    own = {"experts_per_token": 1}
    for side, layers in (("encoder", values["encoder_layers"]), ("decoder", values["decoder_layers"])):
        sparse = whole_number(config[f"num_sparse_{side}_layers"], 0, f"num_sparse_{side}_layers", model_id)
        step = max(layers // sparse, 1) if sparse else layers
        own[f"{side}_routed_layers"] = sum(step == 1 or index % step == 1 for index in range(layers))
    return _tables_shared(config, values, model_id) | own


def _nllb_moe(config, values, model_id):
    """The last of each so many layers has experts, two of them for each token."""
    own = {"experts_per_token": 2, "encoder_sizes": {"expert_ffn": values["encoder_ffn"]}}
    for side, layers in (("encoder", values["encoder_layers"]), ("decoder", values["decoder_layers"])):
        step = whole_number(config[f"{side}_sparse_step"], 0, f"{side}_sparse_step", model_id)
        own[f"{side}_routed_layers"] = layers // step if step else 0
    return _tables_shared(config, values, model_id) | own


FORMS = {
    **dict.fromkeys(("bart", "blenderbot", "blenderbot-small", "m2m_100", "mbart", "pegasus", "plbart"), _tables_shared),
    "albert": _albert,
    "big_bird": _big_bird,
    "bigbird_pegasus": _bigbird_pegasus,
    "cpmant": _cpmant,
    "flaubert": _xlm,
    "fsmt": _fsmt,
    "gpt_neo": four_times_hidden,
    "gpt_neox_japanese": _gpt_neox_japanese,
    "ibert": _roberta,
    "layoutlm": _layoutlm,
    "led": _led,
    "longformer": _longformer,
    "longt5": _longt5,
    "marian": _marian,
    "moshi": _moshi,
    "mvp": _mvp,
    "nllb-moe": _nllb_moe,
    "nystromformer": _nystromformer,
    "openai-gpt": _openai_gpt,
    "pegasus_x": _pegasus_x,
    "prophetnet": _prophetnet,
    "rembert": _rembert,
    **dict.fromkeys(("roberta", "roberta-prelayernorm", "xlm-roberta-xl", "data2vec-text", "mpnet"), _roberta),
    "roc_bert": _roc_bert,
    "roformer": _roformer,
    "switch_transformers": _switch_transformers,
    "tapas": _tapas,
    "trocr": _trocr,
    "umt5": _umt5,
    "xglm": _xglm,
    "xlm": _xlm,
    "xlnet": _xlnet,
    "xmod": _xmod,
}
