"""Gemma 4's blocks: heads of their own width in layers that attend to all, an input per layer, keys and values of a layer below.

Heads wider than 256 leave the flash kernel (`sdpa-wide`). Gemma 3n's have four residual streams (AltUp) and a path of low
rank (Laurel) besides; in its first layers few of a network's inner values stay (sparse).
"""

from dataclasses import dataclass

import transformers.models.gemma3n.modeling_gemma3n as gemma3n_code

from validation.simulate.dense import DROPOUT, EVERY, FIELDS, real
from validation.simulate.device import torch
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


STREAMS, RANK = 4, 64
OF_STREAMS = ("rank", "coefficients")


@dataclass
class Gemma3n(Gemma4):
    """Streams and rank are as published in all cases."""

    sparsity: float = 0.0

    def real_cases(self, number_format):
        return ("sdpa", "sdpa-window") if number_format == "bf16" else ()

    def case(self, widths, attention):
        own = super().case(widths, attention)
        return own | dict(fields=own["fields"] | dict(activation_sparsity_pattern=[self.sparsity] * own["fields"]["num_hidden_layers"]))


def gemma3n(id, **more):
    own = DROPOUT | dict(vocab_size_per_layer_input=VOCAB, altup_num_inputs=STREAMS, laurel_rank=RANK)
    return Gemma3n(
        id, "Gemma3nTextConfig", "Gemma3nForCausalLM", FIELDS | dict(hidden_size_per_layer_input="per_layer"), own,
        sizes=(*SIZES, *INPUTS, *OF_STREAMS), attentions=EVERY, widths=MADE_UP, types=("gemma3n_text",),
        equal=tuple(dict(one, kv_heads=one["heads"]) for one in MADE_UP), further=streams,
        real=real(2048, 8, 2, 256, 16384) | dict(wide=256, per_layer=256), **more,
    )  # fmt: skip


def largest_gates(self, gates):
    """Gemma3nTextMLP._gaussian_topk; its cutoff made of a Python number would be a tensor of a real device."""
    deviations = torch.full((), 1.64, dtype=gates.dtype, device=gates.device)
    cutoff = torch.mean(gates, dim=-1, keepdim=True) + torch.std(gates, dim=-1, keepdim=True, unbiased=False) * deviations
    return torch.nn.functional.relu(gates - cutoff)


gemma3n_code.Gemma3nTextMLP._gaussian_topk = largest_gates


def streams(case):
    """What the low rank and the streams' coefficients add, per token."""
    return per_layer(case) | dict(rank=RANK, coefficients=STREAMS**2)


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
    gemma3n("gemma3n"),
    gemma3n("gemma3n_sparse", sparsity=0.95),
    gemma3n("gemma3n_shared", shares=True),
)  # fmt: skip
