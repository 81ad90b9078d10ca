"""The basis of a memory figure in words: its ground, and the extrapolated axis."""

import numpy as np

from calc.memory import memory_basis

GROUNDS = {
    "simulated": "simulated: storage by storage",
    "simulated-here": "simulated here: the blocks of its class, read off on this machine",
    "measured-software": "measured nearby: published runs of this software",
    "measured-quantized-weights": "measured nearby: published runs of quantized weights",
    "derived-software": "derived from source: this software",
    "derived-compiled-blocks": "derived from source: compiled blocks",
    "derived-8-bit-products": "derived from source: 8-bit products",
    "derived-divided-master-copy": "derived from source: a divided master copy",
    "derived-trained-experts": "derived from source: trained experts",
    "derived-kind-of-layer": "derived from source: this kind of layer",
    "derived-tensor-beside-shards": "derived from source: tensor parallel beside sharding",
    "derived-context-parallel": "derived from source: context parallel",
    "derived-expert-parallel": "derived from source: expert parallel",
    "derived-pipeline-stages": "derived from source: pipeline stages",
    "derived-offload": "derived from source: CPU offload",
    "derived-modules-trained-whole": "derived from source: modules trained whole",
    "derived-vision-tower": "derived from source: a vision tower",
    "extrapolated-blocks": "extrapolated: blocks of this kind",
    "extrapolated-type": "extrapolated: a type not covered, by its sizes",
    "lower-bound": "lower bound: parts of the model left out",
}
AXES = {
    "sequence-tokens": "its tokens per sequence",
    "concurrent-sequences": "its concurrent sequences",
    "gpus": "its GPUs",
    "tensor-parallel": "its tensor parallel degree",
    "pipeline-stages": "its pipeline stages",
}


def _basis_text(ground: str, axis: str) -> str:
    """Return the words of a ground and an axis; the axis may be empty."""
    if not axis:
        return GROUNDS[ground]
    return f"{GROUNDS[ground]}; extrapolated in {AXES[axis]}, the range doubled"


# By the number of the column memory_basis.
BASES = np.array(
    [_basis_text(ground, axis) for ground in memory_basis.GROUNDS for axis in memory_basis.AXES],
    dtype=object,
)
