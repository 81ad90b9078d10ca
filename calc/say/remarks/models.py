"""The sentences on models and blocks whose memory is not known, by their code."""

from calc.remarks import Sentences
from calc.units import GIB


def _refused_model_bound(why: str, trains: bool, least_bytes: float) -> str:
    what = "Weights, gradients and optimizer state" if trains else "Weights"
    return f"{why} {what} take at least {least_bytes / GIB:,.1f} GiB on each GPU."


def _parts_left_out(parts: str, parameters: float, share: float | None, takes_images: bool) -> str:
    size = "whose parameters are not counted"
    if share is not None:
        size = f"{parameters:,.0f} parameters, {share:.1%} of all"
    cure = " images_per_sequence counts it." if takes_images else ""
    return f"Left out: {parts}, {size}.{cure}"


def _blocks_not_measured(
    kind: str, precision: str, attention: str, recompute: str, adapts: bool
) -> str:
    lora = " with LoRA" if adapts else ""
    return (
        f"Blocks of kind {kind} were not measured with precision {precision}, attention "
        f"{attention}, recompute {recompute}{lora}; choose another precision, attention or "
        f"recompute."
    )


MODELS: Sentences = {
    "refused-model": "{why}",
    "refused-model-bound": _refused_model_bound,
    "parts-left-out": _parts_left_out,
    "tower-not-held": (
        "In transformers what its vision tower keeps and needs while it runs is not held; its "
        "weights and their states are."
    ),
    "blocks-not-measured": _blocks_not_measured,
}
