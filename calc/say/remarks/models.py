"""The sentences on models and blocks whose memory is not known, by their code."""

from calc.remarks import Sentences
from calc.units import GIB


def _refused_model_bound(why: str, trains: bool, least_bytes: float) -> str:
    what = "Weights, gradients and optimizer state" if trains else "Weights"
    return f"{why} {what} take at least {least_bytes / GIB:,.1f} GiB on each GPU."


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
    "blocks-not-measured": _blocks_not_measured,
}
