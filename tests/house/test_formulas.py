"""Laws of the formulas: each has a line that a search finds, words of its own, and a source."""

import inspect
import re
from collections import defaultdict
from pathlib import Path

import pytest

from calc.engine.stages import FORMULAS
from calc.evaluate import evaluate, parameters_of, variant

# What a docstring says of where a formula comes from: a paper, a source file, data of the project,
# simulated steps, or its definition.
SOURCE = re.compile(
    r"\bSource(?: of [\w ]+)?:\s+\S|\barXiv\s\d|\bRead off\s|\bBy definition\b|catalogs/\w+/\w+"
)
CALC = Path(__file__).resolve().parents[2] / "calc"


def test_every_formula_has_a_line_that_a_search_for_its_column_finds():
    """`grep -rn "def NAME" calc` or `grep -rn "NAME =" calc` prints it."""
    source = "\n".join(path.read_text(encoding="utf-8") for path in sorted(CALC.rglob("*.py")))
    lines = set(re.findall(r"^def (\w+)\(|^(\w+) = ", source, re.MULTILINE))
    found = {name for pair in lines for name in pair}
    assert sorted(set(FORMULAS) - found) == []


def test_a_formula_stands_in_its_module_under_its_own_name():
    """A variant is assigned to the name of the column that it makes."""
    wrong = [
        name
        for name, formula in FORMULAS.items()
        if vars(inspect.getmodule(formula)).get(name) is not formula
    ]
    assert wrong == []


def test_no_two_formulas_share_a_docstring():
    names = defaultdict(list)
    for name, formula in FORMULAS.items():
        names[inspect.getdoc(formula)].append(name)
    assert [several for several in names.values() if len(several) > 1] == []


def test_every_formula_names_its_source():
    """In its docstring, or in that of its module."""
    without = [
        name
        for name, formula in FORMULAS.items()
        if not SOURCE.search(inspect.getdoc(formula) or "")
        and not SOURCE.search(inspect.getdoc(inspect.getmodule(formula)) or "")
    ]
    assert without == []


def test_a_formula_that_follows_another_names_one():
    """`Source: as NAME` leads to a formula with a source of its own."""
    wrong = {}
    for name, formula in FORMULAS.items():
        for other in re.findall(r"Source: as (\w+)", inspect.getdoc(formula) or ""):
            told = inspect.getdoc(FORMULAS[other]) if other in FORMULAS else ""
            if f"Source: as {name}" in told or not told:
                wrong[name] = other
    assert wrong == {}


def test_a_variant_reads_and_makes_the_renamed_columns():
    def low_seconds(low_share, high_share, seconds):
        """Low end. [s]"""
        return low_share * seconds - high_share

    high_seconds = variant(low_seconds, rename={"low": "high", "high": "low"}, doc="High end. [s]")
    assert high_seconds.__name__ == "high_seconds"
    assert parameters_of(high_seconds) == ("high_share", "low_share", "seconds")
    table = {"low_share": 1.0, "high_share": 3.0, "seconds": 10.0}
    assert evaluate(low_seconds, table) == 7.0
    assert evaluate(high_seconds, table) == 29.0
    assert (low_seconds.__doc__, high_seconds.__doc__) == ("Low end. [s]", "High end. [s]")


def test_a_variant_under_the_name_of_its_formula_is_refused():
    def seconds(tokens):
        return tokens

    with pytest.raises(ValueError, match="must change the name of seconds"):
        variant(seconds, rename={"tokens": "words"}, doc="The same name. [s]")
