"""The rules of columns: one maker each, every one known and explained, named with its unit; no
formula asks for a name.
"""

import ast
import importlib
import inspect
import pkgutil
import re
import textwrap
from functools import cache

import pandas as pd
from examples import catalogs, entries, recorded

import calc
from calc.columns import COMPONENTS, GLOSSARY
from calc.engine.one_scenario import one_scenario
from calc.engine.pipeline import COLUMNS
from calc.engine.stages import FORMULAS, STAGES, TURNS_AT_HITS
from calc.models import architecture
from calc.scenarios import read
from calc.scenarios.join_models import SET_BY_SCENARIO

# Columns of models, as the joined table has them.
JOINED_AS = {
    "model_": SET_BY_SCENARIO,
    "stack_": architecture.STACK_COLUMNS,
}
# What a formula's docstring says in brackets -> how its name ends.
UNITS = recorded("cases/columns.json")["units"]
FOREIGN_UNITS = re.compile(r"_(kb|mb|gb|tb|kib|mib|gib|ms|us|percent|pct)$|^(num|n)_")


@cache
def makers():
    """The formulas of the stages, of models and of explanations, by the name of the column that
    they make: all that make it.
    """
    makers = {}
    for _, name, _ in pkgutil.walk_packages(calc.__path__, "calc."):
        if name.startswith(("calc.models.", "calc.explain.")):
            module = importlib.import_module(name)
            groups = [
                value
                for value in vars(module).values()
                if isinstance(value, tuple | dict) and value
            ]
            for group in (
                group
                for value in groups
                for group in (value.values() if isinstance(value, dict) else (value,))
            ):
                if isinstance(group, tuple) and group and all(is_named(value) for value in group):
                    for formula in group:
                        makers.setdefault(column_of(formula), set()).add(formula)
    for formula in (formula for stage in STAGES for formula in stage.formulas):
        makers.setdefault(column_of(formula), set()).add(formula)
    return makers


def is_named(value):
    return inspect.isfunction(value) and value.__name__ != "<lambda>"


def column_of(formula):
    """The column that a formula makes, under the name that it has in the joined table where it
    comes from the models.
    """
    name = formula.__name__
    return (
        next(
            (prefix for prefix, names in JOINED_AS.items() if of_models(formula) and name in names),
            "",
        )
        + name
    )


def of_models(formula):
    return formula.__module__.startswith("calc.models.")


def formulas():
    return {name: next(iter(made)) for name, made in makers().items()}


def test_a_column_has_one_maker():
    """No two formulas make the same column, in whatever room they stand; each runs in one stage."""
    assert {
        name: sorted(one.__module__ for one in made)
        for name, made in makers().items()
        if len(made) > 1
    } == {}
    run = [formula for stage in STAGES for formula in stage.formulas]
    assert sorted(formula.__name__ for formula in run) == sorted(FORMULAS)


def test_a_function_with_a_unit_is_reached_from_a_stage():
    """Beside the stages' formulas only what these call says a unit in their modules."""
    modules = {inspect.getmodule(formula) for formula in FORMULAS.values()}
    functions = {
        value
        for module in modules
        for value in map(inspect.unwrap, filter(inspect.isfunction, vars(module).values()))
    }
    with_unit = {function for function in functions if set(units_of(function)) & set(UNITS)}
    used = set().union(*(reached(formula) for formula in FORMULAS.values()))
    assert {f"{function.__module__}.{function.__name__}" for function in with_unit - used} == set()


def units_of(function):
    return re.findall(r"\[([^\]]+)\]", inspect.getdoc(function) or "")


@cache
def reached(function):
    """A function and those of calc that it calls by name, and these again."""
    functions, waiting = set(), [function]
    while waiting:
        one = inspect.unwrap(waiting.pop())
        if one not in functions and one.__module__.startswith("calc."):
            functions.add(one)
            named = (
                one.__globals__.get(node.id)
                for node in ast.walk(body_of(one))
                if isinstance(node, ast.Name)
            )
            waiting += [value for value in named if inspect.isfunction(value)]
    return functions


def body_of(function):
    return ast.parse(textwrap.dedent(inspect.getsource(function)))


