"""Which layers see only a window: one boolean per layer.

Source: the model classes of transformers 5.23.
"""


def windowed_by_position(config, layers, all_but_last_of=0, all_but_first_of=0, starting_at="", field=""):
    """All except the last, or the first, layer of each period; or all from one layer on.

    `field` names the field with the length of the period, `starting_at` the field with the first layer.
    """
    if starting_at:
        return [index >= config[starting_at] for index in range(layers)]
    every = config.get(field) or all_but_last_of or all_but_first_of
    full = 0 if all_but_first_of else every - 1
    return [index % every != full for index in range(layers)]


def no_layers(_config, layers):
    """Only the layers that layer_types lists."""
    return [False] * layers


def even_first_layers(config, layers):
    """Every second of the first max_window_layers (Qwen 2 MoE)."""
    return [index % 2 == 0 and index < config["max_window_layers"] for index in range(layers)]


def five_of_six_but_the_last(config, layers):
    """Five of six layers, and never the last (Beam)."""
    of_six = windowed_by_position(config, layers, 6, field="sliding_window_pattern")
    return [windowed and index + 1 < layers for index, windowed in enumerate(of_six)]


def flint_windows(_config, layers):
    """Three of four layers, but not the first two nor the last (Flint)."""
    return [1 < index < layers - 1 and index % 4 != 1 for index in range(layers)]


def cohere2_moe_windows(config, layers):
    """The dense layers come first and have a different period (Cohere 2 MoE)."""
    first = min(config.get("first_k_dense_replace") or 0, layers)
    every = config["prefix_dense_sliding_window_pattern"]
    after = windowed_by_position(config, layers - first, 4, field="sliding_window_pattern")
    return [(index + 1) % every != 0 for index in range(first)] + after


def rotated_layers(config, layers):
    """The layers with rotary positions, which attend to chunks (Llama 4)."""
    interval = config["no_rope_layer_interval"]
    rotated = config.get("no_rope_layers") or [(index + 1) % interval != 0 for index in range(layers)]
    return [bool(flag) for flag in rotated]


def unrotated_layers(config, layers):
    """The layers without rotary positions (SmolLM 3)."""
    return [not rotated for rotated in rotated_layers(config, layers)]
