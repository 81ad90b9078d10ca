"""The answers that links were written with, estimated today."""

from typing import Any

from calc.catalogs.load import Catalogs, add_models
from calc.files.link import link
from calc.plan.aged import rows_now


def answers_now(queries: list[dict[str, list[str]]], catalogs: Catalogs) -> list[dict[str, Any] | None]:
    """The answer of each query estimated today, with its earlier figures as then_*."""
    read = [link.parse(query, catalogs)[0] for query in queries]
    answers: list[dict[str, Any] | None] = [None] * len(read)
    plain = [
        place for place, choices in enumerate(read) if "then" in choices and choices["then"]["scenario"]["model"] in catalogs.models.index
    ]
    for place, row in zip(plain, rows_now([read[place]["then"] for place in plain], catalogs), strict=True):
        answers[place] = row
    for place, choices in enumerate(read):
        if "then" in choices and answers[place] is None:
            answers[place] = _with_own_models(choices, catalogs)
    return answers


def _with_own_models(choices: dict[str, Any], catalogs: Catalogs) -> dict[str, Any] | None:
    """The row of an answer whose model is in its link; None where sizes are missing."""
    entries = {model: {"name": model, **entry} for model, entry in choices.get("custom_models", {}).items()}
    try:
        return rows_now([choices["then"]], add_models(catalogs, entries))[0]
    except (ArithmeticError, LookupError, TypeError, ValueError):
        return None
