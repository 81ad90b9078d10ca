"""The wording of a row on cards and board: verdict, memory, answer, quality."""

import re

import pandas as pd

from calc.catalogs.load import Catalogs
from calc.charts.result_tables import COMPONENT_LABELS
from calc.columns import GLOSSARY
from calc.cost.markets import MARKETS, Market
from calc.evaluate import Row
from calc.plan.figures import figures
from calc.say.numbers import gib, is_missing, percent
from calc.say.place import cards, obtainable_words, place
from calc.say.verdict import RUNS, memory_of
from views.shared.texts import TEXTS
from views.shared.theme import FITS

NAMES = re.compile(rf"\b({'|'.join(name for name in GLOSSARY if '_' in name)})\b")
LOWER = re.compile(r"^[a-z](?=[a-z-]*(?:[ ,;]|$))")  # of a word that is no name
TIME_RESTS_ON = TEXTS["rows"]["time_rests_on"]
TOKEN_TIMES = TEXTS["rows"]["token_times"]


def on_screen(problem: str) -> str:
    """A sentence of the engine as the screen says it: fields by their labels."""
    return NAMES.sub(lambda name: GLOSSARY[name[1]].label, capital(problem))


def capital(text: str) -> str:
    """The text with a capital: Full recompute; a name that begins it stays: bf16, p5.48xlarge."""
    return LOWER.sub(lambda first: first[0].upper(), text)


def where(row: Row, catalogs: Catalogs, with_region: bool = False) -> str:
    """The instances that a row runs on, or its cards by name if it has none.

    For example 2 × p4d.24xlarge, or 8 × A100 SXM4 80GB. `with_region` adds the region.
    """
    if not row["instance"]:
        return cards(row, catalogs)
    return place(row, catalogs if with_region else None)


def obtainable(row: Row, catalogs: Catalogs, with_new_account: bool = True) -> str:
    """Return the quota and how hard to get: P quota 192 vCPUs · rarely available on demand.

    `with_new_account` adds what a new account has of the quota.
    """
    if not row["instance"] or not row["obtainable"]:
        return ""
    if _market(row).block_hours:
        return "Capacity block: paid up front, ends on a date"
    new_account = ", a new account has 0" if with_new_account else ""
    return (
        f"{quota_name(row, catalogs)} quota {_vcpus(row, catalogs):,.0f} vCPUs{new_account} · "
        f"{obtainable_words(row)}"
    )


def quota(row: Row, catalogs: Catalogs) -> str:
    """The vCPUs that a row takes of its quota: P 192; none of a capacity block."""
    if not row["instance"]:
        return ""
    if _market(row).block_hours:
        return "none, a block"
    return f"{quota_name(row, catalogs)} {_vcpus(row, catalogs):,.0f}"


def quota_name(row: Row, catalogs: Catalogs) -> str:
    """The quota of a row's instances on their market: P, G-spot; empty where none is used."""
    if not row["instance"] or _market(row).block_hours:
        return ""
    letter = catalogs.instances["family"][row["instance"]][:1].upper()
    return f"{letter}-spot" if _market(row).interrupted else letter


def _vcpus(row: Row, catalogs: Catalogs) -> float:
    return catalogs.instances["vcpus"][row["instance"]] * row["instances_needed"]


def _market(row: Row) -> Market:
    return MARKETS[row["market"] or "on-demand"]


def verdict(row: Row) -> str:
    """Return whether a row fits, with a mark: ✓ fits, uses 67 % of the card; ✗ 12.3 GiB over."""
    if row["problem"] and not row["fits"]:
        return "✗ refused"
    runs = RUNS.get(row.get("runs", ""), "")
    if runs:
        if row["runs"] == "no":
            return f"✗ {runs}"
        return f"? {runs}, uses {percent(figures(row).used_ratio)} of the card"
    if not row["fits"]:
        return "no card named"
    word, mark, *_ = FITS[row["fits"]]
    numbers = figures(row)
    if row["fits"] == "no" and numbers.over_gib > 0:
        return f"{mark} {gib(numbers.over_gib)} over"
    return f"{mark} {word}, uses {percent(numbers.used_ratio)} of the card"


def tank_alt(row: Row) -> str:
    """The picture of a row's memory in under 120 characters."""
    numbers = figures(row)
    largest = COMPONENT_LABELS.get(numbers.largest, "nothing").lower()
    return f"{memory_of(row)}; largest: {largest}, {percent(numbers.largest_ratio)}"


def time_rests_on(row: Row | pd.Series) -> str:
    """The basis of a row's times, and the reason for it."""
    reason = "" if _sets_utilization(row) else row["time_reason"]
    return f"{time_basis(row)}: {reason}" if reason else time_basis(row)


def time_basis(row: Row | pd.Series) -> str:
    """The basis of a row's times; your own utilization if you set one."""
    if _sets_utilization(row):
        return f"computed with {percent(row['utilization'])} of the card's rate, as you set it"
    return TIME_RESTS_ON.get(row["time_basis"], "")


def _sets_utilization(row: Row | pd.Series) -> bool:
    return row["work"] == "training" and not is_missing(row["utilization"])


def own_share(row: Row) -> str:
    """The private discount or tax of a row: 12 % less, 19 % more; empty without one."""
    ratio = row["paid_ratio"]
    if is_missing(ratio) or ratio == 1:
        return ""
    direction = "less" if ratio < 1 else "more"
    return f"{100 * abs(ratio - 1):.3g} % {direction}"


def own_terms(row: Row) -> str:
    """The terms of a cost that differs from list price: at your own price, 12 % less."""
    private = ""
    if row["market"] in ("", "on-demand") and row["private_usd_per_hour"] > 0:
        private = "at your own price"
    return "".join(f", {part}" for part in (private, own_share(row)) if part)
