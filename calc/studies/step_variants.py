"""The variants of Step through: the plan in other sizes, methods or widths, on other cards.

A dial is a choice with its values, the plan's own among them. It only has values for which the
engine can estimate every combination with the other dials.
"""

from itertools import product
from typing import NamedTuple

import numpy as np
import pandas as pd

from calc.catalogs.load import Catalogs
from calc.engine.pipeline import estimate, parts
from calc.evaluate import Row
from calc.explain.step_through import (
    STOPS,
    Bounds,
    Figures,
    at_point,
    figures_at,
    needs_on_cards,
    surfaces,
    with_overhead,
    with_point,
)
from calc.job.software import generates
from calc.scenarios.inputs import SAME_AS_SEQUENCE
from calc.search.row_status import FOUR_BITS, matrix_bits, method_name
from calc.studies.comparisons import SERVED_WIDTHS, compare_changes, methods_of, over_cards

SIZES = (
    "qwen3-0.6b",
    "llama-3.2-1b",
    "llama-3.2-3b",
    "llama-3.1-8b",
    "qwen3-14b",
    "qwen3-32b",
    "llama-3.1-70b",
)
USUAL_CARD = "h100-80gb-sxm"  # of a plan that names none
LEAST_BATCHES = {"training": 32, "inference": 256}  # on the slider
USUAL_TOKENS, LENGTHS = 32_768, 64  # on the slider
LAYOUT = ("tensor_parallel", "pipeline_parallel", "context_parallel", "expert_parallel")
ENCODER_STOPS = ("load", "forward pass")  # of a model that decodes nothing and caches nothing
CLEARLY = 1.25  # as much memory, so that the lines of two cards stand apart
Dial = dict[str, Row]  # value -> the columns that it sets


class Walk(NamedTuple):
    """All that a picture needs to walk through a step without another estimate.

    `rows`: the surfaces of what must fit, overhead included. `cards`: what it needs on each card
    (needs_on_cards). Both have the number of the value on each dial, from 1. `plan`: the plan's
    values and their numbers. `miss_ratio`: the largest difference of a checked peak from the
    estimate. `stops`: the names of the moments.
    """

    rows: pd.DataFrame
    cards: pd.DataFrame
    dials: dict[str, Dial]
    stops: tuple[str, ...]
    bounds: Bounds
    plan: dict[str, float]
    card: str
    miss_ratio: float

    def at_dials(self, table: pd.DataFrame) -> pd.DataFrame:
        """The plan's rows of `rows` or `cards`."""
        return table[np.logical_and.reduce([table[name] == self.plan[name] for name in self.dials])]

    @property
    def at_plan(self) -> pd.DataFrame:
        """The largest moment of each stop at the plan, by component."""
        return at_point(self.at_dials(self.rows), self.plan["batch"], self.plan["tokens"])

    @property
    def figures(self) -> Figures:
        """The peak of the plan, and the room of its card."""
        cards = self.at_dials(self.cards)
        safe_gib = float(cards.loc[cards["card"] == self.card, "safe_gib"].iloc[0])
        return figures_at(
            self.at_dials(self.rows), self.plan["batch"], self.plan["tokens"], safe_gib
        )


def walk_through(scenario: Row, catalogs: Catalogs) -> Walk:
    """Return the variants around a scenario; its layout and accumulation stay."""
    row = {
        name: value
        for name, value in scenario.items()
        if name not in SAME_AS_SEQUENCE or value != scenario["sequence_tokens"]
    }
    row |= {"gpu": row["gpu"] or USUAL_CARD, "instance": ""}
    point = {"batch": float(row["batch"]), "tokens": float(row["sequence_tokens"])}
    dials = _dials_of(row, catalogs)
    bounds = _bounds(row, catalogs)
    dials = _possible(dials, next(parts(_frame(row, dials), catalogs)).problems.sound, row)
    surface = surfaces(_frame(row, dials), bounds, catalogs)
    numbers = _numbers(dials)
    cards = _cards(row, dials, point, catalogs)
    rows_of_card = with_overhead(surface.rows, cards[cards["card"] == row["gpu"]])
    own_values = zip(dials.items(), _own(dials, row), strict=True)
    places = {name: list(dial).index(value) + 1.0 for (name, dial), value in own_values}
    of_variant = numbers.iloc[rows_of_card["variant"]].reset_index(drop=True)
    rows = pd.concat([of_variant, rows_of_card.drop(columns="variant")], axis=1)
    stops = _stops_of(row, catalogs)
    return Walk(
        rows=rows[rows["stop"] < len(stops)],
        cards=cards,
        dials=dials,
        stops=stops,
        bounds=bounds,
        plan=point | places,
        card=row["gpu"],
        miss_ratio=float(surface.miss_ratio.max()),
    )


