"""The activation function that a config names, as the simulated blocks tell them apart.

One that is one kernel saves its input alone; others are composed of simple operations that each save something
(transformers 5.23, activations.py).
"""

from collections.abc import Collection

ONE_KERNEL = {"gelu", "gelu_pytorch_tanh", "silu", "swish", "mish", "sigmoid", "tanh"}
LIKE = {"relu": "gelu", "gelu_fast": "gelu_new", "gelu_new": "gelu"}  # the next where a block was not simulated with one


def activation_of(named: str, block: str, usual: str, blocks: Collection[str]) -> str:
    """The activation that stands for the named one: one whose block was simulated."""
    wanted = "gelu" if named in ONE_KERNEL else named if named in LIKE else "gelu_new"
    while wanted != usual and f"{block}-{wanted}" not in blocks:
        if wanted not in LIKE:
            return usual
        wanted = LIKE[wanted]
    return wanted
