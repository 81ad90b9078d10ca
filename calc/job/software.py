"""The software of a job, and what people do with it unasked."""

from collections.abc import Iterable, Mapping

from calc.catalogs.load import Catalogs
from calc.mappings import Cells
from calc.rules.support_rules import needs_pinned_build
from calc.scenarios.lookups import cells_by_id, row_numbers
from calc.scenarios.stack_numbers import kind_numbers

TRAINING = "training"
# From scratch beyond it: the published runs of dense models from 30B on and of most experts are
# Megatron's or torchtitan's (OLMo 2 32B, Llama 3 70B, Nemotron, Qwen3, DeepSeek V3).
# So are those that generate their answers, of NeMo-RL and verl (NeMo-RL's performance summaries,
# verl's recommended settings for Qwen3 30B and 235B), while TRL's are of a few billion.
LARGE_PARAMETERS = 30e9


def usual_software(
    work: str, model: str, catalogs: Catalogs, goal: str, generates_answers: bool
) -> str:
    """Return the software of a job that names none.

    It is vLLM if tokens are generated. For a model larger than what people train with transformers
    it is verl if training generates its answers, and Megatron if it trains from scratch. Otherwise
    it is transformers.
    """
    if work != TRAINING:
        return "vllm" if generates(model, catalogs) else "transformers"
    parameters = cells_by_id(catalogs, "models", "parameters")[model]
    if parameters > LARGE_PARAMETERS and generates(model, catalogs):
        if generates_answers:
            return "verl"
        if goal == "train":
            return "megatron"
    return "transformers"


def divides_matrices(software: str, catalogs: Catalogs) -> bool:
    """Return whether people train with tensor parallel in a software unasked."""
    return bool(cells_by_id(catalogs, "implementations", "usual_tensor_parallel")[software] > 0)


def divides_experts(
    columns: Cells, fixed: Mapping[str, list], software: list[str], catalogs: Catalogs
) -> bool:
    """Return whether a search tries to divide experts over GPUs if the job does not set it."""
    if columns["work"] != TRAINING or "expert_parallel" in fixed:
        return False
    experts = catalogs.stacks["experts"][catalogs.stacks["model"] == columns["model"]]
    divides = cells_by_id(catalogs, "implementations", "divides_experts")
    return bool((experts > 0).any()) and all(divides[name] > 0 for name in software)


def usual_loading(named: Iterable[str], software: str, catalogs: Catalogs) -> str:
    """Return the build for the machines that a job names, by id of an instance or a card.

    It is an older one if today's runs on none of them.
    """
    instances = cells_by_id(catalogs, "instances", "gpu")
    cards = {instances.get(name, name) for name in named}
    are_old = [needs_pinned_build(card, software, catalogs) for card in cards]
    return "pinned" if are_old and all(are_old) else "default"


def advised_software(software: str, catalogs: Catalogs) -> list[str]:
    """The other software that advice on a training compares with its own."""
    advice = cells_by_id(catalogs, "implementations", "advised")
    return [name for name, is_advised in advice.items() if is_advised > 0 and name != software]


def compiles_blocks(columns: Cells, software: list[str], catalogs: Catalogs) -> bool:
    """Return whether compiled blocks are tried by default.

    They are in training from scratch, where all batches have the same length.
    """
    compiles = cells_by_id(catalogs, "implementations", "compiles_blocks")
    from_scratch = columns["work"] == TRAINING and columns["goal"] == "train"
    return from_scratch and all(compiles[name] > 0 for name in software)


def generates(model: str, catalogs: Catalogs) -> bool:
    """Return whether a model answers a prompt token by token, as encoders do not."""
    return bool(kind_numbers(catalogs, "generates")[row_numbers(catalogs, "models")[model]] > 0)