def _stops_of(row: Row, catalogs: Catalogs) -> tuple[str, ...]:
    """The moments that a scenario has, in order."""
    decodes = row["work"] == "training" or generates(row["model"], catalogs)
    return STOPS[row["work"]] if decodes else ENCODER_STOPS


def _dials_of(row: Row, catalogs: Catalogs) -> dict[str, Dial]:
    """The dials of a scenario: the size, and two of its kind of work."""
    sizes: Dial = {model: {"model": model} for model in _sizes(row, catalogs)}
    is_service = row["work"] == "inference"
    others = _service_dials(row, catalogs) if is_service else _training_dials(row, catalogs)
    return {"model": sizes, **others}


def _service_dials(row: Row, catalogs: Catalogs) -> dict[str, Dial]:
    """The dials of a service besides its size: the width of its weights, the form of its cache."""
    widths = {**SERVED_WIDTHS, _width(row, catalogs): {"precision": row["precision"]}}
    own_cache = row.get("kv_precision") or ""
    forms = ["", "fp8", own_cache] if generates(row["model"], catalogs) else [own_cache]
    return {
        "precision": {bits: widths[bits] for bits in SERVED_WIDTHS},
        "kv_precision": {form: {"kv_precision": form} for form in dict.fromkeys(forms)},
    }


def _training_dials(row: Row, catalogs: Catalogs) -> dict[str, Dial]:
    """The dials of a training run besides its size: what it recomputes, and its method."""
    is_selective = row["recompute"] not in ("none", "full")
    recomputes = ("none", row["recompute"] if is_selective else "selective", "full")
    own_method = {"tuning": row["tuning"], "precision": row["precision"]}
    own_name = method_name(row, catalogs).lower()
    methods = {
        name: own_method if name == own_name else change
        for name, change in methods_of(row, catalogs).items()
    }
    return {
        "recompute": {name: {"recompute": name} for name in recomputes},
        "tuning": methods,
    }


def scenario_at(scenario: Row, walk: Walk, point: dict[str, float]) -> Row:
    """The scenario at a point of its walk: batch, tokens and the number on each dial."""
    copy = {**scenario}
    for name, dial in walk.dials.items():
        copy |= list(dial.values())[int(point[name]) - 1]
    table = with_point(
        pd.DataFrame([{"sequence_tokens": 1.0, **scenario}]), point["batch"], point["tokens"]
    )
    lengths = {
        name: float(table[name].iloc[0])
        for name in ("batch", "sequence_tokens", "prompt_tokens")
        if name in table
    }
    if scenario.get("decoder_tokens") == scenario["sequence_tokens"]:
        lengths["decoder_tokens"] = point["tokens"]
    return copy | lengths


def recompute_time_ratio(scenario: Row, market: str, catalogs: Catalogs) -> float:
    """Time of a step with everything recomputed over its own; NaN if it is not known. [ratio]"""
    rows = compare_changes(
        scenario,
        market,
        catalogs,
        [{"recompute": name, "line": name} for name in (scenario["recompute"], "full")],
    )
    return float(rows["seconds"].iloc[1] / rows["seconds"].iloc[0]) if len(rows) == 2 else np.nan


def state_bytes_each(scenario: Row, catalogs: Catalogs) -> float:
    """Bytes of weights, gradients and optimizer state for each parameter, undivided.

    NaN if not all parameters are trained, or gradients have a format of their own.
    """
    if scenario["tuning"] != "full" or scenario.get("gradient_precision"):
        return np.nan
    alone = scenario | {"gpus": 1.0, "sharding": "none", "offload": "none", "instance": ""}
    row = estimate(alone | dict.fromkeys(LAYOUT, 1.0), catalogs, solve=False)
    if row["problem"]:
        return np.nan
    states_bytes = row["weights_bytes"] + row["optimizer_bytes"]
    gradient_bytes_each = float(catalogs.precisions["gradient_bytes_each"][row["precision"]])
    parameters = float(catalogs.models["parameters"][row["model"]])
    return float(states_bytes / parameters + gradient_bytes_each)


def _sizes(row: Row, catalogs: Catalogs) -> list[str]:
    """Real models by size, the plan's among them: text decoders, or the plan's own family."""
    models, model = catalogs.models, row["model"]
    if row.get("images_per_sequence"):
        return [model]
    alike = models.index[
        (models["family"] == models["family"][model]) & (models["kind"] == models["kind"][model])
    ]
    names = SIZES if models["kind"][model] == "decoder" else alike
    return sorted(
        {model, *(name for name in names if name in models.index)},
        key=lambda name: float(models["parameters"][name]),
    )


def _width(row: Row, catalogs: Catalogs) -> str:
    """The width of served weights in words: 16 bits, 8 bits, 4 bits."""
    width = matrix_bits(row, catalogs)
    if width >= 16:
        return "16 bits"
    if width > FOUR_BITS:
        return "8 bits"
    return "4 bits"


