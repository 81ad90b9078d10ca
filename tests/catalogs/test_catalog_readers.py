"""Files of the catalogs that functions read beside the tables: each is read again as it changes."""

import ast
import importlib
import pkgutil
import re
from pathlib import Path

import calc
from calc.catalogs.load import BESIDE, READERS, read_again

CALC = Path(calc.__file__).parent


def catalogs_of(path):
    """The catalogs whose classes a module imports: name in the module -> catalog."""
    return {
        alias.asname or alias.name: alias.name
        for node in ast.parse(path.read_text(encoding="utf-8")).body
        if isinstance(node, ast.ImportFrom) and node.module == "calc.catalogs.schemas"
        for alias in node.names
    }


def readers_in(path):
    """The functions of a module that read a file beside the tables: (function, file)."""
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        for call in ast.walk(node) if isinstance(node, ast.FunctionDef) else ():
            called = getattr(call.func, "id", "") if isinstance(call, ast.Call) else ""
            if called == "read_document":
                yield node, call.args[1].value
            elif called == "read_catalog":
                yield node, catalogs_of(path)[call.args[0].value.id]


def test_every_function_that_reads_a_file_registers_itself_and_every_file_has_one():
    found = [
        (node, name)
        for path in sorted(CALC.rglob("*.py"))
        if path.name != "load.py"
        for node, name in readers_in(path)
    ]
    assert {name for _, name in found} == set(BESIDE)
    for node, _ in found:
        assert [mark.id for mark in node.decorator_list] == ["read_once"], node.name


def test_what_was_read_is_read_again():
    for _, name, _ in pkgutil.walk_packages(calc.__path__, "calc."):
        if not name.endswith("__main__"):
            importlib.import_module(name)
    names = [reader.__name__ for reader in READERS]
    assert {"printed_of_runs", "torchtune_recipes", "vocabulary"} <= set(names)
    before = [reader() for reader in READERS]
    read_again()
    after = [reader() for reader in READERS]
    assert after == before
    same = [
        name
        for name, old, new in zip(names, before, after, strict=True)
        if new is old and not isinstance(new, re.Pattern)  # which Python keeps by its text
    ]
    assert same == []
