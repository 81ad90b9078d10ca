"""The formulas behind every component of a scenario at its peak, with their numbers.

The formulas themselves run, on columns that remember their names (traced_columns.py), so what is
shown is what is computed.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from inspect import getdoc
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from calc import layout
from calc.catalogs.load import Catalogs
from calc.catalogs.rooms import label_of
from calc.catalogs.sources import sources_of
from calc.columns import COMPONENTS, GLOSSARY
from calc.engine.one_scenario import one_scenario
from calc.engine.pipeline import parts
from calc.engine.stages import AFTER_MEMORY, MEMORY, STAGES, walk
from calc.evaluate import Columns, Row, evaluate, formulas_of, parameters_of
from calc.explain.traced_columns import (
    TracedColumn,
    columns_of_formula,
    columns_to_trace,
    live,
    plain_number,
    text,
)
from calc.memory import block_forms, pipeline_ends
from calc.memory.moments import MOMENTS, PASSING, PHASES, Moment, at_blocks, moments_of_scenario
from calc.rules.support import distinct_rows
from calc.rules.support_rules import applying, rules_of
from calc.scenarios.inputs import BY_NAME, CATALOG_OF, LIST_OF
from calc.scenarios.join_choices import FORMATS
from calc.scenarios.lookups import work_of
from calc.scenarios.read import as_frame
from calc.table import ORIGINS

VERDICT = AFTER_MEMORY[:1]
BLOCK_COLUMNS = [
    *("stack", "block", "format", "attention", "vector", "kept"),
    *("size", "coefficient", "size_value"),
]
FORMULAS = {
    formula.__name__: formula
    for stage in (*STAGES[:2], *MEMORY, *VERDICT)
    for formula in stage.formulas
}
NEEDED = ("needed_bytes", "needed_low_bytes", "needed_high_bytes")  # what must fit, and its range
# In nvidia-smi, on a card with memory to spare.
NVIDIA_SMI_MEMORY = (
    "memory_bytes",
    "memory_low_bytes",
    "memory_high_bytes",
)
EXPLAINED = (*COMPONENTS, *NEEDED, *NVIDIA_SMI_MEMORY)
# Formulas that several components read; each is explained once.
SHARED = tuple(formula.__name__ for formula in formulas_of(layout) + formulas_of(pipeline_ends))
# How the columns of a choice begin in the joined table.
PREFIXES = {
    "implementation": "implementation_",
    "gpu": "gpu_",
}
COEFFICIENTS = {
    "head_coefficients": "heads",
    "outside_coefficients": "heads",
    "linear_forms": "blocks",
    "tower_forms": "blocks",
}
RULE_COLUMNS = (
    "what",
    "verdict",
    "effect",
    "needs",
    "instead",
    "source",
    "checked_on",
    "confidence",
)
CHOICES = "choices"  # the source of a column that follows from the choices of the scenario
ENDINGS = (
    ("_bytes_per_token", "B/token"),
    ("_bytes_each", "B/element"),
    ("_bytes", "B"),
    ("_tokens", "tokens"),
    ("_seconds", "s"),
    ("_ratio", "share"),
    ("_per_second", "per second"),
)


class Explanation(NamedTuple):
    """The peak, all moments, the formulas by component, the columns they read, a block's sizes."""

    phase: str
    moment: str
    moments: pd.DataFrame
    formulas: pd.DataFrame
    facts: pd.DataFrame
    blocks: pd.DataFrame


