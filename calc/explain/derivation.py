"""Why a number is what it is: the formulas behind every component of one scenario at its peak, today's numbers put in.

The formulas themselves run on columns that remember their names (calc/explain/traced.py): what is shown is what is computed.
"""

from inspect import getdoc, getsource
from operator import itemgetter
from typing import NamedTuple

import numpy as np
import pandas as pd

from calc import layout
from calc.columns import GLOSSARY
from calc.evaluate import evaluate, evaluate_all, parameters_of
from calc.explain.traced import Traced, live, number, reads, text
from calc.memory import components as memory
from calc.memory import derived, outside_blocks, overhead, phases, saved_activations, serving_engine
from calc.pipeline import STAGES, memory_before_stages, prepare, table_here, trained_parameters
from calc.scenarios import join
from calc.scenarios.inputs import BY_NAME, CATALOG_OF
from calc.scenarios.read import as_frame

GROUPS = (
    layout.LAYOUT, layout.HELD, memory.BEFORE_BLOCKS, memory.RESIDENT, memory.TRAINING, memory.INFERENCE,
    phases.BUFFERS, serving_engine.ENGINE, overhead.OVERHEAD,
)
FORMULAS = {formula.__name__: formula for group in GROUPS for formula in group}
EXPLAINED = (*phases.PARTS, "overhead_bytes", "memory_low_bytes", "memory_high_bytes")
LAYOUT = tuple(formula.__name__ for formula in layout.LAYOUT + layout.HELD)  # shared by components, explained once
CHOSEN = {  # what the columns of a choice begin with in the joined table
    **dict.fromkeys(("precision", "optimizer", "sharding", "recompute"), ""),
    **{name: f"{name}_" for name in ("implementation", "gpu")},
}
MAKERS = (saved_activations, outside_blocks, derived, serving_engine, join)
ENDINGS = (
    ("_bytes_per_token", "B per token"), ("_bytes_each", "B per element"), ("_bytes", "B"), ("_tokens", "tokens"),
    ("_ratio", "share"), ("_per_second", "per second"),
)


class Explanation(NamedTuple):
    """The moment of the peak, all moments, the formulas by component, the columns they read, what a block keeps."""

    phase: str
    says: str
    moments: pd.DataFrame
    formulas: pd.DataFrame
    facts: pd.DataFrame
    blocks: pd.DataFrame


def explain(scenario, catalogs, written=number):
    """The Explanation of a scenario that the estimate covers; `written(name, value)` writes the numbers put in."""
    table, found, functions = _fuller_stage(scenario, catalogs)
    totals = [_value(sum(parts.values())) for _, parts in found]
    peak = int(np.argmax(totals))
    traced = {name: Traced(values, name) for name, values in table.items() if isinstance(values, np.ndarray)}
    phase, parts = phases.moments(traced, _trains(table))[peak]
    table["allocated_peak_bytes"] = np.array([totals[peak]])
    evaluate_all(overhead.OVERHEAD, table)
    above = ("allocated_peak_bytes", *(formula.__name__ for formula in overhead.OVERHEAD))
    traced |= {name: Traced(table[name], name) for name in above}
    by_hand = _by_hand(traced, _trains(table))
    chains, facts = [], {}
    for component in EXPLAINED:
        top = parts.get(component, Traced(0.0)) if component in phases.PARTS else traced[component]
        rows, shown = [], live(top)
        if getattr(shown, "name", "") == "" or not any(_made(shown.name, traced, by_hand)):
            rows.append(_row(functions[peak].__name__, _says(functions[peak]), top, shown, written))
        apart = {*EXPLAINED, *LAYOUT} - {component}
        rows += _chain(reads(shown), apart, traced, by_hand, facts, written)
        chains += [{"component": component, "step": step, **row} for step, row in enumerate(rows)]
    shared = [name for row in chains for name in row["reads"] if name in LAYOUT]
    rows = _chain(shared, {*EXPLAINED}, traced, by_hand, facts, written)
    chains += [{"component": "layout", "step": step, **row} for step, row in enumerate(rows)]
    moments = pd.DataFrame({
        "phase": [name for name, _ in found], "formula": [function.__name__ for function in functions],
        "says": [_says(function) for function in functions], "bytes": totals,
    }).sort_values("bytes", ascending=False, kind="stable").drop_duplicates("formula").sort_index()
    in_order = moments["phase"].map(phases.PHASES.index).sort_values(kind="stable").index
    moments = moments.loc[in_order].reset_index(drop=True)
    told = pd.DataFrame([_fact(name, table, catalogs) for name in facts])
    return Explanation(phase, _says(functions[peak]), moments, pd.DataFrame(chains), told, block_forms(table, catalogs))


