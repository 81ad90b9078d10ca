"""Why a plan of the wide search beats the present one: what each difference saves.

Each difference is undone alone and the plan is estimated again. The extra cost is what the
difference saves; a plan that no longer fits needs it.
"""

from typing import Any

import numpy as np
import pandas as pd

from calc.catalogs.load import Catalogs
from calc.cost.job import ends_of, job_of_rows
from calc.engine.pipeline import estimate
from calc.say.change import change_in_words, is_unchanged, quality
from calc.say.numbers import percent, span, three, usd
from calc.search.standing import offered, scenario_of

UNDONE_TOGETHER = (
    ("tuning", "precision"),
    *(
        (name,)
        for name in ("optimizer", "recompute", "loss", "kv_precision", "implementation", "offload")
    ),
    ("instance", "gpus", "sharding", "tensor_parallel", "pipeline_parallel", "context_parallel"),
    ("batch", "accumulation_steps"),
    ("region",),
    ("market",),
)
_TELLING_RATIO = 1.05  # a difference that changes cost or time by less is not named
_MOST_NAMED = 3
_SAME_RATIO = 0.005


def reasons(
    rows: pd.DataFrame, present: dict[str, Any], market: str, users: float, catalogs: Catalogs
) -> pd.DataFrame:
    """Rows of a wide search with cost and time over those of the present plan, and why."""
    if not len(rows):
        return rows.assign(usd_ratio=[], seconds_ratio=[], why=[], quality=[])
    before = pd.DataFrame([present])
    base = job_of_rows(before, [market], users, catalogs)
    fitting = bool(offered(present)[0]) and np.isfinite(base.usd[0])
    undone = _undone(rows, present, market, users, catalogs)
    usd_ratio, seconds_ratio = rows["usd"] / base.usd[0], rows["seconds"] / base.seconds[0]
    sentences, notes = [], []
    for number, row in enumerate(rows.to_dict("records")):
        differences = undone[undone["row"] == number]
        words = [
            _against(row, base, usd_ratio.iloc[number], seconds_ratio.iloc[number])
            if fitting
            else _instead(present)
        ]
        words += [_gpu_hour(row, present, base)] if fitting else []
        words += _drivers(differences, cheaper=not fitting or usd_ratio.iloc[number] < 1)
        sentences.append(" ".join(word[:1].upper() + word[1:] for word in words))
        changed = {
            name: value for change in differences["change"] for name, value in change.items()
        }
        lost = quality(changed, catalogs, row["work"] == "inference")[0].split("; ")
        notes.append("; ".join(note for note in lost if not is_unchanged(note, catalogs)))
    return rows.assign(
        usd_ratio=usd_ratio, seconds_ratio=seconds_ratio, why=sentences, quality=notes
    )


def _undone(
    rows: pd.DataFrame, present: dict[str, Any], market: str, users: float, catalogs: Catalogs
) -> pd.DataFrame:
    """A row for each plan and difference: cost and time without it, over the plan's."""
    tried = []
    for number, row in enumerate(rows.to_dict("records")):
        scenario = {**scenario_of(row), "market": row["market"]}
        for group in UNDONE_TOGETHER:
            before = {name: market if name == "market" else present[name] for name in group}
            change = {name: scenario[name] for name in group if scenario[name] != before[name]}
            if change and not ("instance" in change and not present["instance"]):
                tried.append({"row": number, "change": change, **scenario, **before})
    if not tried:
        return pd.DataFrame(
            columns=["row", "change", "words", "holds", "usd_ratio", "seconds_ratio"]
        )
    table = pd.DataFrame(tried)
    markets = table["market"].to_numpy(dtype=object)
    without = estimate(
        table.drop(columns=["row", "change", "market"]).astype(object), catalogs, solve=False
    )
    job = job_of_rows(without, markets, users, catalogs)
    plans = rows.iloc[table["row"].to_numpy()]
    return pd.DataFrame(
        {
            "row": table["row"],
            "change": table["change"],
            "words": [
                change_in_words(change, catalogs, rows["work"].iloc[0] == "inference")
                for change in table["change"]
            ],
            "holds": offered(without),
            "usd_ratio": job.usd / plans["usd"].to_numpy(dtype=float),
            "seconds_ratio": job.seconds / plans["seconds"].to_numpy(dtype=float),
        }
    )


def _against(row, base, usd_ratio, seconds_ratio):
    """62 % cheaper than the present plan ($245 in 4.46 h), and takes 1.3 × as long."""
    money = f"{percent(abs(1 - usd_ratio))} {'cheaper' if usd_ratio < 1 else 'dearer'} than"
    money = "costs as much as" if abs(usd_ratio - 1) < _SAME_RATIO else money
    money = f"{three(usd_ratio)} × the cost of" if usd_ratio > 2 else money
    pace = (
        f"{three(1 / seconds_ratio)} × as fast"
        if seconds_ratio < 1
        else f"takes {three(seconds_ratio)} × as long"
    )
    pace = "is as fast" if abs(seconds_ratio - 1) < _SAME_RATIO else pace
    before = usd(base.usd[0]) + (f" in {span(base.hours[0])}" if ends_of(row) else " a month")
    return f"{money} the present plan ({before}), and {pace}."


def _gpu_hour(row, present, base):
    """The price of a GPU-hour and the work done in it, against the present plan's."""
    price = row["usd_per_hour"] / (row["instances"] * row["gpus_paid"] / row["instances_needed"])
    was = base.usd_per_hour[0] / (
        base.instances[0] * present["gpus_paid"] / present["instances_needed"]
    )
    work = (
        row["tokens_per_second"]
        / row["gpus_paid"]
        * present["gpus_paid"]
        / present["tokens_per_second"]
    )
    cost = (
        f"costs {usd(price)} instead of {usd(was)}"
        if abs(price / was - 1) > _SAME_RATIO
        else "costs the same"
    )
    return (
        f"a GPU-hour {cost} and does "
        f"{f'{work:.2g} × the work' if abs(work - 1) > _SAME_RATIO else 'as much work'}."
    )


def _instead(present):
    if present["problem"]:
        return "the present plan cannot be rented as it is."
    if present["runs"] == "no":
        return "the present plan does not start: its software refuses it on this card."
    if present["fits"] == "no":
        return "the present plan does not fit."
    return (
        "the present plan has no price."
        if present["instance"]
        else "the present plan names no instance."
    )


def _drivers(differences, cheaper):
    """Which differences make the plan fit, and which save most cost or time."""
    column = "usd_ratio" if cheaper else "seconds_ratio"
    needed = list(differences["words"][~differences["holds"]])
    telling = differences[differences["holds"] & (differences[column] > _TELLING_RATIO)]
    telling = telling.sort_values(column, ascending=False).head(_MOST_NAMED)
    shares = [
        f"{words} ({percent(1 - 1 / ratio)})"
        for words, ratio in telling[["words", column]].to_numpy()
    ]
    drivers = [f"it fits only with {' and '.join(needed[:2])}."] if needed else []
    return drivers + (
        [f"what cuts {'costs' if cheaper else 'time'}: {', '.join(shares)}."] if shares else []
    )
