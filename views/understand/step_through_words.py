"""The words of Step through."""

import pandas as pd

from calc.catalogs.load import Catalogs
from calc.charts.walk import line_name, with_article
from calc.evaluate import Row
from calc.explain.calculators import GB
from calc.explain.step_through import MOST_MISS, Figures
from calc.say.calculators import lack_text
from calc.say.numbers import (
    gib,
    gib_digits,
    gib_of,
    is_missing,
    parameter_count,
    percent,
    three_digits,
    with_capital,
    with_noun,
)
from calc.say.place import place, short_card
from calc.say.setting import arrangement, model_size, name_of, phrase_of
from calc.search.row_status import method_name
from calc.studies.step_variants import Walk
from calc.units import GIB
from views.charts.step_through import Choice, Slider, Words
from views.shared.markdown import NO_BREAK
from views.shared.theme import FITS

TITLE = {
    "training": "Where the memory goes in one training step",
    "inference": "Where the memory goes while serving",
}
UNIT = {"training": "sequence", "inference": "request"}
AXIS = {"training": "Micro-batch, sequences", "inference": "Requests in flight"}
USE = "Use these settings in Plan"
TWO_SIZES = "7B beside 13B: AdamW in mixed precision and in 16 bits, LoRA over int8"
LARGEST = {"training": "Largest batch on one GPU", "inference": "Most requests on one GPU"}
DIALS = {
    "model": "Size",
    "recompute": "Activations",
    "tuning": "Method",
    "precision": "Weights",
    "kv_precision": "Cache",
}
METHODS = {"full": "full", "lora": "LoRA", "qlora": "QLoRA"}
METHOD_COLUMNS = METHODS | {"full": "Full"}
TRAINED = {"full": "in full", "lora": "by LoRA", "qlora": "by QLoRA"}
RECOMPUTE_WORDS = {"none": "keep all", "full": "recompute all"}
OTHERS = (
    "Each calculator's own formula for this model's exact parameters and sizes. They print GB of "
    "10^9 bytes."
)
# https://huggingface.co/docs/transformers/model_memory_anatomy, read on 2026-11-28
RULE_OF_THUMB = (
    "18 bytes for AdamW in mixed precision: 6 of weights (a 16-bit copy beside fp32), 4 of "
    "gradients and 8 of state"
)
BEYOND = {  # what to do with more than fits
    "training": "Accumulation trains the same step with {:,.0f} at once.",
    "inference": "More requests wait, or need another replica.",
}
SMALLER = {  # what to change where not even one fits
    "training": "Divide the states over more GPUs, or train adapters.",
    "inference": "Fewer bits, or more GPUs for one replica.",
}
SHADES = tuple(f"rgba(60, 103, 170, 0.{alpha:02})" for alpha in range(8, 80, 6))


def around(walk: Walk, row: Row, catalogs: Catalogs) -> str:
    """Return what the picture starts from, and what to do with it."""
    where = f" on {place(row)}" if row["instance"] else ""
    how = f" {TRAINED[method_name(row, catalogs).lower()]}" if row["work"] == "training" else ""
    model = f"{name_of('model', row['model'], catalogs)} ({model_size(row['model'], catalogs)})"
    plan = f"{model}{how}{where}, {arrangement(row, catalogs)}"
    within = ""
    if walk.miss_ratio > MOST_MISS:
        within = f", within {percent(walk.miss_ratio)} of the estimate"
    dial_words = ""
    if scores(row):
        dial_words = (
            f" It walks {phrase_of('objective', row['objective'])}'s update; rollout and scoring "
            f"stand on Method."
        )
    return f"Around the plan: {plan}. Move a slider: the picture follows{within}.{dial_words}"


def scores(row: Row) -> bool:
    """Return whether the row's training scores answers, in phases that are not walked here."""
    return row["work"] == "training" and row["objective"] not in ("", "sft")


def picture(walk: Walk, work: str, catalogs: Catalogs) -> Words:
    """Return the words of the picture."""
    stops = tuple(f"{number} {stop}" for number, stop in enumerate(walk.stops, start=1))
    card = with_article(short_card(walk.card, catalogs))
    title = "The cliff is where the pale range leaves the card"
    return Words(
        "Step through",
        tuple(name_of("model", model, catalogs) for model in walk.dials["model"]),
        UNIT[work],
        line_name(walk.card, catalogs),
        f"{with_capital(card)} has room for",
        stops,
        title,
        AXIS[work],
        USE,
    )