def _trains(table):
    return bool(table["trains"][0] > 0)


def _value(number):
    return float(np.ravel(getattr(number, "value", number))[0])


def _fuller_stage(scenario, catalogs):
    """The table of the fuller end of the pipeline, its moments, and the function that made each of them."""
    _, table, _ = prepare(as_frame(scenario), catalogs)
    unstaged = memory_before_stages(table, catalogs)
    best = None
    for ends in STAGES if table["pipeline_parallel"][0] > 1 else ((1.0, 1.0),):
        here = table_here(unstaged, _trains(table), *ends)
        here["trained_parameters"] = evaluate(trained_parameters, here)
        found = phases.moments(here, _trains(table))
        largest = max(_value(sum(parts.values())) for _, parts in found)
        if best is None or largest > best[0]:
            best = largest, here, found
    named = [function for _, function in (phases.TRAINING_MOMENTS if _trains(table) else phases.INFERENCE_MOMENTS)]
    return *best[1:], named + [phases.block_backward] * (len(best[2]) - len(named))


def _chain(waiting, apart, traced, by_hand, facts, written):
    """The formulas behind some columns, each before those that it reads; those `apart` are explained elsewhere."""
    waiting, rows, seen = list(waiting), [], set(apart)
    while waiting:
        name = waiting.pop(0)
        if name in seen:
            continue
        seen.add(name)
        formula, made = next(_made(name, traced, by_hand), (None, None))
        if formula is None:
            facts[name] = True
            continue
        shown = live(made)
        rows.append(_row(name, _says(formula), made, shown, written))
        waiting = reads(shown) + waiting
    return rows


def _made(name, traced, by_hand):
    """The formula that made a column and its equation: the one of its name, unless another hand had the last word."""
    formula = FORMULAS.get(name)
    if formula and all(parameter in traced for parameter in parameters_of(formula)):
        yield from _agreed(formula, evaluate(formula, traced), traced[name])
    if name in by_hand:
        yield from _agreed(*by_hand[name], traced[name])


def _agreed(formula, made, column):
    """The formula and its equation, if they give what the estimate has in this column."""
    counts = isinstance(made, Traced) and made.value.dtype.kind in "bif"
    if counts and np.allclose(made.value, column.value, equal_nan=True):
        yield formula, made


def _by_hand(traced, training):
    """Columns that one function makes several of: the function and the equation of each."""
    found = {}
    makers = (derived.derive_before_blocks, derived.derive_widths)
    for maker in makers if training else (*makers, outside_blocks.inference_columns):
        table = dict(traced)
        maker(table)
        found |= {name: (maker, made) for name, made in table.items() if made is not traced.get(name)}
    return found


def _row(formula, says, made, shown, written):
    unit = unit_of(formula) if formula in FORMULAS else "B"
    value = made.value if isinstance(made, Traced) else np.asarray(made)
    return {
        "formula": formula, "says": says, "equation": text(made), "today": text(shown), "numbers": text(shown, written),
        "reads": tuple(reads(shown)), "unit": unit, "value": value.ravel().astype(float),
    }


def _says(function):
    """A formula's own words in one line, its unit left out."""
    return " ".join(getdoc(function).split()).replace(" [B]", "")


