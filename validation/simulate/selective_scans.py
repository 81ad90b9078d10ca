"""Blocks with Mamba, as they run with the kernels of mamba-ssm and causal-conv1d: a state of 16, a step of 1 / 16 of the hidden width."""

import math

from validation.simulate import selective_scan_kernels
from validation.simulate.dense import real
from validation.simulate.families import SQUARE, Family, beside
from validation.simulate.mambas import KERNELS

STATE = 16
MADE_UP = beside(
    SQUARE,
    (
        dict(hidden=624, expand=1, rank=88, seq=2048),
        dict(hidden=560, expand=2, rank=56, seq=4096),
        dict(hidden=848, expand=3, rank=53, seq=2048),
    ),
)
SIZES = ("hidden", "state_values", "time_rank", "state_columns", "scan_states", "one", "state")
FIELDS = dict(hidden_size="hidden", expand="expand", time_step_rank="rank")


def of_mixer(case):
    """Sizes of Mamba; a scan keeps a state and a decay of each chunk of tokens."""
    inner, chunks = case["expand"] * case["hidden"], math.ceil(case["seq"] / selective_scan_kernels.CHUNK)
    states = 2 * inner * STATE * chunks / case["seq"]
    return dict(state_values=inner, time_rank=case["rank"], state_columns=STATE, scan_states=states, state=inner * STATE)


def mamba(id, config, head, **widths):
    """A block that is a mixer alone."""
    return Family(
        id, config, head, FIELDS, dict(state_size=STATE), paths=dict(blocks="backbone.layers"), types=(id,), kernels=KERNELS,
        attentions=("eager",), sizes=SIZES, widths=MADE_UP,
        further=of_mixer, real=widths,
    )  # fmt: skip


FAMILIES = (
    mamba("mamba", "MambaConfig", "MambaForCausalLM", **real(2560, 1, 1, 2560, 0, seq=2048), expand=2, rank=160),
    mamba("falcon_mamba", "FalconMambaConfig", "FalconMambaForCausalLM", **real(4096, 1, 1, 4096, 0, seq=2048), expand=2, rank=256),
)
