"""Sentences about the share of budgets that plans use."""

from calc.plan.budgets import Budget, Use
from calc.plan.quota_use import QuotaUse
from calc.say.numbers import billed_usd, day_text, percent, with_noun


def budget_name(budget: Budget) -> str:
    """Return a budget in words: nlp-q4 (team nlp, project search, to 31 December 2026)."""
    whose = [
        f"{word} {name}"
        for word, name in (("team", budget.team), ("project", budget.project))
        if name
    ]
    return f"{budget.id} ({', '.join([*(whose or ['all teams']), f'to {day_text(budget.ends)}'])})"


def use_sentence(use: Use) -> str:
    """Return what plans use of a budget, and what is left of it."""
    parts = [*_money(use), *_hours(use)]
    notes = [f"{with_noun(use.unpriced, 'plan')} without a price not counted"] * bool(use.unpriced)
    return f"{budget_name(use.budget)}: {'; '.join([*parts, *notes])}."


def _money(use: Use) -> list[str]:
    if use.budget.usd is None:
        return []
    share = percent(use.used_usd / use.budget.usd)
    of = f"{billed_usd(use.used_usd)} of {billed_usd(use.budget.usd)} used ({share})"
    return [f"{of}, {_remaining(use.left_usd, billed_usd(abs(use.left_usd)))}"]


def _hours(use: Use) -> list[str]:
    if use.budget.gpu_hours is None:
        return []
    of = f"{use.used_gpu_hours:,.0f} of {use.budget.gpu_hours:,.0f} GPU-hours used"
    return [f"{of}, {_remaining(use.left_gpu_hours, f'{abs(use.left_gpu_hours):,.0f}')}"]


def _remaining(value: float, words: str) -> str:
    return f"{words} left" if value >= 0 else f"{words} too much"


def quota_sentence(use: QuotaUse, allowed: float | None) -> str:
    """Return how far plans exceed the account's quota."""
    has = "not said" if allowed is None else f"{allowed:,.0f}"
    code = f" ({use.code})" if use.code else ""
    return (
        f"quota {use.name}{code} in {use.region}: {use.needed:,.0f} {use.counts} needed at once, "
        f"allowed {has}."
    )


def exceeded_sentence(use: Use) -> str:
    """The sentence of a check that a budget does not pass."""
    return f"budget {use_sentence(use)}"