def explain(
    scenario: dict | pd.Series,
    catalogs: Catalogs,
    write_number: Callable[[str, Any], str] = plain_number,
) -> Explanation:
    """The Explanation of a scenario; `write_number(name, value)` writes its numbers."""
    table = walk(one_scenario(scenario, catalogs), VERDICT)
    moments = MOMENTS[work_of(table)]
    moment = moments[int(table["peak_moment"][0])]
    place = _place(moment, table)
    traced_columns = columns_to_trace(table)
    chains: list[dict] = []
    facts: dict[str, bool] = {}
    for component in EXPLAINED:
        top = moment.parts.get(component, component)
        if top in PASSING:
            nothing = TracedColumn(0.0)
            rows = [_row(component, "", nothing, nothing, write_number)]
        else:
            elsewhere = {*EXPLAINED, *SHARED} - {component, top}
            rows = chain([top], elsewhere, traced_columns, place, facts, write_number)
        chains += [{"component": component, "step": step, **row} for step, row in enumerate(rows)]
    shared_formulas = [name for row in chains for name in row["reads"] if name in SHARED]
    rows = chain(shared_formulas, {*EXPLAINED}, traced_columns, place, facts, write_number)
    chains += [{"component": "layout", "step": step, **row} for step, row in enumerate(rows)]
    return Explanation(
        phase=moment.phase,
        moment=moment.name,
        moments=_moments(moments, table),
        formulas=pd.DataFrame(chains),
        facts=pd.DataFrame([fact(name, table, catalogs) for name in facts]),
        blocks=_block_tables(table, catalogs),
    )


class Derivation(NamedTuple):
    """The formulas by the figure that they explain (component), and the columns that they read."""

    formulas: pd.DataFrame
    facts: pd.DataFrame


def derivation(
    figures: Mapping[str, Sequence[str]],
    table: Columns,
    formulas: Mapping[str, Callable],
    origin_of: Callable[[str], dict[str, str]],
    write_number: Callable[[str, Any], str],
    catalogs: Catalogs,
) -> Derivation:
    """Return the formulas behind figures (name -> columns); each formula is explained once.

    `origin_of(column)` says where a column that no formula makes comes from; if it is empty, the
    origin in the estimate of memory stands.
    """
    columns = columns_to_trace(table)
    rows: list[dict] = []
    facts: dict[str, bool] = {}
    for figure, names in figures.items():
        formulas_before = {row["formula"] for row in rows}
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            steps = chain(names, formulas_before, columns, (), facts, write_number, formulas)
        rows += [{"component": figure, "step": step, **row} for step, row in enumerate(steps)]
    origins = [fact(name, table, catalogs) | origin_of(name) for name in facts]
    return Derivation(pd.DataFrame(rows), pd.DataFrame(origins))


def _moments(moments: tuple[Moment, ...], table: Columns) -> pd.DataFrame:
    """Every moment in order: phase, the column of its working memory, name, bytes."""
    rows = []
    for number in moments_of_scenario(table, work_of(table)):
        moment = moments[number]
        rows.append(
            {
                "phase": moment.phase,
                "formula": moment.parts.get("working_bytes", "stored_weights_bytes"),
                "moment": moment.name,
                "bytes": float(np.ravel(table["moment_bytes"][number])[0]),
            }
        )
    return pd.DataFrame(sorted(rows, key=lambda row: PHASES.index(row["phase"])))


def _place(moment: Moment, table: Columns) -> tuple[int, ...]:
    """The (place, stack) at which a moment inside a block is largest; empty for others."""
    total = at_blocks(sum(table[column] for column in moment.parts.values()), table)
    if np.ndim(total) > 1:
        return tuple(
            int(index) for index in np.unravel_index(np.argmax(total[..., 0]), total.shape[:-1])
        )
    return ()


def chain(waiting, apart, columns, place, facts, write_number, formulas=FORMULAS) -> list[dict]:
    """Return the formulas behind some columns, each before those that it reads, without `apart`."""
    waiting, rows, seen = list(waiting), [], set(apart)
    while waiting:
        name = waiting.pop(0)
        if name in seen:
            continue
        seen.add(name)
        formula = formulas.get(name)
        if formula is None or not all(parameter in columns for parameter in parameters_of(formula)):
            facts[name] = True
            continue
        value = evaluate(formula, columns)
        value = value if isinstance(value, TracedColumn) else TracedColumn(value)
        if place and name.startswith(
            ("place_", "products_", "attention_", "gradients_", "reduction_")
        ):
            value = _at_place(value, place)
        live_value = live(value)
        rows.append(_row(name, _says(formula), value, live_value, write_number))
        waiting = columns_of_formula(live_value) + waiting
    return rows


