"""Sizes that differ between layers whose kinds are the usual ones."""


def own_heads(config, values, kinds):
    """Each layer may have a different number of heads."""
    heads = config.get("num_attention_heads_per_layer") or [values["heads"]] * len(kinds)
    return [{"heads": count} if count != values["heads"] else {} for count in heads]


def normed_experts(_config, _values, kinds):
    """A norm follows the experts."""
    return [{"block_norms": 3} if kind.startswith("moe") else {} for kind in kinds]
