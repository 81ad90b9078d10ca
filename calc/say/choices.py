"""Words of Compare choices: the names of its choices, and the sentence that decides."""

from collections.abc import Sequence
from typing import Any

from calc.catalogs.load import Catalogs
from calc.cost.job import ends_of
from calc.evaluate import Row
from calc.mappings import Cells
from calc.say.change import loses_quality, quality
from calc.say.numbers import (
    about,
    amount_with_noun,
    as_sentence,
    is_missing,
    longer,
    more,
    percent,
    with_capital,
    with_noun,
)
from calc.say.place import market_phrase, place
from calc.say.speed import pace_seconds, per_unit
from calc.search.options import NEAREST
from calc.studies.choices import PURE, TIE_RATIO, Cell, Choice, cheapest_cell, costs_alike, is_plan

TITLES = {
    "precision-optimizer": "Precision and optimizer",
    "precision": "Frozen weights",
    "optimizer": "Optimizer",
    "weights-cache": "Weights and KV cache",
    "weights": "Weights",
    "gpus": "GPU count",
    "method": "Method",
    "layout": "Sharding and layout",
    "engine": "Serving engine",
    "replicas": "Layout and replicas",
    "batch": "Micro-batch",
    "speed": "Speed against cost",
    "load": "Load",
    "context": "Context",
}
LEAST_TITLES = {
    "hours": "Fastest",
    "gpu_hours": "Fewest GPU-hours",
    "memory_gib": "Least memory per GPU",
}
FASTER_RATIO = 0.1  # of the time, from which a choice at the same cost is named as faster
MARK, MARKET_MARK = "◇", "†"
METHODS = {"full": "Full", "lora": "LoRA", "qlora": "QLoRA"}
COUNTED = {"gpus": "GPU", "replicas": "replica"}
AMOUNTS = ("users", "requests_per_second", "sequence_tokens", "prompt_tokens")  # of work
PLURAL = ("gpus", *AMOUNTS)  # choices whose names are plural: 4 GPUs
FORMS = {
    "batch": "micro-batch {:,.0f}",
    "tensor_parallel": "tensor parallel {}",
    "sequence_tokens": "{:,.0f} tokens",
    "prompt_tokens": "prompts of {:,.0f} tokens",
}
CATALOGS = {
    "precision": "precisions",
    "kv_precision": "precisions",
    "optimizer": "optimizers",
    "sharding": "shardings",
    "implementation": "implementations",
}


def choice_name(choice: Choice, catalogs: Catalogs) -> str:
    """Return the name of a choice: bf16 mixed, 8 GPUs, tensor parallel 4."""
    name = ", ".join(_value_name(name, value, catalogs) for name, value in choice.sets)
    return f"pure {name}" if choice.is_pure else name


def quality_note(choice: Choice, work: str, catalogs: Catalogs) -> str:
    """Return the source's statement on how a choice changes the result; "" without a change."""
    sets = {
        name: value
        for name, value in choice.sets
        if not (_is_full_cache(name, value, catalogs) or _is_as_published(name, value, choice))
    }
    serves = work == "inference"
    return quality(sets, catalogs, serves)[0] if loses_quality(sets, catalogs, serves) else ""


def only_count(row: Row) -> str:
    """Return that a machine runs a job on one number of GPUs alone, and where others are."""
    return (
        f"On {row['instance'] or row['gpu']} this job runs on {with_noun(int(row['gpus']), 'GPU')} "
        f"alone. {TITLES['gpus']} under Compare choices has the best machine for each number."
    )


def machine_name(plan: Row) -> str:
    """Return the machines of a plan, with a mark if they are not On-Demand: 2 × p4d.24xlarge †."""
    mark = f" {MARKET_MARK}" if market_phrase(plan) else ""
    return f"{place(plan, names_market=False)}{mark}"


def mark_words(cells: Sequence[Cell], work: str, catalogs: Catalogs) -> str:
    """Return what the marks of choices and of machines mean; empty if none has one."""
    choices = {one for cell in cells for one in (cell.row, cell.column)}
    has_mark = any(quality_note(one, work, catalogs) for one in choices)
    phrases = dict.fromkeys(market_phrase(cell.plan) for cell in cells if cell.plan)
    markets = " or ".join(filter(None, phrases))
    meanings = []
    if has_mark:
        meanings.append(f"{MARK} Check the quality.")
    if markets:
        meanings.append(f"{MARKET_MARK} {with_capital(markets)}.")
    return " ".join(meanings)


