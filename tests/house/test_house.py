"""The rules of the house: who may import whom, who may open files, no file too long."""

import ast
import re
import sys
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
ROOMS = ("calc", "shelf", "views", "refresh", "tests", "validation", "benchmarks")
WITH_DOCSTRINGS = ("calc", "views", "refresh", "shelf", "validation", "benchmarks")
LONGEST_LINES = 400
LONGEST_FUNCTION_LINES = 40
LONGEST_FIRST_LINE = 90  # of a docstring
# Words that begin a riddle, not the name of a quantity or an action.
RIDDLES = re.compile(r"(What|That|Of|As|Whether|How|Where|Those|The same|Kept|Held)\b")
MOST_PARAMETERS = 10  # of a function in calc: what reads more has a quantity in it without a name

# Room or file -> the packages, beside Python's own, that it may import. The longest matching path
# counts.
MAY_IMPORT = {
    "calc": {"calc", "numpy", "pandas"},
    "calc/commands/serve_mcp.py": {"calc", "mcp", "pydantic"},
    "calc/commands/many_files.py": {"calc", "distributed", "pandas"},
    "calc/catalogs/strict_yaml.py": {"calc", "yaml"},
    "calc/catalogs/schema_check.py": {"calc", "jsonschema"},
    "calc/catalogs/load.py": {"calc", "msgspec", "numpy", "pandas"},
    "calc/catalogs/schemas": {"calc", "msgspec"},
    "calc/files/configs/yaml_text.py": {"calc", "yaml"},
    "calc/files/launch/file_formats.py": {"calc", "yaml"},
    "calc/files/hub.py": {"calc", "huggingface_hub"},
    "calc/files/words/name_parts.py": {"calc", "rapidfuzz"},
    "calc/files/bills/bill_reader.py": {"calc", "pandas", "pyarrow"},
    "calc/files/traces.py": {"calc", "numpy", "pandas", "pyarrow"},
    "calc/files/data_sets.py": {"calc", "numpy", "pandas", "pyarrow"},
    "calc/files/parts.py": {"calc", "numpy", "pandas", "pyarrow"},
    "calc/schedule/solver.py": {"calc", "ortools"},
    "shelf": {"shelf"},
    "shelf/stores.py": {"shelf", "sqlalchemy"},
    "views": {"calc", "shelf", "views", "streamlit", "pandas", "numpy"},
    "views/charts": {"calc", "views", "altair", "pandas", "numpy"},
    "dashboard.py": {"calc", "views", "streamlit"},
    "refresh": {"calc", "refresh", "yaml", "boto3", "botocore"},
    "validation/simulate": {
        "validation",
        "calc",
        "numpy",
        "yaml",
        "torch",
        "transformers",
        "peft",
        "bitsandbytes",
    },
    "validation/launch_parsers.py": {
        *(
            "yaml",
            "torch",
            "transformers",
            "trl",
            "accelerate",
            "deepspeed",
            "axolotl",
            "omegaconf",
            "sglang",
            "vllm",
        ),
        *("hydra", "llamafactory", "sky", "torchtitan", "torchtune"),
    },
    "validation/league_packages.py": {
        *("calc", "numpy", "pandas"),
        *(
            "ftuneai",
            "gpu_estimator",
            "iaexplore_llm_profiler",
            "llm_analysis",
            "llm_sizer",
            "modelinfo",
            "vramcalc",
            "vramscout",
        ),
    },
    "benchmarks": {"benchmarks", "calc", "numpy", "pandas"},
    "benchmarks/floor_page.py": {"altair", "numpy", "pandas", "streamlit"},
    "benchmarks/visitor.py": {"streamlit", "websockets"},
    "benchmarks/wall.py": {"benchmarks", "playwright"},
    "validation": {"calc", "validation", "numpy", "pandas", "torch", "transformers", "peft"},
    "validation/queues": {"calc", "validation", "numpy", "pandas", "ciw", "simpy"},
}
# The rooms of calc from the top; a room imports only those below it. Rooms on one line are
# neighbors and never meet. The words of remarks are below the engine, because `estimate` calls them
# at its end, and those of a model's entry below the readers of configs, which write entries.
LEVELS = (
    ("__main__",),
    ("commands",),
    ("calc",),
    ("files", "schedule", "charts"),
    ("answers",),
    ("say",),
    ("studies",),
    ("search",),
    ("job",),
    ("plan",),
    ("explain",),
    ("engine",),
    ("say.remarks",),
    ("cost", "speed", "memory"),
    ("layout", "rules", "state_pool"),
    ("scenarios",),
    ("columns",),
    ("catalogs",),
    ("models",),
    ("say.model_entry", "layout_place_table"),
    ("table",),
    ("evaluate", "mappings", "remarks", "units", "versions"),
)
LEVEL = {room: level for level, rooms in enumerate(LEVELS) for room in rooms}
DOORS = {
    *("calc/__main__.py", "calc/columns.py", "calc/explain/calculators.py", "calc/say/setting.py"),
    *("calc/versions.py", "calc/models/huggingface/config.py"),
    *(
        f"calc/catalogs/{name}.py"
        for name in ("checked_documents", "history", "load", "schemas/__main__")
    ),
    *(f"calc/files/{name}.py" for name in ("hub", "launch_files", "model_configs", "streams")),
    *(
        *("calc/files/csv/tables.py", "calc/files/csv/earlier.py"),
        *(f"calc/commands/{name}.py" for name in ("command", "imports", "oom", "serve_mcp")),
    ),
}
# Its modules are named after catalogs, and a class is found by its module: prices.Spot.
CATALOG_CLASSES = ROOT / "calc" / "catalogs" / "schemas"
# Public names of calc that two modules define, and why both keep it.
DEFINED_TWICE = {
    "main": "each program and each command has one",
    "add_arguments": "each command has one",
    "head_parameters": "a column of a model's entry, and of a scenario with its ties",
    "outside_parameters": "the same",
    "outputs": "the same: of a head of words, or of one number",
    "longest_sequence_tokens": "the same: of the entry, and the bound of a row",
    "billed_hours": "the column of a market, and of a job's grid",
    "usd": "the column of money, and money in words",
    "place": "the place of a join, and a place in words",
    "offers": "the prices of one instance, and of the places of a grid",
    "work_of": "of a stage's scenario, and of a job's fields",
    "Job": "what a team asks for, and what it costs",
    "Problem": "why a job has no answer, and what a schedule solves",
    "Part": "a part of an estimated table, and of a grid",
}
OPENERS = {"open", "read_text", "read_bytes", "write_text", "write_bytes", "read_csv", "to_csv"}


