"""Blocks with Mamba-2, as they run with the kernels of mamba-ssm and causal-conv1d, and the blocks beside them.

The state of a head is 128 wide in all cases (256 in Falcon-H1's), so that the states which a chunk of tokens begins with, and
the products of its tokens, are multiples of the mixer's widths; sequences are whole chunks.
"""

from dataclasses import dataclass, replace

from validation.simulate import mamba_kernels  # noqa: F401  (puts the kernels in the models)
from validation.simulate.dense import GROUPS, real
from validation.simulate.families import GROUPED, SQUARE, Family, beside

STATE = 128
MIXERS = (
    dict(mixer_heads=12, mixer_dim=40, groups=3, batch=3, seq=256),
    dict(mixer_heads=14, mixer_dim=24, groups=2, batch=2, seq=768),
    dict(mixer_heads=6, mixer_dim=72, groups=2, batch=5, seq=256),
)
EXPERTS = (
    dict(experts=28, experts_per_token=3, expert_ffn=464, shared_ffn=1168),
    dict(experts=16, experts_per_token=2, expert_ffn=328, shared_ffn=1232),
    dict(experts=20, experts_per_token=4, expert_ffn=712, shared_ffn=888),
)
MADE_UP = beside(GROUPED, MIXERS, EXPERTS)
OF_MIXER = ("hidden", "state_values", "state_heads", "state_group_keys", "projected", "convolved", "groups", "one")
KERNELS = "kernels of mamba-ssm 2.2 and causal-conv1d"
OF_ATTENTION = ("hidden", "query", "key", "heads", "kv_heads", "scores", "mask", "one")
OF_EXPERTS = ("hidden", "routed_hidden", "routed_ffn", "shared_ffn", "experts", "experts_per_token", "one")


def sizes_of_mixer(case):
    """Sizes of Mamba-2: its own widths, what its projections make and what is convolved."""
    inner, groups = case["mixer_heads"] * case["mixer_dim"], case["groups"] * case.get("state", STATE)
    return {
        "state_values": inner,
        "state_heads": case["mixer_heads"],
        "state_group_keys": groups,
        "projected": 2 * inner + 2 * groups + case["mixer_heads"],
        "convolved": inner + 2 * groups,
        "groups": case["groups"],
    }


def alike(widths):
    """The same with as many heads of keys and values as of queries."""
    return tuple(dict(one, kv_heads=one["heads"]) for one in widths)


@dataclass
class Hybrid(Family):
    """A family whose blocks are told apart by the kind of layer."""

    around: str = "sdpa"  # attention of the blocks around one that has none, which is the same whatever it is

    def case(self, widths, attention):
        return super().case(widths, attention if "heads" in self.sizes else self.around)

    def measure(self, case):
        of_mixer = sizes_of_mixer(case)
        routed = {
            name: case["experts_per_token"] * width
            for name, width in (("routed_hidden", case.get("expert_latent", case["hidden"])), ("routed_ffn", case["expert_ffn"]))
        }
        more = of_mixer | routed | {name: case.get(name, 0) for name in ("experts", "experts_per_token", "shared_ffn", "expert_latent")}
        self.further = lambda _case: more
        return super().measure(case)


NEMOTRON = dict(
    hidden_size="hidden", num_attention_heads="heads", num_key_value_heads="kv_heads", head_dim="head_dim", intermediate_size="ffn",
    mamba_num_heads="mixer_heads", mamba_head_dim="mixer_dim", n_groups="groups", n_routed_experts="experts",
    num_experts_per_tok="experts_per_token", moe_intermediate_size="expert_ffn", moe_shared_expert_intermediate_size="shared_ffn",
)  # fmt: skip
NANO = real(2688, 32, 2, 128, 21504, batch=2, seq=1664) | dict(
    mixer_heads=64, mixer_dim=64, groups=8, experts=128, experts_per_token=6, expert_ffn=1856, shared_ffn=3712
)


def nemotron(id, kind, sizes, attentions=("eager",)):
    """A block of Nemotron-H: one of a mixer, attention, experts and a network."""
    return Hybrid(
        id, "NemotronHConfig", "NemotronHForCausalLM", NEMOTRON,
        dict(layers_block_type=["full_attention", kind, "full_attention"], ssm_state_size=STATE, chunk_size=128, n_group=1, topk_group=1),
        types=("nemotron_h",), sizes=sizes, attentions=attentions, kernels=KERNELS * (sizes is OF_MIXER), widths=MADE_UP,
        equal=alike(MADE_UP), real=NANO,
    )  # fmt: skip


def nemotron_latent():
    """Nemotron 3 Super's experts, which work in a latent."""
    plain = nemotron("nemotron_h_experts_latent", "moe", (*OF_EXPERTS, "expert_latent"))
    latents = (dict(expert_latent=344), dict(expert_latent=232), dict(expert_latent=296))
    super_ = NANO | dict(hidden=4096, experts=512, experts_per_token=22, expert_ffn=2688, shared_ffn=5376, expert_latent=1024)
    return replace(
        plain, fields=NEMOTRON | dict(moe_latent_size="expert_latent"), widths=beside(MADE_UP, latents), real=super_,
        types=("nemotron_h_latent",),
    )  # fmt: skip


