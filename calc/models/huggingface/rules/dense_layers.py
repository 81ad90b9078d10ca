"""Which layers of a model with experts are dense: one boolean per layer.

Source: the model classes of transformers 5.23.
"""


def dense_by_position(config, layers, first=0, usual=None, listed=False):
    """Dense are those that mlp_layer_types lists, or else the first ones.

    `first` is a number of layers, or the field that holds it, with `usual` as its default.
    """
    kinds = config.get("mlp_layer_types") if listed else None
    if kinds:
        return [kind == "dense" for kind in kinds]
    if isinstance(first, str):
        first = config[first] if usual is None else config.get(first, usual)
    return [index < first for index in range(layers)]


def off_the_sparse_step(config, layers, usual=()):
    """All layers except every decoder_sparse_step-th, and those of mlp_only_layers."""
    listed, step = config.get("mlp_only_layers"), config["decoder_sparse_step"]
    dense = usual if listed is None else listed
    return [index in dense or (index + 1) % step != 0 for index in range(layers)]


def sparse_steps_but_first_two(config, layers):
    """As off_the_sparse_step, and the first two unless a list says otherwise (Flint)."""
    return off_the_sparse_step(config, layers, usual=(0, 1))


def not_listed_as_experts(config, layers):
    """All except moe_layers, or else except every interleave_moe_layer_step-th (Llama 4)."""
    step = config["interleave_moe_layer_step"]
    sparse = config.get("moe_layers")
    sparse = range(step - 1, layers, step) if sparse is None else sparse
    return [index not in sparse for index in range(layers)]


def outside_the_expert_range(config, layers):
    """All except every moe_layer_interval-th between a first and a last layer (ERNIE 4.5)."""
    start, end, step = (config[f"moe_layer_{name}"] for name in ("start_index", "end_index", "interval"))
    last = layers - 1 if end == -1 else end
    return [(index + 1) % step != 0 or not start <= index <= last for index in range(layers)]


def off_the_expert_period(config, layers):
    """All except one layer of each period (Jamba)."""
    period, offset = config["expert_layer_period"], config["expert_layer_offset"]
    return [index % period != offset for index in range(layers)]


def flagged_or_listed(config, layers):
    """Those without a flag in moe_layer_freq, or else as mlp_layer_types lists (MiniMax M3)."""
    flags = config.get("moe_layer_freq")
    return [not routed for routed in flags] if isinstance(flags, list) else dense_by_position(config, layers, listed=True)