def _at_place(node: Any, place: tuple[int, ...]) -> Any:
    """An equation over all places, reduced to one of them; sums over stacks are unchanged."""
    if not isinstance(node, TracedColumn):
        return node
    value = node.value
    if value.ndim == 3:
        value = value[place]
    elif value.ndim == 2:
        value = value[place[-1]]
    parts = (
        node.parts
        if node.op in ("sum", "max", "cumsum", "stack")
        else [_at_place(part, place) for part in node.parts]
    )
    return TracedColumn(value, name=node.name, op=node.op, parts=parts)


def _row(formula, says, result, figure, write_number) -> dict:
    """One step of a derivation: the formula, its equation, and its inputs and value today."""
    value = result.value if isinstance(result, TracedColumn) else np.asarray(result)
    return {
        "formula": formula,
        "says": says,
        "equation": text(result),
        "today": text(figure),
        "numbers": text(figure, write_number),
        "reads": tuple(columns_of_formula(figure)),
        "unit": _unit_of(formula),
        "value": np.atleast_1d(value).ravel().astype(float),
    }


def _says(function: Callable) -> str:
    """The docstring of a formula in one line, without its unit."""
    return re.sub(r" \[[^\]]+\]", "", " ".join((getdoc(function) or "").split()), count=1)


def _unit_of(name: str) -> str:
    """The unit of a column, by the ending of its name or else by the glossary."""
    default = GLOSSARY[name].unit if name in GLOSSARY else ""
    return next((unit for ending, unit in ENDINGS if name.endswith(ending)), default)


def fact(name: str, table: Columns, catalogs: Catalogs) -> dict:
    """A column that formulas read and none makes: its value and its origin."""
    came_from, source = _origin(name, table, catalogs)
    entry = GLOSSARY.get(name)
    means = entry.meaning if entry else name.removeprefix("stack_").replace("_", " ")
    value = np.ravel(table[name])
    return {
        "column": name,
        "means": means,
        "unit": _unit_of(name),
        "value": value,
        "from": came_from,
        "source": source,
    }


def _origin(name: str, table: Columns, catalogs: Catalogs) -> tuple[str, str]:
    """The place that a column comes from, and the source that its catalog entry names."""
    if name in BY_NAME or name.removeprefix("asked_") in BY_NAME:
        return "the scenario", "chosen"
    if name in FORMULAS:
        formula = FORMULAS[name]
        file = f"{formula.__module__.replace('.', '/')}.py"
        catalogs_of_coefficients = [
            COEFFICIENTS[column] for column in parameters_of(formula) if column in COEFFICIENTS
        ]
        if catalogs_of_coefficients:
            catalog = catalogs_of_coefficients[0]
            return f"{file} with {label_of(catalog)}", catalogs.about[catalog].get("source", "")
        return (file, CHOICES)
    # The inputs that the step of the join that makes this column reads.
    inputs = {column.removeprefix("asked_") for column in table[ORIGINS].made_of.get(name, ())}
    for choice, catalog in (CATALOG_OF | LIST_OF | {"model_kind": "model_kinds"}).items():
        frame = getattr(catalogs, catalog)
        entry = table[choice].in_row(0)
        if (
            choice not in inputs | {"model_kind"}
            or name.removeprefix(PREFIXES.get(choice, "")) not in frame.columns
        ):
            continue
        if choice in CATALOG_OF and entry in frame.index:
            return entry_source(
                name.removeprefix(PREFIXES.get(choice, "")), catalog, entry, catalogs
            )
        return f"{label_of('choices')}, {catalog}, {entry}", catalogs.about["choices"]["source"]
    if name in catalogs.overheads.index:
        return f"{label_of('overheads')}, {name}", catalogs.overheads.at[name, "source"]
    if "implementation" in inputs:
        return label_of("serving_engines"), catalogs.about["serving_engines"]["source"]
    if "model_row" in inputs:
        return entry_source("parameters", "models", table["model"].in_row(0), catalogs)
    return "calc/scenarios/join.py", CHOICES


