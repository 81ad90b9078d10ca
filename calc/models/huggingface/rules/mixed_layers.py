"""What each layer attends to, in models some of whose layers keep a state."""

from calc.models.huggingface.values import word_of

# The names in layer_types, of current and earlier files: what the layer attends to.
WAYS = {"full_attention": "", "attention": "", "linear_attention": "linear", "mamba": "linear", "conv": "linear", "hybrid": "parallel"}
WAYS |= {"sliding_attention": "windowed"}


def linear_by_position(config, layers, all_but_last_of=0, field=""):
    """As the config lists them, or else linear except for the last of each period."""
    every = config.get(field) or all_but_last_of
    return _listed(config, layers, lambda index: (index + 1) % every == 0)


def parallel_layers(_config, layers):
    """Attention and a mixer side by side in every layer."""
    return ["parallel"] * layers


def _listed(config, layers, attends):
    """As the config lists the layers, or else linear except where `attends` is true."""
    types = config.get("layer_types") or config.get("layers_block_type")
    if types is None:
        return ["" if attends(index) else "linear" for index in range(layers)]
    return [word_of(kind, WAYS) for kind in types]


def minimax_mixed(config, layers):
    """Every second layer attends; the files of MiniMax-Text-01 have a flag per layer."""
    flags = config.get("attn_type_list")
    if flags:
        return ["" if attends else "linear" for attends in flags]
    return _listed(config, layers, lambda index: index % 2 == 0)


def olmo_mixed(config, layers):
    """Every fourth layer attends, or the last of fewer than four (OLMo Hybrid)."""
    return _listed(config, layers, lambda index: index % 4 == 3 or (layers < 4 and index == layers - 1))


def kimi_mixed(config, layers):
    """By the lists of full and linear layers, or else every fourth after the first attends."""
    numbered = config.get("linear_attn_config") or {}
    if config.get("layer_types") is None and "full_attn_layers" in numbered and "kda_layers" in numbered:
        return ["" if index + 1 in numbered["full_attn_layers"] else "linear" for index in range(layers)]
    return _listed(config, layers, lambda index: index > 0 and index % 4 == 0)


def all_linear(config, layers):
    """Only the layers that the config lists attend (Granite 4 hybrid)."""
    return _listed(config, layers, lambda _index: False)


def bamba_mixed(config, layers):
    """The layers in attn_layer_indices attend."""
    return ["" if index in (config.get("attn_layer_indices") or ()) else "linear" for index in range(layers)]


def jamba_mixed(config, layers):
    """One layer of each period attends."""
    period, offset = config["attn_layer_period"], config["attn_layer_offset"]
    return ["" if index % period == offset else "linear" for index in range(layers)]


def lfm2_mixed(config, layers):
    """The layers in full_attn_idxs attend; all of them without such a list."""
    full = config.get("full_attn_idxs")
    return _listed(config, layers, lambda index: full is None or index in full)


def lfm3_mixed(config, layers):
    """Of four layers one sees a window, one attends to all tokens, and two keep a state."""
    ways = {0: "windowed", 2: ""}
    usual = ["linear" if index == 0 else ways.get(index % 4, "linear") for index in range(layers)]
    return _listed(config, layers, lambda _index: False) if config.get("layer_types") else usual