def words_compared(function):
    """The words that a function compares with something, spelled out or under a name; the empty
    word is none.
    """
    for node in ast.walk(body_of(function)):
        for part in ast.walk(node) if isinstance(node, ast.Compare | ast.MatchValue) else ():
            value = getattr(part, "value", None) if isinstance(part, ast.Constant) else None
            if isinstance(part, ast.Name):
                value = function.__globals__.get(part.id)
            values = value if isinstance(value, tuple | list | set | frozenset | dict) else (value,)
            yield from (word for word in values if isinstance(word, str) and word)
        if isinstance(node, ast.Attribute) and node.attr in ("are", "at", "each"):
            yield f".{node.attr}"  # Words asked for the word itself


def test_no_formula_asks_for_a_name():
    """What tells one model, card or software from another is a number of a catalog, not a branch on
    its name.
    """
    asking = {
        (name, word)
        for name, formula in FORMULAS.items()
        for one in reached(formula)
        for word in words_compared(one)
    }
    assert asking == set()


@cache
def joined():
    """The columns of the joined table before any formula has run, one kind of work beside the
    other.
    """
    scenarios = (
        {"model": "t5-base", "work": work, "pipeline_parallel": 2, "gpus": 2}
        for work in ("training", "inference")
    )
    tables = [one_scenario(scenario, catalogs()) for scenario in scenarios]
    return {name for table in tables for name in table if not name.startswith("moment_")} - {
        *FORMULAS,
        "rows",
        "origins",
    }


def moments():
    """Columns that the engine makes beside formulas: components at moments, turns at given hits."""
    return {"moment_bytes", TURNS_AT_HITS, *(f"moment_{name}" for name in COMPONENTS[:-1])}


@cache
def sizes_of_models():
    """What the formulas of a model and of its stacks find: the entry, the traits of its family, and
    each other.
    """
    described = (
        architecture.describe_model(entry, catalogs().families)
        for entry in entries("models").values()
    )
    return {name for model, stacks in described for columns in (model, *stacks) for name in columns}


def test_every_column_that_a_formula_reads_is_known():
    """A stage's formula reads the joined table, other formulas and moments; a model's the model."""
    unknown = set()
    for formula in (formula for made in makers().values() for formula in made):
        columns = sizes_of_models() if of_models(formula) else {*joined(), *moments(), *FORMULAS}
        unknown |= {
            (formula.__name__, name)
            for name in inspect.signature(formula).parameters
            if name not in columns
        }
    assert unknown == set()


@cache
def catalog_columns():
    """The columns and numbers of all catalogs, each under its own name."""
    read_in = catalogs()
    tables = [value for value in vars(read_in).values() if isinstance(value, pd.DataFrame)]
    numbers = (read_in.overheads, read_in.time_constants, read_in.assumptions, read_in.starts)
    return {name for table in tables for name in table.columns}.union(
        *(table.index for table in numbers)
    )


def test_every_joined_column_is_explained_and_the_glossary_has_none_that_is_gone():
    """It is a scenario column or a catalog's, under one word that says whose (gpu_, asked_), or it
    is in the glossary.
    """
    explained = {*read.inputs_by_name(), *catalog_columns(), *GLOSSARY}
    assert sorted(name for name in joined() if not {name, name.partition("_")[2]} & explained) == []
    assert sorted(set(GLOSSARY) - {*joined(), *moments(), *FORMULAS, *COLUMNS}) == []


def test_a_formula_says_its_unit_and_its_name_ends_in_it():
    wrong = []
    for name, formula in formulas().items():
        units = units_of(formula)
        ending = next((UNITS[unit] for unit in units if unit in UNITS), None)
        if not inspect.getdoc(formula) or (ending and not re.search(ending, name)):
            wrong.append(name)
        if name.endswith("_bytes") and "B" not in units:
            wrong.append(name)
    assert not wrong


def test_no_column_has_a_foreign_unit_or_a_prefix_for_counts_and_no_formula_a_default():
    """Bytes, seconds and USD inside; GiB and percent are born where they are shown, defaults where
    the catalogs are read.
    """
    parameters = {
        name: inspect.signature(formula).parameters for name, formula in formulas().items()
    }
    assert {
        name
        for names in parameters.values()
        for name in (*names, *parameters)
        if FOREIGN_UNITS.search(name)
    } == set()
    assert {
        name
        for name, signature in parameters.items()
        if any(one.default is not one.empty for one in signature.values())
    } == set()