def entry_source(column: str, catalog: str, entry: str, catalogs: Catalogs) -> tuple[str, str]:
    """The place of a column of an entry, and its source with its day."""
    (source,) = sources_of(
        column, {catalog: (entry, getattr(catalogs, catalog).loc[entry])}, catalogs
    )
    return source.place, ", ".join(filter(None, (source.text, source.day)))


def _block_tables(table: Columns, catalogs: Catalogs) -> pd.DataFrame:
    """Bytes that a block of each stack saves and needs: coefficient · size. [B per token]

    `kept` marks the vector that the scenario keeps; none does where adapters or kernels change it.
    A block that was not read off has no coefficients of its own.
    """
    is_read_off = (table["stack_layers"] > 0) & ~table["stack_block_unknown"]
    rows: list[Row] = []
    for stack in np.flatnonzero(np.ravel(is_read_off)):
        rows += _block_rows(table, int(stack), catalogs)
    coefficients = pd.DataFrame(rows, columns=BLOCK_COLUMNS)
    return coefficients.assign(
        bytes_per_token=coefficients["coefficient"] * coefficients["size_value"]
    )


def _block_rows(table: Columns, stack: int, catalogs: Catalogs) -> Iterator[Row]:
    """A row for each coefficient of the block of a stack."""
    trains = bool(table["trains"][0] > 0)
    block = list(catalogs.blocks)[int(table["stack_kind"][stack, 0])]
    number_format = FORMATS[int(table["activation_format"][0])]
    attention = block_forms.CASES[int(table["stack_attention_case"][stack, 0])]
    forms = {
        form["attention"]: form
        for form in catalogs.blocks[block]["forms"]
        if form["format"] == number_format
    }
    nearest = [name for name in (attention, *block_forms.FALLBACKS[attention]) if name in forms]
    form = forms[nearest[0]] if nearest else {}
    sizes = {
        name: float(np.broadcast_to(values, table["stack_layers"].shape)[stack, 0])
        for name, values in table["block_sizes"].items()
    }

    def bytes_of(vector: dict[str, float]) -> float:
        return sum(coefficient * sizes[size] for size, coefficient in vector.items())

    vectors = {name: form.get(name) or {} for name in block_forms.VECTORS} if trains else {}
    for moment in ("backward", "recomputed") if trains else ("forward",):
        vectors[moment] = max(form.get(moment) or [{}], key=bytes_of)
    kept_bytes = table["stack_kept_bytes_per_token"][stack, 0]
    for vector, coefficients in vectors.items():
        is_saved = vector in block_forms.VECTORS
        for size, coefficient in coefficients.items():
            yield {
                "stack": stack,
                "block": block,
                "format": number_format,
                "attention": attention,
                "vector": vector,
                "kept": is_saved and bool(np.isclose(bytes_of(coefficients), kept_bytes)),
                "size": size,
                "coefficient": float(coefficient),
                "size_value": sizes[size],
            }


def rules_that_apply(scenario: Row | pd.Series, catalogs: Catalogs) -> pd.DataFrame:
    """The rules that apply to a scenario on a card, worst first; none without a card."""
    part = next(parts(as_frame(dict(scenario)), catalogs))
    small, _ = distinct_rows(part.table, catalogs)
    if small["gpu_row"][0] < 0:
        return catalogs.support.iloc[:0][list(RULE_COLUMNS)]
    order = rules_of(catalogs).order
    return catalogs.support.iloc[order[applying(small, catalogs)[order, 0]]][list(RULE_COLUMNS)]