def _is_as_published(name: str, value: Any, choice: Choice) -> bool:
    """Return whether a choice takes the weights in 16 bits and trains none of them in that."""
    return name == "precision" and value in PURE and not choice.is_pure


def _is_full_cache(name: str, value: Any, catalogs: Catalogs) -> bool:
    """Return whether a choice keeps the KV cache in 16 bits, as models are made for."""
    return name == "kv_precision" and catalogs.precisions["matrix_bytes_each"][value] >= 2


def _value_name(name: str, value: Any, catalogs: Catalogs) -> str:
    """The name of a value that is compared."""
    if name == "kv_precision":
        return f"{catalogs.precisions['name'].get(value, value)} cache"
    if name in CATALOGS:
        return str(getattr(catalogs, CATALOGS[name])["name"].get(value, value))
    if name == "method":
        return METHODS[value]
    if name == "users":
        return f"{with_noun(int(value), 'request')} in flight"
    if name == "requests_per_second":
        return f"{amount_with_noun(value, 'request', 4)} a second"
    if name in COUNTED:
        return with_noun(int(value), COUNTED[name])
    return FORMS[name].format(value)


def decision(
    cells: Sequence[Cell],
    job: Cells,
    plan: Cells,
    catalogs: Catalogs,
) -> str:
    """Return the result of a comparison: its cheapest plan against the present one."""
    best = cheapest_cell(cells)
    if best is None or best.plan is None:
        return "No choice has a plan with a price."
    if plan["answer"] == NEAREST:
        return _beside_nearest(best, plan, catalogs)
    if is_of_amounts(best):
        return _less_and_more(cells, job, plan, catalogs)
    saved_ratio = 1 - best.plan["usd"] / plan["usd"]
    if not saved_ratio > TIE_RATIO:
        alike = [one for one in cells if one.qualifies and one.plan and costs_alike(one.plan, best)]
        if len(alike) == 1 and _is_own(alike[0], job, plan):
            return f"The plan is the cheapest of these at {about(plan['usd'])}."
        least_usd = min(one.plan["usd"] for one in alike if one.plan)
        is_shown_less = least_usd < plan["usd"] and about(least_usd) != about(plan["usd"])
        over = f"over {percent(TIE_RATIO)} " if is_shown_less else ""
        same = f"No choice costs {over}less than the plan, {about(plan['usd'])}."
        return f"{same} {_fastest_of(alike, plan, catalogs)}".strip()
    cost = f"{_cost(best, catalogs)}, {percent(saved_ratio)} less than the plan"
    text = f"{cost}{_time_change(best.plan, plan)}{_tied_words(cells, best)}."
    if is_plan(best.column, job, plan):
        return text
    return f"{text} {_without_column_change(cells, job, plan, catalogs)}".strip()


def _tied_words(cells: Sequence[Cell], best: Cell) -> str:
    """Return how many other choices cost no more than the cheapest one, but for a tie."""
    tied = [one for one in cells if one.qualifies and one.plan and costs_alike(one.plan, best)]
    if len(tied) == 1:
        return ""
    verb = "ties" if len(tied) == 2 else "tie"
    return f"; {with_noun(len(tied) - 1, 'other choice')} {verb} within {percent(TIE_RATIO)}"


def is_of_amounts(cell: Cell) -> bool:
    """Return whether a cell is an amount of work, such as a load or a length."""
    return bool(cell.row.sets) and cell.row.sets[0][0] in AMOUNTS


def least_words(least: Cell, measure: str, value_text: str, catalogs: Catalogs) -> str:
    """Return which choice has the least of a measure: Fastest: bf16 mixed with SGD, 39 h."""
    name = cell_name(least, catalogs)
    return f"{LEAST_TITLES[measure]}: {name}, {value_text} on {place(least.plan or {})}."


def _less_and_more(cells: Sequence[Cell], job: Cells, plan: Cells, catalogs: Catalogs) -> str:
    """Return what the least and the largest amount of work cost beside that of the plan.

    Less work always costs less, so neither of them is the better choice.
    """
    others = [one for one in cells if one.qualifies and not _is_own(one, job, plan)]
    parts = [f"The plan costs {about(plan['usd'])}"]
    for one in (*others[:1], *others[1:][-1:]):
        assert one.plan is not None, "a cell that qualifies has a plan"
        ratio = one.plan["usd"] / plan["usd"]
        if abs(ratio - 1) <= TIE_RATIO:
            change = "no more"
        else:
            change = more(ratio) if ratio > 1 else f"{percent(1 - ratio)} less"
        parts.append(f"{_cost(one, catalogs)}, {change}")
    return f"{'. '.join(parts)}."


