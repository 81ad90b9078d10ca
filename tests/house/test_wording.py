"""Words come last: no sentence below calc/say, and nothing reads a sentence to make a decision."""

import ast

import pytest
from test_house import LEVEL, ROOT, module_of, name_of, python_files, room_of, tree_of

# Rooms below say that still form sentences, and how many: the count can only fall.
SENTENCES_LEFT = {"catalogs": 5, "plan": 3, "speed": 4}
BELOW_SAY = tuple(
    room for room in LEVEL if LEVEL[room] > LEVEL["say"] and not room.startswith("say.")
)
# An error says in its own words which entry is wrong and what to do. Besides what is raised in
# place, these functions raise with the words they are given, and these files form those words.
RAISING = {"_refuse", "_check", "_check_alike", "Fault", "must_divide", "whole_number"}
ERROR_WORDS = {
    "calc/catalogs/faults.py": "what a violation of a schema means",
    "calc/catalogs/strict_yaml.py": "what YAML would read otherwise than it is written",
}
DESCRIPTIONS = ROOT / "calc" / "catalogs" / "schemas"  # of fields: docstrings for editors
SENTENCE_SPACES = 2
IDS = {"serving in 16 bits", "full in 8 bits"}  # ids of tasks in the catalog of number formats
TEXT_COLUMNS = {"problem", "note", "why", "limits_cost", "misses"}
OTHER_TEXTS = {"calc/models/huggingface/config.py"}  # why a config is not read, not an answer's why
CUTS = {"partition", "rpartition", "split", "removesuffix", "removeprefix", "replace"}
CUTS |= {"startswith", "endswith", "find", "index"}
# Rooms that read what other people wrote, and files that cut at words for a reason of their own.
READ_TEXTS = ("calc/files", "calc/models/huggingface", "calc/catalogs")
CUT_AT_WORDS = {
    "calc/charts/bills.py": "a name on several lines",
    "calc/commands/command.py": "numbers of rows with one name",
    "calc/scenarios/releases.py": "the releases of a catalog, from one to another",
    "views/frame/report.py": "an attribute of SVG",
    "views/session/results.py": "the date in the README of the results",
    "views/shared/answer_words.py": "spaces at which no line is broken",
}
# British spellings that this project writes the American way. What people type is read in both, in
# calc/files/words and its vocabulary.
BRITISH = (
    *("neighbour", "behaviour", "favourite", "modelled", "modelling", "labelled", "judgement"),
    *("quantis", "recognis", "normalis", "initialis", "optimise", "minimise", "maximise"),
    *("summarise", "misspelt", "centre", "grey", "licences"),
)
# Words that this project once used for things that have a name: compute, cost, a card with memory
# to spare, exceeds, relax, active.
PRIVATE = ("worked out", "the money", "roomy", "in the way", "loosen", "people active")
READ_IN_BOTH = {"calc/files/words", "catalogs/edited/vocabulary.yaml"}


def raised_strings(tree):
    """Nodes inside a raise, an assert's message, an error, or a call of a function that raises."""
    for node in ast.walk(tree):
        name = getattr(node.func, "id", "") if isinstance(node, ast.Call) else ""
        is_error = name in RAISING or name.endswith("Error")
        if is_error or isinstance(node, ast.Raise | ast.Assert):
            yield from ast.walk(node)


def docstrings_of(tree):
    """Docstrings, those given to a variant of a formula (`doc=`), and types in quotes."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef) and node.body:
            first = node.body[0]
            if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant):
                yield first.value
        if isinstance(node, ast.Call):
            yield from (word.value for word in node.keywords if word.arg == "doc")
        if isinstance(node, ast.AnnAssign):
            yield node.annotation


def sentences(path):
    """String constants of a file with at least two spaces, without docstrings and errors."""
    tree = tree_of(path)
    left_out = {*raised_strings(tree), *docstrings_of(tree)}
    return [
        node.value
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant)
        and isinstance(node.value, str)
        and node.value.strip().count(" ") >= SENTENCE_SPACES
        and node.value not in IDS
        and node not in left_out
    ]


def text_read(node):
    """The text column that an expression reads, if it is one: row["why"], options.problem."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "str":
        return text_read(node.args[0]) if node.args else ""
    if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant):
        name = node.slice.value
    elif isinstance(node, ast.Attribute):
        name = node.attr
    elif isinstance(node, ast.Name):
        name = node.id
    else:
        return ""
    return name if name in TEXT_COLUMNS else ""


