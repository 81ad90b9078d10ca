"""The answers that links were written with, estimated today."""

import pandas as pd

from calc.catalogs.load import Catalogs, add_models, with_readings
from calc.evaluate import Row
from calc.files.link import link
from calc.plan.drift import rows_now
from calc.plan.kept_answer import KeptAnswer
from calc.plan.plan_bill import first_month


def answers_now(queries: list[dict[str, list[str]]], catalogs: Catalogs) -> list[Row | None]:
    """The answer of each query estimated today, with its earlier figures as then_*.

    If a query keeps answers, usd and then_usd are the first month of their bill.
    """
    read = [link.parse(query, catalogs)[0] for query in queries]
    answers: list[Row | None] = [None] * len(read)
    plain = [
        place
        for place, choices in enumerate(read)
        if "then" in choices
        and "readings" not in choices
        and choices["then"].scenario["model"] in catalogs.models.index
    ]
    for place, row in zip(
        plain, rows_now([read[place]["then"] for place in plain], catalogs), strict=True
    ):
        answers[place] = row
    for place, choices in enumerate(read):
        if "then" in choices and answers[place] is None:
            answers[place] = _with_its_own(choices, catalogs)
    return [
        answer and answer | _bill_now(choices.get("kept", []), catalogs)
        for answer, choices in zip(answers, read, strict=True)
    ]


def _bill_now(answers: list[KeptAnswer], catalogs: Catalogs) -> dict[str, float]:
    """The bill of kept answers, today (usd) and by their records (then_usd); empty if unknown."""
    known_models = catalogs.models.index
    if not answers or any(answer.scenario["model"] not in known_models for answer in answers):
        return {}
    rows = pd.DataFrame(rows_now(answers, catalogs)).assign(
        job=[answer.job for answer in answers],
        have=[answer.have for answer in answers],
        in_bill=["yes" if answer.is_in_bill else "" for answer in answers],
    )
    bill = first_month(rows)
    if not len(bill):
        return {}
    changed = (bill["then_usd"].astype(float) / bill["usd"]).fillna(1.0)
    return {
        "usd": float(bill["month_usd"].sum()),
        "then_usd": float((bill["month_usd"] * changed).sum()),
    }


def _with_its_own(choices: Row, catalogs: Catalogs) -> Row | None:
    """The row of an answer whose model or runs are in its link; None where sizes are missing."""
    entries = {
        model: {"name": model, **entry} for model, entry in choices.get("custom_models", {}).items()
    }
    try:
        extended = add_models(catalogs, entries) if entries else catalogs
        return rows_now(
            [choices["then"]],
            with_readings(extended, choices["readings"]) if "readings" in choices else extended,
        )[0]
    except (ArithmeticError, LookupError, TypeError, ValueError):
        return None
