"""The rules of the house: who may import whom, every column known and named with its unit, no file too long."""

import ast
import importlib
import inspect
import re
import sys
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest
from examples import catalogs

from calc.columns import GLOSSARY
from calc.explain.calculators import ORIGINS
from calc.models import architecture
from calc.scenarios import read

ROOT = Path(__file__).resolve().parent.parent
ROOMS = ("calc", "views", "refresh", "tests", "validation", "benchmarks")
LONGEST_LINES = 300

# Room or file -> the packages, beside Python's own, that it may import. The longest matching path counts.
MAY_IMPORT = {
    "calc": {"calc", "numpy", "pandas"},
    "calc/catalogs/strict_yaml.py": {"calc", "yaml"},
    "calc/catalogs/schema_check.py": {"calc", "jsonschema"},
    "views": {"calc", "views", "streamlit", "pandas", "numpy"},
    "views/charts": {"calc", "views", "altair", "pandas", "numpy"},
    "dashboard.py": {"calc", "views", "streamlit"},
    "refresh": {"calc", "refresh", "yaml", "boto3", "botocore"},
    "validation/simulate": {"validation", "calc", "numpy", "yaml", "torch", "transformers", "peft", "bitsandbytes"},
    "benchmarks": {"benchmarks", "calc", "numpy", "pandas", "dask"},
    "validation": {"calc", "validation", "numpy", "pandas", "torch", "transformers", "peft"},
}
# The rooms of calc from the top; a room imports only those below it. Rooms on one line are neighbours and never meet.
LEVELS = (
    *(("__main__",), ("calc",), ("doors",), ("search",), ("plan",), ("explain",), ("charts",), ("words",)),
    *(("estimate",), ("cost", "speed", "memory"), ("layout",), ("scenarios",), ("catalogs",), ("models",)),
    *(("columns",), ("evaluate",), ("units",)),
)
ONE_ROOM = {"pipeline": "estimate", "largest": "estimate"}
LEVEL = {room: level for level, rooms in enumerate(LEVELS) for room in rooms}
# Arrows that still break the rule. It must become empty: mend the import and take its line away.
KNOWN = {
    "calc.cost.bill -> calc.speed.ranges",
    "calc.cost.job -> calc.search.allowed",
    "calc.largest -> calc.pipeline, inside a function",
    "calc.largest -> calc.scenarios.read, inside a function",
    "calc.pipeline -> calc.largest, inside a function",
    "calc.scenarios.join -> calc.memory.saved_activations",
    "calc.words -> calc.charts.tables",
    "calc.words -> calc.search.allowed",
    "circle: calc.largest, calc.pipeline",
}
DOORS = {
    *("calc/catalogs/load.py", "calc/__main__.py", "calc/models/huggingface/config.py", "calc/doors/csv_tables.py"),
}
OPENERS = {"open", "read_text", "read_bytes", "write_text", "write_bytes", "read_csv", "to_csv"}

UNITS = {  # what a formula's docstring says in brackets -> how its name ends
    "B": r"_bytes(_each|_per_\w+)?$",
    "B/s": r"_bytes_per_second$",
    "FLOP": r"_flops(_per_\w+)?$",
    "FLOP/s": r"_flops_per_second$",
    "USD": r"_usd(_\w+)?$",
    "USD/h": r"_usd_per_hour(_\w+)?$",
    "h": r"_hours$",
    "parameters": r"(^|_)parameters(_here)?$|_matrix$|_vectors$|_biases$",
    "s": r"_seconds(_\w+)?$",
    "tokens": r"_tokens$|_positions$",
    "tokens/s": r"_tokens_per_second(_\w+)?$",
}
FOREIGN_UNITS = re.compile(r"_(kb|mb|gb|tb|kib|mib|gib|ms|us|percent|pct)$|^(num|n)_")
THEIR_OWN_UNITS = re.compile(r"origin_[abcd]_printed_gb")


def python_files(*rooms):
    found = [path for room in rooms for path in sorted((ROOT / room).rglob("*.py"))]
    return [*found, ROOT / "dashboard.py"] if "views" in rooms else found


