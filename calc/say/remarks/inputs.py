"""The sentences on cells and choices of a scenario that cannot be used, by their code."""

from calc.remarks import Sentences
from calc.scenarios.inputs import HUGE, Input
from calc.scenarios.problems import quote_cell

KINDS = {
    "count": "a whole number from 1",
    "number": "a number above 0",
    "amount": "a number from 0",
}


def allowed_values(column: Input) -> str:
    """Return the numbers that a column takes."""
    from_least = f"a number from {column.least:.10g}" if column.least else KINDS[column.kind]
    if column.most >= HUGE:
        return f"{from_least} up to {column.most:.0e}"
    if column.kind == "amount":
        return f"{from_least} to {column.most:.10g}"
    return f"{from_least}, at most {column.most:.10g}"


def _not_in_range(column: Input, cell: str) -> str:
    return f"{column.name} '{quote_cell(cell)}' is not {allowed_values(column)}; correct that cell."


def _not_a_choice(column: str, word: str, choices: tuple[str, ...]) -> str:
    return f"{column} '{quote_cell(word)}' is not known; use {' or '.join(choices)}."


def _not_in_catalog(column: str, word: str, similar_ids: str, first_ids: str) -> str:
    choice = f"choose one such as {similar_ids or first_ids}"
    if "/" in word and column.endswith("model"):
        choice = f"paste its config.json, or its address, huggingface.co/{quote_cell(word)}"
        choice += f"; models with a like name are {similar_ids}" if similar_ids else ""
    return f"{column} '{quote_cell(word)}' is not in the catalog; {choice}."


def _region_without_prices(region: str, similar_regions: str) -> str:
    return (
        f"region '{quote_cell(region)}' has no GPU prices in the catalog; choose one such as "
        f"{similar_regions or 'us-east-1'}."
    )


def _lora_targets_unknown(lora_targets: str) -> str:
    return (
        f"lora_targets '{quote_cell(lora_targets)}' is not known; use attention, all-linear, or "
        f"projections such as q+v."
    )


def _private_instance_unknown(instance: str, similar_types: str) -> str:
    return (
        f"private_prices names '{quote_cell(instance)}'; write an instance such as "
        f"{similar_types or 'p5.48xlarge'}=40.1."
    )


def _private_price_not_positive(instance: str, cell: str) -> str:
    return (
        f"private_prices has '{quote_cell(cell)}' for {instance}; write USD per hour above 0, as "
        f"{instance}=40.1."
    )


INPUTS: Sentences = {
    "no-model": "No model is named; write the id of a model of the catalog.",
    "earlier-problem": "{problem}",
    "not-in-range": _not_in_range,
    "not-a-choice": _not_a_choice,
    "not-in-catalog": _not_in_catalog,
    "region-without-prices": _region_without_prices,
    "lora-targets-unknown": _lora_targets_unknown,
    "private-instance-unknown": _private_instance_unknown,
    "private-price-not-positive": _private_price_not_positive,
    "another-card": (
        "instance {instance} has the card {gpu}, not {asked_gpu}; leave gpu empty or name that one."
    ),
    "precision-not-for-full": (
        "precision {precision} cannot train all weights; choose tuning lora, or train in "
        "bf16-mixed."
    ),
    "precision-not-for-lora": (
        "precision {precision} does not go with LoRA; use bf16, fp8, int8, nf4 or nf4-dq for the "
        "frozen base."
    ),
    "precision-not-for-serving": (
        "precision {precision} is a way to train; serve in bf16, fp8, int8 or a 4-bit format."
    ),
    "work-not-done": "implementation {implementation} does not do {work}; choose transformers.",
    "objective-in-serving": (
        "objective {objective} is a way to train; leave it empty where a model serves."
    ),
    "objective-not-in-software": (
        "{implementation} has no {objective} in the catalog; choose {software}."
    ),
    "other-model-unknown": "{column} names no model of the catalog; name one, or none.",
}