def sliders(walk: Walk, work: str) -> tuple[Slider, Slider]:
    """The sliders of batch and tokens."""
    bounds, plan = walk.bounds, walk.plan
    batch = Slider(AXIS[work], plan["batch"], bounds.least_batch, bounds.most_batch, 1)
    step = bounds.step_tokens
    return batch, Slider("Tokens of each", plan["tokens"], step, step * bounds.most_steps, step)


def dials(walk: Walk, catalogs: Catalogs) -> tuple[Choice, ...]:
    """The dials, the sizes of real models first."""
    return tuple(
        Choice(
            DIALS[name],
            _labels(name, list(dial), catalogs),
            int(walk.plan[name]),
        )
        for name, dial in walk.dials.items()
    )


def _labels(name: str, values: list[str], catalogs: Catalogs) -> tuple[str, ...]:
    """The words for the values of a dial; models of one size are told apart by name."""
    labels = tuple(_value(name, value, catalogs) for value in values)
    if len({*labels}) < len(labels):
        return tuple(name_of(name, value, catalogs) for value in values)
    return labels


def _value(name: str, value: str, catalogs: Catalogs) -> str:
    """The words for a value of a slider."""
    if name == "model":
        return parameter_count(float(catalogs.models["parameters"][value]))
    if name == "kv_precision":
        if value not in ("", "fp8"):
            return value
        return "8 bits" if value else "16 bits"
    if name == "recompute":
        return RECOMPUTE_WORDS.get(value, "recompute some")
    return METHODS.get(value, value)


def alt(walk: Walk, work: str, catalogs: Catalogs) -> str:
    """Return what the picture shows, in a sentence."""
    figures = walk.figures
    card = with_article(short_card(walk.card, catalogs))
    unit = UNIT[work]
    return (
        f"The peak is {gib(figures.peak_gib)}, at {walk.stops[figures.stop]}: "
        f"{gib(figures.fixed_gib)} fixed and {gib(figures.each_gib)} "
        f"for each {unit}; {card} has room for {_room(figures)}"
    )


def _room(figures: Figures) -> str:
    return "any number" if figures.room == float("inf") else f"{figures.room:,.0f}"


def read_it(
    walk: Walk, row: Row, slower_ratio: float, state_bytes_each: float, catalogs: Catalogs
) -> str:
    """The four things to read off the picture."""
    if row["work"] == "training":
        parts = {
            "Fixed": (
                "weights, gradients, optimizer state, working memory and overhead, whatever the "
                f"batch.{_states(state_bytes_each)}"
            ),
            "Per sequence": _each_sequence(row, slower_ratio),
        }
    else:
        parts = {
            "Fixed": "weights, what the engine needs for a prompt, and overhead.",
            "Per request": _each_request(row),
        }
    parts["Free"] = "what is left up to the dashed line, which is the card."
    parts["The cliff"] = _cliff(walk, row["work"], catalogs)
    return "  \n".join(f"**{name}:** {text}" for name, text in parts.items())


def _each_sequence(row: Row, slower_ratio: float) -> str:
    """Return the memory of each trained sequence, and what recomputing does to it."""
    if row["recompute"] == "full":
        return "activations and logits; nothing is left to recompute."
    slower = ""
    if not is_missing(slower_ratio) and slower_ratio >= 1.005:
        slower = f", for {percent(slower_ratio - 1)} more time"
    return f"activations and logits; recomputing all makes the slope flatter{slower}."


def _cliff(walk: Walk, work: str, catalogs: Catalogs) -> str:
    """Return the first sequence or request that does not fit the card, and what helps."""
    room, unit = walk.figures.room, UNIT[work]
    card = with_article(short_card(walk.card, catalogs))
    if room == float("inf"):
        return "none: the memory does not grow."
    if room == 0:
        return f"not even one {unit} fits {card}. {SMALLER[work]}"
    return f"{unit} {room + 1:,.0f} on {card}. {BEYOND[work].format(room)}"


def _states(bytes_each: float) -> str:
    """Return the bytes of each parameter, beside the rule of thumb."""
    if is_missing(bytes_each):
        return ""
    return (
        f" Each parameter takes {three_digits(bytes_each)} bytes of the first three. A common "
        f"rule of thumb says {RULE_OF_THUMB}."
    )