def searches(tree):
    """Places that search or cut a text column."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Compare):
            for operator, other in zip(node.ops, node.comparators, strict=True):
                if isinstance(operator, ast.In | ast.NotIn) and text_read(other):
                    yield f"line {node.lineno}: in {text_read(other)}"
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            cut = node.func
            if cut.attr in CUTS and text_read(cut.value):
                yield f"line {node.lineno}: {text_read(cut.value)}.{cut.attr}"


def said_names():
    """The public functions of calc/say, except those that return a number or a flag."""
    names = set()
    for path in python_files("calc"):
        if module_of(path).startswith("calc.say."):
            names |= {
                node.name
                for node in tree_of(path).body
                if isinstance(node, ast.FunctionDef)
                and ast.unparse(node.returns or ast.Constant("")) == "str"
            }
    return names


def cut_calls(tree, names):
    """Calls of functions in `names` whose result is searched or cut at once."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            called = node.func.value
            if node.func.attr in CUTS and isinstance(called, ast.Call):
                function = called.func
                name = getattr(function, "attr", getattr(function, "id", ""))
                if name in names:
                    yield f"line {node.lineno}: {name}(...).{node.func.attr}"


def cuts_at_words(tree):
    """Calls that search or cut at a text with a space, which stands in a sentence alone."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.args:
            if node.func.attr not in CUTS - {"index"}:
                continue
            texts = [
                part.value
                for part in ast.walk(node.args[0])
                if isinstance(part, ast.Constant) and isinstance(part.value, str)
            ]
            if any(" " in text and text != " " for text in texts):
                yield f"line {node.lineno}: {ast.unparse(node)}"


@pytest.mark.parametrize("room", BELOW_SAY)
def test_no_room_below_say_forms_more_sentences_than_before(room):
    found = [
        (name_of(path), text)
        for path in python_files("calc")
        if room_of(module_of(path)) == room
        and not path.is_relative_to(DESCRIPTIONS)
        and name_of(path) not in ERROR_WORDS
        for text in sentences(path)
    ]
    assert len(found) == SENTENCES_LEFT.get(room, 0), found


def test_no_text_of_a_row_or_an_answer_is_searched_or_cut():
    found = {
        name_of(path): places
        for path in python_files("calc", "views")
        if name_of(path) not in OTHER_TEXTS and (places := list(searches(tree_of(path))))
    }
    assert found == {}


def test_no_output_of_say_is_cut_where_it_is_made():
    names = said_names()
    assert len(names) > 60
    found = {
        name_of(path): places
        for path in python_files("calc", "views")
        if (places := list(cut_calls(tree_of(path), names)))
    }
    assert found == {}


def test_nothing_is_cut_at_words():
    found = {
        name_of(path): places
        for path in python_files("calc", "views")
        if not name_of(path).startswith(READ_TEXTS)
        and (places := list(cuts_at_words(tree_of(path))))
    }
    assert found.keys() == CUT_AT_WORDS.keys(), found


def texts_of_ours():
    """The files that this project writes: code, catalogs, documents."""
    yield from python_files("calc", "views", "refresh", "shelf", "validation", "benchmarks")
    for room in ("calc", "views", "catalogs"):
        yield from sorted((ROOT / room).rglob("*.yaml"))
    yield from [*sorted(ROOT.glob("*.md")), *sorted((ROOT / "docs").glob("*.md"))]


def unwanted_words(text):
    return [word for word in (*BRITISH, *PRIVATE) if word in text]


def test_the_spelling_is_american_and_no_word_is_private():
    found = {
        name_of(path): words
        for path in texts_of_ours()
        if not any(name_of(path).startswith(room) for room in READ_IN_BOTH)
        and (words := unwanted_words(path.read_text(encoding="utf-8").lower()))
    }
    assert found == {}


def test_a_sentence_and_a_search_of_one_are_seen(tmp_path):
    path = tmp_path / "seen.py"
    path.write_text(
        'TEXT = "one sentence here"\n\n\ndef words():\n    """A doc string here."""\n'
        'ratio = variant(other, rename={}, doc="A doc string here.")\n'
        'Fault("the words of", "an error here")\nbase: "Catalogs | None" = None\n'
    )
    assert sentences(path) == ["one sentence here"]
    tree = ast.parse('if "tight" in row["why"]:\n    options.problem.partition("; ")')
    assert list(searches(tree)) == ["line 1: in why", "line 2: problem.partition"]
    tree = ast.parse('words.partition("; ")\nwords.split(" ")\nwords.removesuffix(" requests")')
    assert [place[:6] for place in cuts_at_words(tree)] == ["line 1", "line 3"]