def name_of(path):
    return path.relative_to(ROOT).as_posix()


@cache
def tree_of(path):
    return ast.parse(path.read_text(encoding="utf-8"))


def imported(path):
    """The packages that a file imports, Python's own left out."""
    names = set()
    for node in ast.walk(tree_of(path)):
        if isinstance(node, ast.Import):
            names |= {alias.name.split(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.level == 0:
            names.add(node.module.split(".")[0])
    return names - sys.stdlib_module_names


@pytest.mark.parametrize("path", python_files("calc", "views", "refresh", "validation", "benchmarks"), ids=name_of)
def test_imports_go_one_way(path):
    """dashboard -> views -> calc -> catalogs, and only the chart files know Altair, only the catalog reader YAML."""
    rule = max((rule for rule in MAY_IMPORT if name_of(path).startswith(rule)), key=len)
    assert imported(path) <= MAY_IMPORT[rule]


def module_of(path):
    return name_of(path).removesuffix(".py").replace("/", ".").removesuffix(".__init__")


def room_of(module):
    room = module.removeprefix("calc").removeprefix(".").partition(".")[0] or "calc"
    return ONE_ROOM.get(room, room)


@cache
def arrows():
    """Each import of one module of calc by another: (who, whom, whether inside a function)."""
    modules = {module_of(path): tree_of(path) for path in python_files("calc")}
    found = set()
    for who, tree in modules.items():
        inside = {node for outer in ast.walk(tree) if isinstance(outer, ast.FunctionDef | ast.Lambda) for node in ast.walk(outer)}
        for node in ast.walk(tree):
            named = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            if isinstance(node, ast.ImportFrom):
                assert not node.level, f"{who}: write the whole name of what is imported"
                own = [f"{node.module}.{alias.name}" for alias in node.names]
                named = [name if name in modules else node.module for name in own]
            found |= {(who, whom, node in inside) for whom in named if whom in modules}
    return found


def circle():
    """Modules that import one another, at load or later; empty where there are none."""
    below = {}
    for who, whom, _ in sorted(arrows()):
        below.setdefault(who, []).append(whom)
    try:
        TopologicalSorter(below).prepare()
    except CycleError as error:
        return sorted(set(error.args[1]))
    return []


def test_a_room_of_calc_imports_only_rooms_below_it():
    """Neither upwards nor across, no circle, and no import inside a function to hide one."""
    offences = set()
    for who, whom, inside in arrows():
        upper, lower = room_of(who), room_of(whom)
        if upper != lower and LEVEL[upper] >= LEVEL[lower]:
            offences.add(f"{who} -> {whom}")
        if inside:
            offences.add(f"{who} -> {whom}, inside a function")
    offences |= {f"circle: {', '.join(circle())}"} if circle() else set()
    assert sorted(offences) == sorted(KNOWN)


@pytest.mark.parametrize("path", python_files("calc"), ids=name_of)
def test_only_the_doors_of_calc_open_files(path):
    calls = [node.func for node in ast.walk(tree_of(path)) if isinstance(node, ast.Call)]
    named = {getattr(call, "attr", getattr(call, "id", "")) for call in calls}
    assert name_of(path) in DOORS or not named & OPENERS


@cache
def makers():
    """The functions that stand in tuples of formulas of calc: name -> all that have it."""
    found = {}
    for path in python_files("calc"):
        if path.stem != "__main__":
            module = importlib.import_module(module_of(path))
            groups = [value for value in vars(module).values() if isinstance(value, tuple | dict) and value]
            groups = [group.values() if isinstance(group, dict) else (group,) for group in groups]
            for group in (group for groups_of_one in groups for group in groups_of_one):
                if isinstance(group, tuple) and group and all(inspect.isfunction(value) for value in group):
                    for formula in group:
                        found.setdefault(formula.__name__, set()).add(formula)
    return found


def formulas():
    return {name: next(iter(made)) for name, made in makers().items()}


def test_a_column_has_one_maker():
    """No two formulas have the same name, in whatever room they stand."""
    assert {name: sorted(one.__module__ for one in made) for name, made in makers().items() if len(made) > 1} == {}


@cache
def catalog_columns():
    """The columns that come from the catalogs, under the names that the joined table has for them."""
    held = catalogs()
    prefixes = {"stacks": "stack_", "gpus": "gpu_", "instances": "instance_", "implementations": "implementation_"}
    tables = ("models", "precisions", "optimizers", "shardings", "recomputes", "prices", *prefixes)
    names = {prefixes.get(table, "") + name for table in tables for name in getattr(held, table).columns}
    traits = {name for family in held.families.values() for name in family}
    names |= set(held.stacks.columns)  # bare while the stack itself is counted
    for prefix, table in (("card_", held.utilization), ("engine_", held.engines), ("kernel_", held.kernels)):
        names |= {prefix + name for name in table.columns}
    return names | traits | set(architecture.ABSENT)


def test_every_column_that_a_formula_reads_is_known():
    """It is a scenario column, a column of a catalog, what another formula makes, or in the glossary."""
    known = {*read.inputs_by_name(), *catalog_columns(), *formulas(), *GLOSSARY, *origin_columns()}
    asked = {name for formula in formulas().values() for name in inspect.signature(formula).parameters}
    assert sorted(asked - known) == []


def origin_columns():
    """The columns that the four systems' own choices make, and their totals."""
    reads = {read for origin in ORIGINS for _, read, _ in origin.choices + origin.training_choices}
    return reads | {f"origin_{origin.letter}_bytes" for origin in ORIGINS}


def test_a_formula_says_its_unit_and_its_name_ends_in_it():
    wrong = []
    for name, formula in formulas().items():
        said = re.findall(r"\[([^\]]+)\]", inspect.getdoc(formula) or "")
        ending = next((UNITS[unit] for unit in said if unit in UNITS), None)
        if not inspect.getdoc(formula) or (ending and not re.search(ending, name)):
            wrong.append(name)
        if name.endswith("_bytes") and "B" not in said:
            wrong.append(name)
    assert not wrong


def test_no_column_has_a_foreign_unit_or_a_prefix_for_counts():
    """Bytes, seconds and USD inside; GiB and percent are born where they are shown."""
    parameters = {parameter for formula in formulas().values() for parameter in inspect.signature(formula).parameters}
    names = {name for name in parameters | set(formulas()) if FOREIGN_UNITS.search(name)}
    assert {name for name in names if not THEIR_OWN_UNITS.fullmatch(name)} == set()


def test_formulas_have_no_defaults():
    """A default lives with the controls and the catalogs, where it can be seen."""
    with_default = {
        name
        for name, formula in formulas().items()
        if any(parameter.default is not parameter.empty for parameter in inspect.signature(formula).parameters.values())
    }
    assert with_default == set()


@pytest.mark.parametrize("path", python_files(*ROOMS), ids=name_of)
def test_no_file_is_two_rooms(path):
    assert len(path.read_text(encoding="utf-8").splitlines()) <= LONGEST_LINES


@pytest.mark.parametrize("path", python_files(*ROOMS), ids=name_of)
def test_no_path_of_one_machine(path):
    machine = re.compile(r"(^|[^\w./])/(home|root|tmp|work|Users|mnt)/")
    constants = [node.value for node in ast.walk(tree_of(path)) if isinstance(node, ast.Constant)]
    assert not [text for text in constants if isinstance(text, str) and machine.search(text)]


@pytest.mark.parametrize("path", [ROOT / "requirements.txt", *sorted((ROOT / "requirements").glob("*.txt"))], ids=name_of)
def test_requirements_are_pinned_and_name_no_package_index(path):
    lines = path.read_text(encoding="utf-8").splitlines()
    assert [line for line in lines if not re.fullmatch(r"[\w-]+(\[\w+\])?==[\d.]+|-r [\w./]+|# .*", line)] == []
