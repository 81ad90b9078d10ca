"""What types from before the common layout derive from fields of their own, as the classes of transformers 5.23 do it."""

from calc.models.huggingface.values import ConfigError, must_divide, whole_number


def _size(config, name, model_id):
    """A field of the config that its class fills in where it is left out."""
    return whole_number(config[name], 1, name, model_id)


def _four_times_hidden(_config, values, _model_id):
    return {"ffn": 4 * values["hidden"]}


def _gpt_neox_japanese(config, values, model_id):
    return {"ffn": _size(config, "intermediate_multiple_size", model_id) * values["hidden"]}


def _openai_gpt(config, values, model_id):
    return {**_four_times_hidden(config, values, model_id), "caches": 0}  # its class passes the whole sequence for each token


def _xglm(config, _values, _model_id):
    return {"cross_attention": int(bool(config.get("add_cross_attention")))}


def _xlm(config, values, model_id):
    if config.get("asm"):
        raise ConfigError(f"{model_id}: an adaptive softmax (asm) is not covered; choose another model.")
    languages = _size(config, "n_langs", model_id)
    tables = {"token_types": languages} if languages > 1 and config["use_lang_emb"] else {}
    return _four_times_hidden(config, values, model_id) | tables | ({"kind": "decoder", "caches": 0} if config["causal"] else {})


def _xlnet(_config, values, model_id):
    """Each block has three biases and two segments for all heads; one embedding stands for all masked tokens.

    What it keeps of a token is its hidden state, half as wide as keys and values together.
    """
    must_divide(values["hidden"], values["heads"], ("the hidden size", "the number of heads"), model_id)
    further = {"further_parameters": 5 * values["hidden"], "further_outside_parameters": values["hidden"]}
    return {"position_projections": 1, "caches": 0.5, **further}


def _big_bird(_config, _values, _model_id):
    return {"pooler": 1}


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
    rows = {"max_position": max(values["max_position"] - 2, 1)}  # two rows of its table stand for no position
    final = {"final_norms": int(bool(config["pre_norm"]))}
    return rows | final | {"further_parameters": len(languages) * each + norm}


FORMS = {
    "big_bird": _big_bird,
    "flaubert": _xlm,
    "gpt_neo": lambda config, values, model_id: {} if "ffn" in values else _four_times_hidden(config, values, model_id),
    "gpt_neox_japanese": _gpt_neox_japanese,
    "openai-gpt": _openai_gpt,
    "roc_bert": _roc_bert,
    "roformer": _roformer,
    "xglm": _xglm,
    "xlm": _xlm,
    "xlnet": _xlnet,
    "xmod": _xmod,
}