# Granite's mixer is a whole multiple of the hidden state, its heads are as wide together as that: another multiple in each case.
GRANITE_MADE_UP = beside(
    SQUARE,
    (
        dict(expand=1, mixer_heads=12, mixer_dim=64, groups=2, seq=256),
        dict(expand=2, mixer_heads=15, mixer_dim=96, groups=3, seq=768),
        dict(expand=3, mixer_heads=12, mixer_dim=90, groups=4, seq=256),
    ),
    EXPERTS,
)
GRANITE = dict(
    hidden_size="hidden", num_attention_heads="heads", num_key_value_heads="kv_heads", mamba_expand="expand", mamba_n_heads="mixer_heads",
    mamba_d_head="mixer_dim", mamba_n_groups="groups",
)  # fmt: skip
OF_GRANITE_EXPERTS = dict(
    intermediate_size="expert_ffn", num_local_experts="experts", num_experts_per_tok="experts_per_token",
    shared_intermediate_size="shared_ffn",
)  # fmt: skip
H_SMALL = real(4096, 32, 8, 128, 8192, batch=2, seq=1792) | dict(
    expand=2, mixer_heads=128, mixer_dim=64, groups=1, experts=72, experts_per_token=10, expert_ffn=768, shared_ffn=1536
)


def granite(id, kind, experts, attentions=("eager",)):
    """A block of Granite 4: a mixer or attention, then a network, which may be one of experts beside a shared one."""
    own = OF_ATTENTION if kind == "attention" else OF_MIXER
    own = tuple(name for name in own if name != "query")
    network = OF_EXPERTS if experts else ("ffn",)
    fields = GRANITE | (OF_GRANITE_EXPERTS if experts else dict(shared_intermediate_size="ffn"))
    fixed = dict(layer_types=["attention", kind, "attention"], mamba_d_state=STATE, mamba_chunk_size=256)
    return Hybrid(
        id, "GraniteMoeHybridConfig", "GraniteMoeHybridForCausalLM", fields, fixed | ({} if experts else dict(num_local_experts=0)),
        types=("granitemoehybrid",), kernels=KERNELS * (kind == "mamba"), attentions=attentions,
        sizes=(*own, *(name for name in network if name not in own)), widths=GRANITE_MADE_UP, equal=alike(GRANITE_MADE_UP), real=H_SMALL,
    )  # fmt: skip


WIDE_STATE = 256
FALCON = dict(
    hidden_size="hidden", num_attention_heads="heads", num_key_value_heads="kv_heads", head_dim="head_dim", intermediate_size="ffn",
    mamba_d_ssm="inner", mamba_n_heads="mixer_heads", mamba_d_head="mixer_dim", mamba_n_groups="groups",
)  # fmt: skip


def falcon_made(widths):
    """The same widths with heads of a wider state."""
    return tuple(dict(one, state=WIDE_STATE, inner=one["mixer_heads"] * one["mixer_dim"]) for one in widths)


H1_7B = real(3072, 12, 2, 128, 12288, batch=2, seq=1792) | dict(
    state=WIDE_STATE, inner=3072, mixer_heads=24, mixer_dim=128, groups=1, experts=0, experts_per_token=0, expert_ffn=0, shared_ffn=0
)
FALCON_H1 = Hybrid(
    "falcon_h1", "FalconH1Config", "FalconH1ForCausalLM", FALCON, dict(mamba_d_state=WIDE_STATE, mamba_chunk_size=256),
    types=("falcon_h1",), kernels=KERNELS, attentions=GROUPS, sizes=(*OF_ATTENTION[:-1], "ffn", *OF_MIXER[1:]),
    widths=falcon_made(MADE_UP), equal=falcon_made(alike(MADE_UP)), real=H1_7B,
)  # fmt: skip


def bamba(id, attends):
    """A block of Bamba: a mixer or attention, then a network."""
    own = OF_ATTENTION if attends else OF_MIXER
    fixed = dict(attn_layer_indices=[0, 1, 2] if attends else [0, 2], mamba_d_state=STATE, mamba_chunk_size=256)
    return Hybrid(
        id, "BambaConfig", "BambaForCausalLM", GRANITE | dict(intermediate_size="ffn"), fixed, types=("bamba",),
        kernels=KERNELS * (not attends), attentions=GROUPS if attends else ("eager",),
        sizes=(*(name for name in own if name != "query"), "ffn"), widths=GRANITE_MADE_UP, equal=alike(GRANITE_MADE_UP),
        real=H_SMALL | dict(ffn=14336, seq=2304),
    )  # fmt: skip


MAMBA2 = Hybrid(
    "mamba2", "Mamba2Config", "Mamba2ForCausalLM",
    dict(hidden_size="hidden", num_heads="mixer_heads", head_dim="mixer_dim", expand="expand", n_groups="groups"),
    dict(state_size=STATE, chunk_size=256), paths=dict(blocks="backbone.layers"), types=("mamba2",), kernels=KERNELS,
    attentions=("eager",), sizes=OF_MIXER, widths=GRANITE_MADE_UP, around="eager", real=H_SMALL | dict(groups=8),
)  # fmt: skip

FAMILIES = (
    FALCON_H1,
    MAMBA2,
    bamba("bamba", True),
    bamba("bamba_linear", False),
    granite("granite_hybrid_linear_moe", "mamba", True),
    granite("granite_hybrid_linear", "mamba", False),
    granite("granite_hybrid_moe", "attention", True, GROUPS),
    granite("granite_hybrid", "attention", False, GROUPS),
    nemotron("nemotron_h_mixer", "linear_attention", OF_MIXER),
    nemotron("nemotron_h_attention", "full_attention", OF_ATTENTION, GROUPS),
    nemotron("nemotron_h_experts", "moe", OF_EXPERTS),
    nemotron_latent(),
    nemotron("nemotron_h_network", "mlp", ("hidden", "ffn", "one")),
)