def _each_request(row: Row) -> str:
    """Return the memory of each request: cache of a generator, activations of an encoder.

    The cache of a token is also in MB of 10^6 bytes, as others print it.
    """
    each_bytes = row["kv_cache_bytes"] / (row["batch"] * row["sequence_tokens"])
    if not each_bytes > 0:
        return "activations, while the batch is computed; nothing is cached."
    kib, mb = three_digits(each_bytes / 1024), three_digits(each_bytes / 1e6)
    return (
        f"its KV cache, {kib} KiB ({mb} MB) a token on each GPU; 8 bits halve it, and a shorter "
        "context cuts it."
    )


def largest_caption(row: Row, catalogs: Catalogs) -> str:
    """Return what the table of largest batches counts."""
    model = name_of("model", row["model"], catalogs)
    tokens = with_noun(int(row["sequence_tokens"]), "token")
    recompute_words = ""
    if row["work"] == "training":
        recompute_words = ", activations recomputed as far as it helps"
    return (
        f"{model}, {tokens}{recompute_words}; the last of them may be tight. 0: not even one fits. "
        f"–: does not run there. Cards without bf16 use fp16; cards that today's build of the "
        f"software refuses use an older one. A cell becomes the plan."
    )


def cards_by_verdict(rows: pd.DataFrame, catalogs: Catalogs) -> str:
    """The cards on which the plan fits, is tight, does not fit or does not run: a line for each."""
    is_refused = (rows["runs"] == "no").to_numpy()
    groups = {
        f"{mark} {word}": rows[(rows["fits"] == fits).to_numpy() & ~is_refused]
        for fits, (word, mark, *_) in FITS.items()
    } | {"– does not run": rows[is_refused]}
    parts = [
        f"{head}: {', '.join(_in_one_piece(line_name(card, catalogs)) for card in group['gpu'])}"
        for head, group in groups.items()
        if len(group)
    ]
    return "  \n".join(["**As planned, on other cards**", *parts])


def _in_one_piece(name: str) -> str:
    """The name with spaces at which no line is broken."""
    return name.replace(" ", NO_BREAK)


def shade(grade: float) -> str:
    """The background of a cell; none where nothing fits."""
    return f"background-color: {SHADES[min(int(grade), len(SHADES)) - 1]}" if grade >= 1 else ""


def system(row: Row) -> dict[str, str]:
    """A calculator's figure for the step, its range, and what it does not count."""
    total = row["needed_bytes"]
    low, high = row["needed_low_bytes"], row["needed_high_bytes"]
    is_ours = row["system"] == "ours"
    range_words = "" if is_missing(low) else f" ({gib_digits(low)} to {gib_digits(high)})"
    no_number = is_missing(total)
    return {
        "Calculator": "Headroom" if is_ours else f"{row['system'].upper()}. {row['title']}",
        "GiB per GPU": "–" if no_number else f"{gib_of(total)}{range_words}",
        "As it prints it": "–" if no_number or is_ours else _printed_total(total, low, high),
        "Its rule": row["rule"] or "–",
        "Remarks": " ".join(filter(None, (lack_text(row), row["warns"], row["leaves_out"])))
        or "This estimate.",
    }


def _printed_total(total_bytes: float, low_bytes: float, high_bytes: float) -> str:
    """A total in GB of 10^9 bytes with a decimal; the range alone where the system states one."""
    if is_missing(low_bytes):
        return f"{total_bytes / GB:,.1f} GB"
    return f"{low_bytes / GB:,.1f} to {high_bytes / GB:,.1f} GB"


def systems_alt(systems: pd.DataFrame) -> str:
    """The takeaway of the table of calculators."""
    ours, *others = systems["needed_bytes"].astype(float) / GIB
    sizes = pd.Series(others).dropna()
    if not len(sizes):
        return "None of the four calculators can express this step"
    return f"{gib(ours)} here, {gib(sizes.min())} to {gib(sizes.max())} by the others"


def slip(row: Row) -> str:
    """A figure that a text prints and that cannot be, with what it should be."""
    printed_gb = f"{three_digits(row['printed_bytes'] / GB)} GB"
    least = f"{three_digits(row['least_bytes'] / GB)} GB"
    return (
        f"{row['system'].upper()} prints {printed_gb} for {row['of']}: {row['why']} {least} "
        f"({gib_of(row['least_bytes'])})."
    )