def unit_of(name):
    """The unit of a column: what its name ends in, else what the glossary says."""
    said = GLOSSARY[name].unit if name in GLOSSARY else ""
    return next((unit for ending, unit in ENDINGS if name.endswith(ending)), said)


def _fact(name, table, catalogs):
    """A column that formulas read and none makes: its value and where it comes from."""
    came_from, source = _origin(name, table, catalogs)
    entry = GLOSSARY.get(name)
    means = entry.meaning if entry else name.removeprefix("stack_").replace("_", " ")
    value = np.ravel(table[name])
    return {"column": name, "means": means, "unit": unit_of(name), "value": value, "from": came_from, "source": source}


def _origin(name, table, catalogs):
    """Where a column comes from, and the source that the catalog entry names."""
    if name in BY_NAME:
        return "the scenario", "chosen"
    for choice, prefix in CHOSEN.items():
        catalog, entry = CATALOG_OF[choice], table[choice][0]
        frame = getattr(catalogs, catalog)
        if name.startswith(prefix) and name.removeprefix(prefix) in frame.columns and entry in frame.index:
            own = frame.at[entry, "source"] if "source" in frame.columns else ""
            return f"catalogs/{catalog}.yaml, {entry}", own or catalogs.about[catalog].get("source", "")
    model = table["model"][0]
    if name in join.MODEL_COLUMNS or name.removeprefix("stack_") in join.STACK_COLUMNS:
        return f"catalogs/models.yaml, {model}", catalogs.models.at[model, "source"]
    makers = [module.__name__.removeprefix("calc.") for module in MAKERS if f'"{name}"' in getsource(module)]
    maker = makers[0] if makers else "estimate"
    if maker in catalogs.about:
        return f"calc/{maker}.py with catalogs/{maker}.yaml", catalogs.about[maker].get("source", "")
    return f"calc/{maker}.py", "from the choices"


def block_forms(table, catalogs):
    """What a block of each stack keeps, and needs at its worst moments: coefficient (B) x size = bytes per token.

    `kept` marks the vector that this scenario keeps; none where adapters or kernels change it.
    """
    rows, kinds = [], list(catalogs.blocks)
    every_size = evaluate(saved_activations.block_sizes, table)
    for stack in np.flatnonzero(np.ravel(table["stack_layers"]) > 0):
        kind, case = (int(table[name][stack, 0]) for name in ("stack_kind", "stack_attention_case"))
        number_format, attention = saved_activations.FORMATS[int(table["activation_format"][0])], saved_activations.CASES[case]
        forms = catalogs.blocks[kinds[kind]]["forms"]
        known = {form["attention"]: form for form in forms if form["format"] == number_format}
        form = next((known[name] for name in (attention, *saved_activations.FALLBACKS[attention]) if name in known), {})
        sizes = dict(zip(saved_activations.SIZES, every_size[stack, 0], strict=True))
        kept = {name: form.get(name) or {} for name in saved_activations.VECTORS} if _trains(table) else {}
        for moment in ("backward", "recomputed") if _trains(table) else ("forward",):
            worst = [(sum(each[size] * sizes[size] for size in each), each) for each in form.get(moment) or [{}]]
            kept[moment] = max(worst, key=itemgetter(0))[1]
        for vector, coefficients in kept.items():
            total = sum(coefficients[size] * sizes[size] for size in coefficients)
            alive = vector in saved_activations.VECTORS and np.isclose(total, table["stack_kept_bytes_per_token"][stack, 0])
            of_stack = (stack, kinds[kind], number_format, attention, vector, bool(alive))
            rows += [(*of_stack, size, float(each), sizes[size]) for size, each in coefficients.items()]
    names = ["stack", "block", "format", "attention", "vector", "kept", "size", "coefficient", "size_value"]
    forms = pd.DataFrame(rows, columns=names)
    return forms.assign(bytes_per_token=forms["coefficient"] * forms["size_value"])
