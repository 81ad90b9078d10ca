"""Gemma 4's blocks: heads of their own width in layers that attend to all, an input per layer, keys and values of a layer below.

Heads wider than 256 leave the flash kernel (`sdpa-wide`).
"""

from dataclasses import dataclass

from validation.simulate.dense import DROPOUT, EVERY, FIELDS, real
from validation.simulate.experts import MIXED, routed
from validation.simulate.families import GROUPED, VOCAB, WINDOW, Family, beside

WIDE = ("sdpa-wide", "sdpa-wide-multiquery")
SINGLE = (*EVERY, "sdpa-window-multiquery", *WIDE)  # a config of these has one head of keys and values
SIZES = ("hidden", "query", "key", "ffn", "heads", "kv_heads", "scores", "mask", "one")
INPUTS = ("layer_inputs", "per_layer")
OWN = FIELDS | dict(global_head_dim="head_dim", num_global_key_value_heads="kv_heads", hidden_size_per_layer_input="per_layer")
EXPERTS = dict(num_experts="experts", top_k_experts="experts_per_token", moe_intermediate_size="expert_ffn")
MADE_UP = beside(
    GROUPED,
    (
        dict(wide=272, per_layer=136, experts=28, experts_per_token=3, expert_ffn=464, shared_ffn=0),
        dict(wide=328, per_layer=184, experts=16, experts_per_token=2, expert_ffn=328, shared_ffn=0),
        dict(wide=296, per_layer=104, experts=20, experts_per_token=4, expert_ffn=712, shared_ffn=0),
    ),
)


@dataclass
class Gemma4(Family):
    """The last of all blocks attends to all tokens; where the measured one shares keys and values, the one before it makes them."""

    shares: bool = False

    def kinds(self):
        """One head of keys and values is told apart in 16 bits alone."""
        return [kind for kind in super().kinds() if kind[0] != "fp32" or not kind[1].endswith("multiquery")]

    def real_cases(self, number_format):
        return ("sdpa", "sdpa-window", "sdpa-wide") if number_format == "bf16" else ()

    def case(self, widths, attention):
        kind = "sliding_attention" if attention.startswith("sdpa-window") else "full_attention"
        own = dict(head_dim=widths["wide"]) if attention in WIDE else {}
        below = ["full_attention"] * 2 if self.shares and kind != "full_attention" else []
        types = [*below, kind, kind, "full_attention"]
        fields = dict(layer_types=types, num_hidden_layers=len(types), sliding_window=WINDOW, num_kv_shared_layers=2 * self.shares)
        return super().case(widths | own, attention) | dict(fields=fields)

    def stacks(self, model):
        return {name: blocks[-3:] for name, blocks in super().stacks(model).items()}


def gemma4(id, sizes, attentions=(*EVERY, "sdpa-wide"), widths=MADE_UP, fixed=None, fields=OWN, further=None, shares=False, **more):
    own = DROPOUT | dict(vocab_size_per_layer_input=VOCAB) | (fixed or {})
    return Gemma4(
        id, "Gemma4TextConfig", "Gemma4ForCausalLM", fields, own, sizes=sizes, attentions=attentions, widths=widths,
        equal=tuple(dict(one, kv_heads=one["heads"]) for one in widths), further=further or per_layer, shares=shares, **more,
    )  # fmt: skip


def per_layer(case):
    """The width of the input that each layer has of its own, and of those of all layers."""
    return dict(layer_inputs=case["per_layer"] * len(case["fields"]["layer_types"]), per_layer=case["per_layer"])


def without(widths):
    return tuple(dict(one, per_layer=0) for one in widths)


E4B = real(2560, 8, 2, 256, 10240) | dict(wide=512, per_layer=256)
FAMILIES = (
    gemma4(
        "gemma4", SIZES, widths=without(MADE_UP), fixed=dict(attention_k_eq_v=True), types=("gemma4_text",),
        real=real(5376, 32, 16, 256, 21504) | dict(wide=512, per_layer=0),
    ),
    gemma4(
        "gemma4_moe", (*SIZES, *(name for name in MIXED if name not in SIZES)), widths=without(MADE_UP), further=routed,
        fields=OWN | EXPERTS, fixed=dict(attention_k_eq_v=True, enable_moe_block=True), types=("gemma4_text",),
        real=real(2816, 16, 8, 256, 2112) | dict(wide=512, per_layer=0, experts=128, experts_per_token=8, expert_ffn=704, shared_ffn=0),
    ),
    gemma4("gemma4_per_layer", (*SIZES, *INPUTS), SINGLE, types=("gemma4_per_layer",), real=E4B),
    gemma4("gemma4_per_layer_shared", (*SIZES, *INPUTS), SINGLE, types=("gemma4_per_layer",), shares=True, real=E4B),
)  # fmt: skip
