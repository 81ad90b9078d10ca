"""The words of the comparisons."""

import pandas as pd

from calc.catalogs.load import Catalogs
from calc.cost.job import ends_of
from calc.evaluate import Row
from calc.plan.figures import figures
from calc.say.numbers import (
    about,
    count,
    gib,
    gib_digits,
    gib_of,
    is_missing,
    span,
    three_digits,
    usd,
)
from calc.say.paid import time_of_cost
from calc.say.place import place
from calc.say.problem import problem_text
from calc.say.setting import name_of
from calc.say.speed import service_pace
from calc.studies.guide import Leaf
from views.charts.guide_tree import Branch
from views.shared.markdown import plain
from views.shared.theme import FITS

NOTHING_COMPARED = "Nothing of this kind can be estimated for this job."
LINES = {"tensor": "tensor ≤ 8", "pipeline": "pipeline ≤ 8", "selective-ops": "per operator"}
MARKS = "Ringed: the plan. Hollow: does not fit."
TITLES = {"precision": "Memory per GPU by precision", "optimizer": "Memory per GPU by optimizer"}
NOTHING = (
    "There is no estimate to start from yet: choose a model and a way to run it on the Plan page."
)
FORMATS = ("fp32", "fp16", "bf16", "fp8", "int8", "nf4-dq")
TASK_HELP = (
    "Concurrent sequences × tokens of each, prompt and answer; plain serving without an engine's "
    "pool."
)
METHODS = {"full": "Full", "lora": "LoRA, 16 bits frozen", "qlora": "QLoRA, 4 bits frozen"}
# Question of the guide -> the machines that it asks about.
PLACES = {
    "gpus": "one GPU",
    "instances_most": "one instance",
    "several": "two or more instances",
}
SENT = {
    "DDP": "gradients, all-reduced once a step",
    "ZeRO 1": "gradients scattered once a step, updated weights gathered",
    "ZeRO 2": "gradients scattered in every micro-batch, updated weights gathered once a step",
    "ZeRO 3": "weights gathered twice and gradients scattered in every micro-batch",
    "tensor": (
        "two all-reduces of each block's output forward and two backward, in every micro-batch"
    ),
    "pipeline": "a stage's output to the next and its gradient back, in every micro-batch",
}
SENT_ALT = "What one GPU sends in a step by strategy and number of GPUs"


def title(name: str, row: Row) -> str:
    """Return what varies, and on what card."""
    return f"{TITLES[name]}, on {row['instance'] or row['gpu'] or 'any card'}"


def values(row: Row, catalogs: Catalogs) -> str:
    """Return the figures beside a name: 61.2 GiB ✓ · $245 in 4.5 h; no cost of what cannot run."""
    mark = f" {FITS[row['fits']][1]}" if row["fits"] else ""
    memory = f"{three_digits(figures(row).memory_gib)} GiB{mark}"
    if row.get("runs") == "no":
        return f"{memory} · does not run here"
    if is_missing(row["usd"]) or row["fits"] == "no":
        return memory
    if ends_of(row):
        return f"{memory} · {about(row['usd'])} in {span(row['hours'])}"
    return f"{memory} · {about(row['usd'])} a month · {service_pace(row, catalogs)}"


def card(row: Row) -> str:
    """Return the name of the rule at the card's memory: card 79.6."""
    return f"card {three_digits(figures(row).card_gib)}"


def gpus_caption(row: Row) -> str:
    """Return what stays the same along the lines over GPUs."""
    work = (
        "every step keeps its tokens"
        if row["work"] == "training"
        else "the same requests in flight, shared by the replicas"
    )
    work = (
        "as many concurrent sequences on each replica"
        if row["work"] == "inference" and ends_of(row)
        else work
    )
    return (
        f"The same work on 1, 2, 4 … GPUs of {row['instance'] or row['gpu']}: {work}. Whole "
        f"instances are paid. {MARKS}"
    )


def lines_alt(name: str, rows: pd.DataFrame, catalogs: Catalogs) -> str:
    """The takeaway of a chart of lines."""
    fits = rows[rows["fits"].isin(["yes", "tight"])]
    if fits.empty:
        return "Nothing shown fits"
    column = {"memory": "needed_bytes", "money": "usd", "time": "seconds"}[name]
    best = fits.loc[fits[column].idxmin()] if fits[column].notna().any() else fits.iloc[0]
    least = {
        "memory": f"{three_digits(figures(best).memory_gib)} GiB per GPU",
        "money": about(best["usd"]),
        "time": span(best["hours"]) if ends_of(best) else service_pace(best.to_dict(), catalogs),
    }[name]
    return (
        f"Fits from {fits['gpus'].min():.0f} GPUs; least {name} {least} on {best['gpus']:.0f} "
        f"({best['line'] or 'as set'})"
    )


