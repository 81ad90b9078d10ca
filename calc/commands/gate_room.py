"""Checks of `gate` over all rows: budgets of teams, and quotas of the account."""

import argparse

import pandas as pd

from calc.catalogs.load import Catalogs
from calc.commands.teams import add_budgets, begin_day, read_budgets
from calc.plan.budgets import budget_use, with_gpu_hours
from calc.plan.plan_bill import plan_bill, ticked_rows
from calc.plan.quota_use import quota_use
from calc.say.budgets import exceeded_sentence, quota_sentence
from calc.scenarios.problems import TableError, quote_cell
from calc.scenarios.read import number


def add_room_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments on budgets and quotas."""
    add_budgets(parser)
    quota = "vCPUs (or blocks) that the account has of a quota, by its code; several times"
    parser.add_argument("--quota", metavar="CODE=NUMBER", action="append", default=[], help=quota)


def is_asked(options: argparse.Namespace) -> bool:
    """Return whether the options name budgets or quotas."""
    return bool(options.budgets or options.quota)


def broken_together(
    rows: pd.DataFrame, options: argparse.Namespace, catalogs: Catalogs
) -> list[str]:
    """A sentence for each budget and quota that the rows together exceed. Raises TableError."""
    bill_rows = ticked_rows(plan_bill(rows))
    sentences = []
    if options.budgets:
        bill = with_gpu_hours(bill_rows, catalogs)
        begins = begin_day(options.begin)
        uses = budget_use(bill, read_budgets(options.budgets), begins)
        sentences += [exceeded_sentence(use) for use in uses if use.is_exceeded or use.unpriced]
    if options.quota:
        quotas = _read_quotas(options.quota)
        sentences += [
            quota_sentence(use, quotas.get(use.code))
            for use in quota_use(bill_rows, catalogs)
            if use.needed > quotas.get(use.code, 0.0)  # a quota that is not named is 0
        ]
    return sentences


def _read_quotas(words: list[str]) -> dict[str, float]:
    """The number of each quota by its code. Raises TableError."""
    quotas = {}
    for word in words:
        code, _, text = word.partition("=")
        value = number(text)
        if not value >= 0:
            raise TableError(
                f"--quota '{quote_cell(word)}' is not a quota; write it as L-417A185B=192, the "
                f"vCPUs that the account has of it."
            )
        quotas[code.strip()] = value
    return quotas
