"""Questions that people ask a search, each as a scenario with its sets and limits."""

from typing import Any

from calc.catalogs.load import Catalogs
from calc.search.limits import usual_limits
from calc.search.space import own_first, usual
from calc.units import WEEK_HOURS

LORA_FORMATS = ("bf16", "int8", "nf4-dq")


def lora_within_a_week(scenario: dict[str, Any], catalogs: Catalogs) -> tuple[dict[str, Any], dict[str, list], dict[str, float]]:
    """Scenario, sets and limits of the question: adapters beside frozen weights, done in seven days."""
    asked = scenario | {"work": "training", "tuning": "lora"}
    if not catalogs.precisions["adapts"].get(asked["precision"], False) or asked["precision"] == "bf16-mixed":
        asked["precision"] = "bf16"
    sets = usual(asked)
    sets |= {"precision": own_first(list(LORA_FORMATS), asked["precision"]), "optimizer": [asked["optimizer"]]}
    return asked, sets, usual_limits(asked, catalogs) | {"hours": WEEK_HOURS}


def serving_users(scenario: dict[str, Any], catalogs: Catalogs, users: float) -> tuple[dict[str, Any], dict[str, list], dict[str, float]]:
    """Scenario, sets and limits of the question: so many sequences at the same time, all month."""
    asked = scenario | {"work": "inference", "implementation": "vllm", "batch": int(users)}
    if not catalogs.precisions["serves"].get(asked["precision"], False):
        asked["precision"] = "bf16"
    sets = usual(asked)
    return asked, sets | {"implementation": ["vllm"]}, usual_limits(asked, catalogs) | {"users": int(users)}
