"""The stacks of a model: groups of identical blocks, each group with its own sizes."""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict
from typing import Any

from calc.evaluate import formulas_of
from calc.models import mixers

Sizes = dict[str, Any]  # size, trait or count -> value

# Sizes that a layer lacks without attention, without a mixer, or without routed experts.
ATTENTION = dict.fromkeys(
    (
        "heads",
        "kv_heads",
        "head_dim",
        "value_head_dim",
        "kv_latent_rank",
        "query_latent_rank",
        "rope_head_dim",
    ),
    0,
)
MIXER: Sizes = {"mixer": ""}
EXPERTS = dict.fromkeys(
    ("experts", "experts_per_token", "expert_ffn", "shared_ffn", "expert_latent"), 0
)
# The first word of a kind of layer is its network: the trait that names its block, and the sizes
# that it lacks.
NETWORKS: dict[str, tuple[str, Sizes]] = {
    "dense": ("block", EXPERTS),
    "moe": ("moe_block", {"ffn": 0}),
    "both": ("both_block", {}),  # a dense network beside routed experts
    "none": ("alone_block", {**EXPERTS, "ffn": 0}),
}
# The further words say what the layer attends to; without any it attends to all tokens.
WAYS: dict[str, Sizes] = {
    "windowed": MIXER,
    "shared": {**MIXER, "owns_keys": 0},  # reads the keys and values of a layer below
    "sparse": MIXER,  # only the largest gates of its network remain
    "crossed": {**MIXER, "caches": 0},  # attends only to an image
    "linear": ATTENTION,
    "parallel": {},  # attention and a mixer side by side
    "alone": {**ATTENTION, **MIXER},  # a network without attention or mixer
}


MIXERS = {kind.__name__: kind for kind in formulas_of(mixers)}


def mixer_sizes(sizes: Sizes) -> Sizes:
    """The widths of a layer's mixer; all 0 if it has none."""
    return asdict(MIXERS[sizes["mixer"]](sizes) if sizes["mixer"] else mixers.MixerSizes())


def layer_kind(kind: str, sizes: Sizes) -> Sizes:
    """The sizes that distinguish a kind of layer, such as dense, moe-windowed or none-linear."""
    network, *ways = kind.split("-")
    _, lacks = NETWORKS[network]
    of_kind: Sizes = {"stack": kind, "block": _block_of(network, ways, sizes), **lacks}
    if not ways:
        of_kind |= MIXER
    for way in ways:
        of_kind |= WAYS[way]
    if "windowed" not in ways:
        of_kind["window_tokens"] = math.inf
    return of_kind


def _block_of(network: str, ways: Sequence[str], sizes: Sizes) -> str:
    """The block of the catalog that a kind of layer has; "" if none was read off for it."""
    special = [way for way in ("shared", "sparse") if way in ways]
    if special:
        return sizes[f"{special[0]}_block"] if network == "dense" and len(special) == 1 else ""
    if "linear" in ways:
        return sizes["linear_moe_block" if network == "moe" else "linear_block"]
    trait, _ = NETWORKS[network]
    return sizes[trait]


def decoder_stacks(sizes: Sizes) -> Iterator[Sizes]:
    """One stack per kind of layer, with its own sizes."""
    alike = [{"kind": "moe" if sizes["experts"] else "dense", "layers": sizes["layers"]}]
    for layer_kind_entry in sizes["layer_kinds"] or alike:
        values = (
            {"value_head_dim": layer_kind_entry["head_dim"]}
            if "head_dim" in layer_kind_entry
            else {}
        )
        yield (
            layer_kind(layer_kind_entry["kind"], sizes)
            | values
            | {name: value for name, value in layer_kind_entry.items() if name != "kind"}
        )


def sided_stacks(sizes: Sizes) -> Iterator[Sizes]:
    """Blocks of an encoder and of a decoder that attends to it; some may have experts."""
    heads = sizes.get("encoder_heads", sizes["heads"])
    head_dim = sizes["head_dim"] * sizes["heads"] // heads
    side = "fixed" if sizes["kind"] == "audio" else "source"
    encoder = {
        "block": sizes["encoder_block"],
        "side": side,
        "ffn": sizes.get("encoder_ffn", sizes["ffn"]),
        "caches": 0,
    }
    encoder |= {
        "heads": heads,
        "kv_heads": heads,
        "head_dim": head_dim,
        "value_head_dim": head_dim,
        **sizes["encoder_sizes"],
    }
    for name, sizes_of_side in (("encoder", encoder), ("decoder", {"cross_attention": 1})):
        routed_layers = sizes[f"{name}_routed_layers"]
        yield {
            **sizes_of_side,
            **EXPERTS,
            "stack": name,
            "layers": sizes[f"{name}_layers"] - routed_layers,
        }
        yield {
            **sizes_of_side,
            "stack": f"{name}-moe",
            "block": sizes["moe_block"],
            "ffn": 0,
            "layers": routed_layers,
        }


def paired_stacks(sizes: Sizes) -> Iterator[Sizes]:
    """CLIP's vision side and its text side."""
    heads, hidden = sizes["text_heads"], sizes["text_hidden"]
    text = {"hidden": hidden, "heads": heads, "kv_heads": heads, "head_dim": hidden // heads}
    text |= {"ffn": sizes["text_ffn"], "value_head_dim": hidden // heads, "caches": 0}
    yield {"stack": "vision", "block": sizes["encoder_block"], "side": "fixed", "caches": 0}
    yield {**text, "stack": "text", "layers": sizes["text_layers"]}


def single_stack(sizes: Sizes) -> Iterator[Sizes]:
    """An encoder of text or of images; its layers may be of several kinds."""
    for stack in decoder_stacks(sizes):
        yield {**stack, "side": "fixed" if sizes["kind"] == "vision" else "tokens", "caches": 0}


def sound_stacks(sizes: Sizes) -> Iterator[Sizes]:
    """An encoder of sound: its convolutions as one block, and the blocks after them."""
    none = {**ATTENTION, **EXPERTS, **MIXER, "ffn": 0, "block_norms": 0, "layer_scales": 0}
    yield {
        **none,
        "stack": "convolutions",
        "block": sizes["stem_block"],
        "layers": 1,
        "hidden": sizes["waveform_width"],
        "caches": 0,
    }
    for stack in single_stack(sizes):
        yield {**stack, "waveform_width": 0}


STACKS: dict[str, Callable[[Sizes], Iterator[Sizes]]] = {
    "decoder": decoder_stacks,
    "encoder": single_stack,
    "vision": single_stack,
    "sound": sound_stacks,
    "encoder-decoder": sided_stacks,
    "audio": sided_stacks,
    "dual": paired_stacks,
}
WIDTHS = {
    "ffn_width": "ffn",
    "expert_ffn_width": "expert_ffn",
    "shared_ffn_width": "shared_ffn",
    "query_latent_width": "query_latent_rank",
}


def sizes_of_stacks(sizes: Sizes) -> Iterator[Sizes]:
    """Sizes of each stack that has layers: its own, and otherwise the model's."""
    for of_stack in STACKS[sizes["kind"]](sizes):
        stack = {"side": "tokens", **sizes, **of_stack}
        if stack["layers"]:
            yield (
                stack | {width: stack[size] for width, size in WIDTHS.items()} | mixer_sizes(stack)
            )