def _cost(cell: Cell, catalogs: Catalogs) -> str:
    """Return what a cell with a plan costs, and where: QLoRA on 1 × g6e.xlarge costs $34."""
    assert cell.plan is not None
    is_plural = bool(cell.row.sets) and cell.row.sets[0][0] in PLURAL and cell.row.sets[0][1] != 1
    verb = "cost" if is_plural else "costs"
    return f"{cell_name(cell, catalogs)} on {place(cell.plan)} {verb} {about(cell.plan['usd'])}"


def _is_own(cell: Cell, job: Cells, plan: Cells) -> bool:
    """Return whether a cell is that of the plan."""
    return is_plan(cell.row, job, plan) and is_plan(cell.column, job, plan)


def _beside_nearest(best: Cell, plan: Cells, catalogs: Catalogs) -> str:
    """Return which cell meets the limits that the plan exceeds, or that none does."""
    assert best.plan is not None, "the cheapest cell has a plan"
    if best.qualifies:
        return f"{_cost(best, catalogs)} and meets every limit, unlike the plan."
    if not best.plan["usd"] < (1 - TIE_RATIO) * plan["usd"]:
        return "No choice meets every limit, and none costs less than the plan."
    return f"No choice meets every limit. {_cost(best, catalogs)}, the lowest cost of these."


def cell_name(cell: Cell, catalogs: Catalogs) -> str:
    """Return the choices of a cell: Pure bf16 with Adafactor; a format's own name stays: bf16."""
    names = [choice_name(one, catalogs) for one in (cell.row, cell.column) if one.sets]
    return as_sentence(" with ".join(names))


def _fastest_of(alike: Sequence[Cell], plan: Cells, catalogs: Catalogs) -> str:
    """Return which of the cells at the plan's cost is the fastest; empty if none is faster."""
    paces = [(_pace_seconds(cell.plan, catalogs), cell) for cell in alike if cell.plan]
    paces = [(seconds, cell) for seconds, cell in paces if not is_missing(seconds)]
    if not paces:
        return ""
    seconds, fastest = min(paces, key=lambda pair: pair[0])
    saved_ratio = 1 - seconds / _pace_seconds(plan, catalogs)
    if not saved_ratio >= FASTER_RATIO:
        return ""
    unit = "" if ends_of(plan) else f" {per_unit(dict(plan), catalogs)}"
    return (
        f"{cell_name(fastest, catalogs)} takes {percent(saved_ratio)} less time{unit} at that cost."
    )


def _pace_seconds(plan: Cells, catalogs: Catalogs) -> float:
    """Return the time of a run, or the time of a service for the unit of its pace. [s]"""
    return float(plan["seconds"]) if ends_of(plan) else pace_seconds(dict(plan), catalogs)


def _time_change(other: Cells, plan: Cells) -> str:
    """Return how the time of a run changes, or nothing for a service."""
    if not ends_of(plan):
        return ""
    ratio = other["hours"] / plan["hours"]
    if ratio >= 1 + FASTER_RATIO:
        return f", and takes {longer(ratio)}"
    if ratio <= 1 - FASTER_RATIO:
        return f", and takes {percent(1 - ratio)} less time"
    return ""


def _without_column_change(
    cells: Sequence[Cell], job: Cells, plan: Cells, catalogs: Catalogs
) -> str:
    """Return what costs the least while the plan's own column is kept."""
    own = [cell for cell in cells if cell.column.sets and is_plan(cell.column, job, plan)]
    best = cheapest_cell(own)
    if best is None or best.plan is None:
        return ""
    saved_ratio = 1 - best.plan["usd"] / plan["usd"]
    column_name = choice_name(best.column, catalogs)
    if saved_ratio <= TIE_RATIO:
        return f"With {column_name} kept, nothing costs less than the plan."
    cost = f"{about(best.plan['usd'])}, {percent(saved_ratio)} less"
    return f"With {column_name} kept, {choice_name(best.row, catalogs)} costs {cost}."
