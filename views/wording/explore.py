"""The sentences of the Explore page."""

import pandas as pd

from calc.catalogs.load import Catalogs
from calc.evaluate import Row
from calc.layout import at_once, replicas
from calc.plan.figures import figures
from calc.say.numbers import about, count, gib, is_missing, span, three, usd
from calc.say.place import place
from calc.say.setting import name_of
from calc.search.guide import Leaf
from calc.units import GIB
from views.wording.comparisons import LINES

NOTHING = "There is no estimate to start from yet: choose a model and a way to run it on the Plan page."
OVER = {
    "training": {"batch": "Micro-batch", "sequence_tokens": "Sequence"},
    "inference": {"batch": "Sequences at once", "sequence_tokens": "Sequence"},
}
BY = {
    "training": {"precision": "Precision", "optimizer": "Optimizer", "recompute": "Recompute"},
    "inference": {"precision": "Precision", "kv_precision": "KV cache format"},
}
USUAL = {
    "precision": ("bf16-mixed", "bf16", "fp32", "fp8-mixed", "fp8", "int8", "nf4-dq", "awq-4bit"),
    "optimizer": ("adamw", "adamw-8bit", "adafactor", "sgd"),
    "recompute": ("none", "selective", "selective-ops", "full"),
    "kv_precision": ("", "fp8"),
}
SPOKEN = {"batch": "batch", "sequence_tokens": "sequence"}
FORMATS = ("fp32", "fp16", "bf16", "fp8", "int8", "nf4-dq")
TASK_HELP = "Sequences at once × tokens of each, prompt and answer; plain serving without an engine's pool."
METHODS = {"full": "Full", "lora": "LoRA, 16 bits frozen", "qlora": "QLoRA, 4 bits frozen"}
SENT = {
    "DDP": "gradients, all-reduced once a step",
    "ZeRO 1": "gradients scattered once a step, updated weights gathered",
    "ZeRO 2": "gradients scattered in every micro-batch, updated weights gathered once a step",
    "ZeRO 3": "weights gathered twice and gradients scattered in every micro-batch",
    "tensor": "two all-reduces of each block's output forward and two backward, in every micro-batch",
    "pipeline": "a stage's output to the next and its gradient back, in every micro-batch",
}
SENT_ALT = "What one GPU sends in a step by strategy and number of GPUs"
SHADES = tuple(f"rgba(0, 114, 178, 0.{alpha:02})" for alpha in range(8, 80, 6))


def line(by: str, value: str, catalogs: Catalogs) -> str:
    """A line's name: a precision, an optimizer, a recompute, a format of the cache."""
    if by == "kv_precision":
        return f"{value or '16-bit'} cache"
    return LINES.get(value) or name_of(by, value, catalogs)


def largest(rows: pd.DataFrame, over: str, by: str, names: dict[str, str], plan_row: Row) -> str:
    """The largest that fits of each line, and accumulation as the way round."""
    column = {"batch": "max_batch", "sequence_tokens": "max_sequence_tokens"}[over]
    limits = [
        f"{names[row[by]]} {count(row[column]) if row[column] >= 1 else 'none'}"
        for row in rows.to_dict("records")
        if not is_missing(row[column])
    ]
    sentence = (
        f"Largest {SPOKEN[over]} that fits the plan's card: {', '.join(limits)}."
        if limits
        else "No card is named, so nothing is said of fitting."
    )
    if over == "batch" and plan_row["work"] == "training":
        step, copies = at_once(plan_row), replicas(plan_row)
        where = f"{copies:.0f} {'GPU' if copies == 1 else 'replicas'}"
        parts = f"{plan_row['batch']:.0f} × {plan_row['accumulation_steps']:.0f} on {where}"
        sentence += (
            f" The way round is accumulation: the plan's step of {step:,.0f} sequences is {parts}; smaller and more trains the same."
        )
    return sentence


def cliff_alt(rows: pd.DataFrame, over: str, names: dict[str, str], by: str) -> str:
    """The takeaway of the lines."""
    column = {"batch": "max_batch", "sequence_tokens": "max_sequence_tokens"}[over]
    sound = rows[rows[column] >= 1]
    if sound.empty:
        return "Memory grows with each doubling; nothing shown fits the plan's card"
    best = sound.loc[sound[column].idxmax()]
    return f"Most fits with {names[best[by]]}: {SPOKEN[over]} {best[column]:,.0f}"


def phases(row: Row) -> str:
    """Which phase the estimate is, and what comes on top."""
    return (
        f"Each bar is the largest moment of its phase. The {row['peak_phase']} phase is the estimate; with context and allocator slack "
        f"{gib(figures(row)['memory_gib'])} in all. The dashed line is the card."
    )


def task(row: Row) -> str:
    """16.2 GiB · the cache is 12 % of it."""
    numbers = figures(row)
    return f"{gib(numbers['memory_gib'])} · cache {gib(row['kv_cache_bytes'] / GIB)}"


def overtakes(rows: pd.DataFrame, catalogs: Catalogs) -> str:
    """From how many cached tokens on the cache is larger than the weights."""
    parts = [
        f"{name_of('precision', row['precision'], catalogs)} {count(round(row['overtakes_tokens']))}"
        for row in rows.to_dict("records")
        if not is_missing(row["overtakes_tokens"])
    ]
    if not parts:
        return "This model caches nothing."
    return f"The KV cache overtakes the weights from so many cached tokens on, all sequences together: {', '.join(parts)}."


def largest_column(model: str, method: str, catalogs: Catalogs) -> str:
    """Llama 3.1 8B, LoRA."""
    return f"{catalogs.models['name'].get(model, model)}, {METHODS.get(method, method).split(',')[0]}"


def shade(grade: float) -> str:
    """The background of a cell; none where nothing fits."""
    return "" if not grade >= 1 else f"background-color: {SHADES[int(grade) - 1]}"


def guide(leaves: list[Leaf]) -> str:
    """How to read the questions."""
    question = next((leaf.question for leaf in leaves if leaf.holds), "")
    start = f"The first yes: “{question}”" if question else "None is answered yes; the nearest plan stands at each."
    return f"Asked in turn, each answered with the job's own load and limits, least money first. {start}"


def leaf(answered: Leaf, catalogs: Catalogs) -> str:
    """Yes: 1 × g6e.xlarge, $26 in 14 h, 30.1 of 45.0 GiB; what it means."""
    row = answered.row
    head = f"**{answered.question}** {'✓ Yes' if answered.holds else '✗ No'}. {answered.meaning}."
    if not row["answer"]:
        return f"{head}  \n{answered.problem}"
    precision = name_of("precision", row["precision"], catalogs)
    cost = (
        "no price"
        if is_missing(row["usd"])
        else about(row["usd"]) + (f" in {span(row['hours'])}" if row["work"] == "training" else " a month")
    )
    numbers = figures(row)
    memory = f"{three(numbers['memory_gib'])} of {three(numbers['card_gib'])} GiB"
    hourly = "" if is_missing(row["usd_per_hour"]) else f", {usd(row['usd_per_hour'])} an hour"
    text = f"{place(row)}, {precision}: {cost}{hourly}, {memory} per GPU."
    return f"{head}  \n{text}" if answered.holds else f"{head}  \nNearest: {text} {answered.problem}"