def python_files(*rooms):
    paths = [path for room in rooms for path in sorted((ROOT / room).rglob("*.py"))]
    return [*paths, ROOT / "dashboard.py"] if "views" in rooms else paths


def name_of(path):
    return path.relative_to(ROOT).as_posix()


@cache
def tree_of(path):
    return ast.parse(path.read_text(encoding="utf-8"))


@cache
def nodes_of(path):
    return list(ast.walk(tree_of(path)))


def imported(path):
    """The packages that a file imports, Python's own left out."""
    names = set()
    for node in nodes_of(path):
        if isinstance(node, ast.Import):
            names |= {alias.name.split(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.level == 0:
            names.add(node.module.split(".")[0])
    return names - sys.stdlib_module_names


def test_imports_go_one_way():
    """dashboard -> views -> calc -> catalogs, the shelf beside calc, and only the chart files know
    Altair, only the catalog reader YAML.
    """
    offences = {}
    for path in python_files("calc", "shelf", "views", "refresh", "validation", "benchmarks"):
        rule = max((rule for rule in MAY_IMPORT if name_of(path).startswith(rule)), key=len)
        offences[name_of(path)] = imported(path) - MAY_IMPORT[rule]
    assert {name: packages for name, packages in offences.items() if packages} == {}


def module_of(path):
    return name_of(path).removesuffix(".py").replace("/", ".").removesuffix(".__init__")


def room_of(module):
    """The room of a module: a folder of calc, or a part of one that LEVELS names."""
    parts = module.split(".")[1:]
    part_of_room = ".".join(parts[:2])
    return part_of_room if part_of_room in LEVEL else (parts or ["calc"])[0]


@cache
def arrows():
    """Each import of one module of calc by another: (who, whom, whether inside a function)."""
    modules = {module_of(path): tree_of(path) for path in python_files("calc")}
    pairs = set()
    for who, tree in modules.items():
        inside = {
            node
            for outer in ast.walk(tree)
            if isinstance(outer, ast.FunctionDef | ast.Lambda)
            for node in ast.walk(outer)
        }
        for node in ast.walk(tree):
            named = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            if isinstance(node, ast.ImportFrom):
                assert not node.level, f"{who}: write the whole name of what is imported"
                names = [f"{node.module}.{alias.name}" for alias in node.names]
                named = [name if name in modules else node.module for name in names]
            pairs |= {(who, whom, node in inside) for whom in named if whom in modules}
    return pairs


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
    assert sorted(offences) == []


def test_only_the_doors_of_calc_open_files():
    for path in python_files("calc"):
        calls = [node.func for node in nodes_of(path) if isinstance(node, ast.Call)]
        named = {getattr(call, "attr", getattr(call, "id", "")) for call in calls}
        assert name_of(path) in DOORS or not named & OPENERS, name_of(path)


def test_no_file_is_two_rooms():
    lines = {
        name_of(path): len(path.read_text(encoding="utf-8").splitlines())
        for path in python_files(*ROOMS)
    }
    assert {name: count for name, count in lines.items() if count > LONGEST_LINES} == {}


def docstrings(path):
    """Every docstring of a file: (name, text)."""
    nodes = [
        node
        for node in nodes_of(path)
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef)
    ]
    return [
        (getattr(node, "name", ""), text) for node in nodes if (text := ast.get_docstring(node))
    ]


def test_a_docstring_begins_with_one_short_sentence():
    for path in python_files(*WITH_DOCSTRINGS):
        long = [
            name
            for name, text in docstrings(path)
            if len(text.splitlines()[0]) > LONGEST_FIRST_LINE
        ]
        assert long == [], name_of(path)


def test_a_docstring_begins_with_a_quantity_or_an_action():
    """Not with What, Whether, Of and the like."""
    for path in python_files(*WITH_DOCSTRINGS):
        riddles = [name for name, text in docstrings(path) if RIDDLES.match(text)]
        assert riddles == [], name_of(path)


def test_a_function_fits_on_a_screen():
    longer = [
        f"{name_of(path)}: {node.name}"
        for path in python_files("calc", "views", "refresh", "shelf")
        for node in nodes_of(path)
        if isinstance(node, ast.FunctionDef)
        and node.end_lineno - node.lineno + 1 > LONGEST_FUNCTION_LINES
    ]
    assert longer == []


def test_a_public_name_is_defined_once_in_calc():
    places = {}
    for path in python_files("calc"):
        if path.is_relative_to(CATALOG_CLASSES):
            continue
        for node in tree_of(path).body:
            if isinstance(node, ast.FunctionDef | ast.ClassDef) and not node.name.startswith("_"):
                places.setdefault(node.name, []).append(name_of(path))
    several = {name: files for name, files in places.items() if len(files) > 1}
    assert {name: files for name, files in several.items() if name not in DEFINED_TWICE} == {}
    assert set(DEFINED_TWICE) - set(several) <= {"main", "add_arguments"}, (
        "no longer defined twice: take it out of the list"
    )


def test_a_formula_reads_few_columns():
    functions = [
        node
        for path in python_files("calc")
        for node in nodes_of(path)
        if isinstance(node, ast.FunctionDef)
    ]
    assert [node.name for node in functions if len(node.args.args) > MOST_PARAMETERS] == []


def test_no_path_of_one_machine():
    machine = re.compile(r"(^|[^\w./])/(home|root|tmp|work|Users|mnt)/")
    for path in python_files(*ROOMS):
        constants = [node.value for node in nodes_of(path) if isinstance(node, ast.Constant)]
        assert [
            text for text in constants if isinstance(text, str) and machine.search(text)
        ] == [], name_of(path)


def test_requirements_are_pinned_and_name_no_package_index():
    pinned = re.compile(r"[\w-]+(\[\w+\])?==[\d.]+(post\d+)?|-r [\w./]+|# .*")
    for path in [ROOT / "requirements.txt", *sorted((ROOT / "requirements").glob("*.txt"))]:
        assert [
            line
            for line in path.read_text(encoding="utf-8").splitlines()
            if not pinned.fullmatch(line)
        ] == [], name_of(path)
