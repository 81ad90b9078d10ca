"""LFM2's blocks: attention, or a convolution of three tokens between two gates, each before a network or experts.

The convolution is that of PyTorch, which transformers runs without causal-conv1d.
"""

from dataclasses import dataclass

from validation.simulate.dense import BARE, GROUPED_SIZES, GROUPS, real
from validation.simulate.experts import MIXED, routed
from validation.simulate.families import Family
from validation.simulate.later import SQUARE_EXPERTS

KERNEL = 3
FIELDS = BARE | dict(num_key_value_heads="kv_heads")
OF_EXPERTS = dict(num_experts="experts", num_experts_per_tok="experts_per_token", moe_intermediate_size="expert_ffn")
NETWORK, EXPERTS = ("hidden", "ffn"), ("hidden", "routed_hidden", "routed_ffn", "experts", "experts_per_token")
LFM2 = real(2048, 32, 8, 64, 8192)
LFM2_MOE = real(2048, 32, 8, 64, 7168) | dict(experts=32, experts_per_token=4, expert_ffn=1792, shared_ffn=0)


@dataclass
class Convolution(Family):
    """A block without attention, the same whatever that of the blocks around it."""

    def case(self, widths, attention):
        return super().case(widths, "sdpa")


def padded(case):
    """PyTorch's convolution makes a few tokens more than it is given."""
    return routed(case) | dict(padded_hidden=case["hidden"] * (case["seq"] + KERNEL - 1) / case["seq"])


def lfm2(id, kind, experts):
    """A block of LFM2; those with experts are made by a config of their own."""
    version, convolves = "Lfm2Moe" if experts else "Lfm2", kind == "conv"
    fixed = dict(layer_types=["full_attention", kind, "full_attention"], conv_L_cache=KERNEL)
    fixed |= dict(num_dense_layers=0) if experts else dict(block_auto_adjust_ff_dim=False)
    network = EXPERTS if experts else NETWORK
    own = (*network, "padded_hidden", "one") if convolves else MIXED if experts else GROUPED_SIZES
    return (Convolution if convolves else Family)(
        id, f"{version}Config", f"{version}ForCausalLM", FIELDS | (OF_EXPERTS if experts else {}), fixed,
        types=("lfm2_moe",) if experts else ("lfm2", "lfm2_moe"), attentions=("eager",) if convolves else GROUPS,
        sizes=tuple(name for name in own if name != "query"), widths=SQUARE_EXPERTS,
        equal=tuple(dict(one, kv_heads=one["heads"]) for one in SQUARE_EXPERTS), further=padded, real=LFM2_MOE if experts else LFM2 | dict(
            experts=0, experts_per_token=0, expert_ffn=0, shared_ffn=0),
    )  # fmt: skip


FAMILIES = (
    lfm2("lfm2", "full_attention", False),
    lfm2("lfm2_linear", "conv", False),
    lfm2("lfm2_moe", "full_attention", True),
    lfm2("lfm2_linear_moe", "conv", True),
)