def task(row: Row) -> str:
    """Return the memory of a task and its cache: 16.2 GiB · cache 1.9 GiB."""
    numbers = figures(row)
    return f"{gib(numbers.memory_gib)} · cache {gib_of(row['kv_cache_bytes'])}"


def overtakes(rows: pd.DataFrame, catalogs: Catalogs) -> str:
    """From how many cached tokens on the cache is larger than the weights."""
    parts = [
        (
            f"{name_of('precision', row['precision'], catalogs)} "
            f"{count(round(row['overtakes_tokens']))}"
        )
        for row in rows.to_dict("records")
        if not is_missing(row["overtakes_tokens"])
    ]
    if not parts:
        return "This model caches nothing."
    return (
        f"The KV cache overtakes the weights from so many cached tokens on, all sequences "
        f"together: {', '.join(parts)}."
    )


def guide(leaves: list[Leaf], plan_row: Row) -> str:
    """Return how to read the questions."""
    question = next((leaf.job.name for leaf in leaves if leaf.holds), "")
    start = (
        f"The first yes: “{question}”"
        if question
        else "None is answered yes; the nearest plan stands at each."
    )
    own = "method" if plan_row["work"] == "training" else "width of weights"
    return (
        f"Each is answered with the job's own load and limits. Answers with the plan's {own} come "
        f"first, then the others, each from the cheapest on. {start}"
    )


def branch(ready: Leaf, plan_row: Row) -> Branch:
    """Return a question as a branch of the tree: All weights, one GPU, its machine and money."""
    asks, row = ready.job.asks, ready.row
    choice = (
        f"{asks['fewest_bits']} bits" if "fewest_bits" in asks else METHODS[str(asks["method"])]
    )
    where = next(words for name, words in PLACES.items() if name in asks)
    is_plan = ready.is_same(plan_row)
    if not row["answer"]:
        return Branch(choice, where, ("no",), False, is_plan)
    lines = (place(row), _money(row)) if ready.holds else ("no; nearest:", place(row))
    return Branch(choice, where, lines, ready.holds, is_plan)


def _money(row: Row) -> str:
    """The cost of a task: $49 in 2.2 h; $1,360 a month; no price."""
    if is_missing(row["usd"]):
        return "no price"
    return about(row["usd"]) + time_of_cost(row)


def leaf(head: str, ready: Leaf, plan_row: Row, catalogs: Catalogs) -> dict[str, str]:
    """A ready job with its machine, cost and memory, and the limit it exceeds, under `head`."""
    row = ready.row
    mark = " · **your plan**" if ready.is_same(plan_row) else ""
    cells = {
        head: f"{ready.job.name}{mark}",
        "Machine": "–",
        "Cost": "–",
        "Memory of each GPU": "–",
    }
    if row["answer"]:
        yes = "✓" if ready.holds else "✗ No; nearest:"
        cost = _money(row)
        cells["Machine"] = f"{yes} {place(row)}, {name_of('precision', row['precision'], catalogs)}"
        cells["Cost"] = cost + (
            "" if is_missing(row["usd_per_hour"]) else f", {usd(row['usd_per_hour'])} an hour"
        )
        needed_gib, card = (gib_digits(row[name]) for name in ("needed_bytes", "gpu_memory_bytes"))
        cells["Memory of each GPU"] = f"{needed_gib} of {card} GiB"
    return {
        name: plain(text)
        for name, text in (
            cells | {"Remarks": _problem(ready, catalogs) or f"{ready.job.about}."}
        ).items()
    }


def leaves_alt(leaves: list[Leaf]) -> str:
    """The takeaway of a table of ready jobs."""
    return (
        f"{sum(leaf.holds for leaf in leaves)} of {len(leaves)} can be done so, each with its "
        f"machine and its cost"
    )


def _problem(ready: Leaf, catalogs: Catalogs) -> str:
    """Why a ready job has no answer; empty where it has one."""
    options = ready.options
    if options.obstacle is None:
        return ""
    return problem_text(options.obstacle, options.resolved, catalogs)