def _bounds(row: Row, catalogs: Catalogs) -> Bounds:
    """Return the batches and lengths of the sliders; a single length if an image fixes it."""
    tokens = float(row["sequence_tokens"])
    batch = float(row["batch"])
    longest = float(catalogs.models["longest_sequence_tokens"][row["model"]])
    least = LEAST_BATCHES[row["work"]]
    most_batch = least if batch <= least else int(2 ** np.ceil(np.log2(2 * batch)))
    most_tokens = int(min(longest, max(USUAL_TOKENS, 2 ** np.ceil(np.log2(tokens)))))
    if np.any(next(parts(pd.DataFrame([row]), catalogs)).table["scores_once"] > 0):
        return Bounds(1, most_batch, int(tokens), 1)
    step = max(most_tokens // LENGTHS, 1)
    return Bounds(1, most_batch, step, most_tokens // step, tokens)


def _numbers(dials: dict[str, Dial]) -> pd.DataFrame:
    """The number on each dial of every combination, from 1."""
    return pd.DataFrame(
        list(product(*(range(1, len(dial) + 1) for dial in dials.values()))),
        columns=list(dials),
        dtype=float,
    )


def _frame(row: Row, dials: dict[str, Dial]) -> pd.DataFrame:
    """The scenario in every combination of the dials."""
    rows = []
    for changes in product(*(dial.values() for dial in dials.values())):
        changed_row = dict(row)
        for change in changes:
            changed_row |= change
        rows.append(changed_row)
    return pd.DataFrame(rows)


def _own(dials: dict[str, Dial], row: Row) -> tuple[str, ...]:
    """The plan's own value on each dial."""
    values = []
    for dial in dials.values():
        for value, change in dial.items():
            if all((row.get(name) or "") == cell for name, cell in change.items()):
                values.append(value)
                break
    return tuple(values)


def _possible(dials: dict[str, Dial], able: np.ndarray, row: Row) -> dict[str, Dial]:
    """The values whose combinations are all able; the plan's own alone where it is not.

    Values of the first dial after the size stay if they are able with the plan's other choices;
    those of the second if they are able with all that stay; sizes if they are able with both.
    """
    is_able = dict(zip(product(*dials.values()), able, strict=True))
    sizes, firsts, seconds = dials.values()
    size, first, second = _own(dials, row)
    if not is_able[size, first, second]:
        return _only(dials, ([size], [first], [second]))
    able_firsts = [value for value in firsts if is_able[size, value, second]]
    able_seconds = []
    for value in seconds:
        if all(is_able[size, other, value] for other in able_firsts):
            able_seconds.append(value)
    able_sizes = []
    for model in sizes:
        pairs = product(able_firsts, able_seconds)
        if all(is_able[model, *pair] for pair in pairs):
            able_sizes.append(model)
    return _only(dials, (able_sizes, able_firsts, able_seconds))


def _only(dials: dict[str, Dial], values: tuple[list[str], ...]) -> dict[str, Dial]:
    """The dials with these of their values alone; `values`: a list for each dial, in its order."""
    smaller = {}
    for (name, dial), stays in zip(dials.items(), values, strict=True):
        smaller[name] = {value: dial[value] for value in stays}
    return smaller


def _cards(
    row: Row, dials: dict[str, Dial], point: dict[str, float], catalogs: Catalogs
) -> pd.DataFrame:
    """Return the needs of every combination on the plan's card and its neighbors."""
    frame = _frame(row, dials)
    numbers = _numbers(dials)
    cards = _neighbors(row, catalogs)
    many = pd.concat([frame.assign(gpu=card) for card in cards], ignore_index=True)
    needs = needs_on_cards(with_point(many, point["batch"], point["tokens"]), catalogs)
    rows = pd.concat([numbers] * len(cards), ignore_index=True)
    names = np.repeat(np.array(cards, dtype=object), len(numbers))
    return pd.concat([rows.assign(card=names), needs], axis=1)


def _neighbors(row: Row, catalogs: Catalogs) -> list[str]:
    """The card, and the next clearly smaller and larger ones that AWS rents and the row runs on."""
    card = row["gpu"]
    memory = catalogs.gpus["memory_bytes"].astype(float)
    cards = over_cards(row, catalogs)
    names = cards.loc[cards["runs"] == "yes", "gpu"].astype(str).tolist()
    smaller = [other for other in names[::-1] if memory[other] * CLEARLY < memory[card]]
    larger = [other for other in names if memory[other] > memory[card] * CLEARLY]
    nearest = [other for other in smaller if memory[other] == memory[smaller[0]]]
    return [*nearest[-1:], card, *larger[:1]]
