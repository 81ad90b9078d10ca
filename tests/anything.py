"""What anybody may send, generated: links, tables, configs, damaged catalogs, walks over the pages.
`make bench` asks for more of each.
"""

import json
import string
from pathlib import Path

from examples import catalogs, recorded
from hypothesis import strategies as st

from calc.catalogs.load import FILES
from calc.catalogs.rooms import path_of
from calc.files.link.link import COLUMNS, VIEW_CHOICES
from calc.scenarios.inputs import CATALOG_OF, inputs_by_name

CONFIGS = [
    path.read_text("utf-8")
    for path in sorted((Path(__file__).parent / "recorded" / "configs").glob("*.json"))
]
CONFIGS += [json.dumps(case["config"]) for case in recorded("small_configs.jsonl")]

JUNK = st.sampled_from(
    [
        *(
            "",
            " ",
            "0",
            "-1",
            "1.5",
            "1e308",
            "1e400",
            "nan",
            "inf",
            "-inf",
            "1_000",
            "0x10",
            "9" * 40,
            "1e-300",
            "64x",
        ),
        *(
            "None",
            "true",
            "[]",
            "{}",
            "+",
            "a+b",
            "1+2+2",
            "~",
            "a~b~c",
            "anywhere",
            "auto",
            "\x00",
            "\n",
            "%",
            "&",
            "=1+1",
            "'",
        ),
        *(
            "../../etc/passwd",
            "<script>alert(1)</script>",
            "[a](http://x)",
            "![p](//q)",
            "$x$",
            "`",
            "模型 🙂",
            "x" * 300,
            "²",
            "١٢",
        ),
    ]
)
NUMBERS = st.one_of(
    st.integers(-2, 10**6),
    st.sampled_from([0.5, 1e-9, 1e9, 1e12, 1e15, 1e16, 2**53]),
    st.floats(allow_nan=False, allow_infinity=False),
)


def texts_of(name, column):
    """Values of a column as text: mostly ones that it has."""
    catalog = column.catalog or CATALOG_OF.get(name)
    if column.kind == "text" and catalog:
        good = st.sampled_from(list(getattr(catalogs(), catalog).index))
    elif column.kind == "choice":
        good = st.sampled_from([str(choice) for choice in (*column.choices, column.default or "")])
    elif column.kind in ("count", "number", "amount"):
        good = st.sampled_from(
            ["1", "2", "3", "4", "8", "16", "64", "100", "0.5", "1000", "1e6"]
        ) | NUMBERS.map(str)
    else:
        good = st.text(max_size=12)
    return st.one_of(good, good, good, JUNK)


CELLS = {name: texts_of(name, column) for name, column in inputs_by_name().items()}
CHOICES = {name: texts_of(name, column) for name, column in COLUMNS.items()} | {
    name: st.sampled_from(words) | JUNK for name, words in VIEW_CHOICES.items()
}
SIZES = (
    "hidden",
    "layers",
    "heads",
    "kv_heads",
    "ffn",
    "vocab",
    "head_dim",
    "model_type",
    "family",
    "name",
    "max_position",
    "experts",
)
SIZE = (
    st.sampled_from(["llama", "gpt2", "mixtral"]).map(json.dumps) | NUMBERS.map(json.dumps) | JUNK
)


@st.composite
def kept_texts(draw):
    """A kept scenario, or the row looked at, as the link writes it: words between tildes."""
    names = draw(st.lists(st.sampled_from([*CELLS, "market", "answer"]), max_size=4))
    pairs = [text for name in ["model", *names] for text in (name, draw(CELLS.get(name, JUNK)))]
    return "~".join(
        [
            draw(JUNK | st.text(string.ascii_letters, max_size=9)),
            *pairs,
            *draw(st.lists(JUNK, max_size=1)),
        ]
    )


def queries():
    """Queries of links: known names with good values and bad, unknown names, names that stand
    twice.
    """
    several = {name: st.lists(values, min_size=1, max_size=3) for name, values in CHOICES.items()}
    several |= {f"custom.mine.{name}": st.lists(SIZE, min_size=1, max_size=1) for name in SIZES}
    several |= {
        name: st.lists(kept_texts(), min_size=1, max_size=3) for name in ("kept", "looked", "then")
    }
    several |= {
        "v": st.sampled_from([["1"], ["2"], ["9"], [""]]),
        "prices_as_of": st.sampled_from([["2026-07-20"], ["tomorrow"]]),
    }
    unknown = st.dictionaries(JUNK, st.lists(JUNK, min_size=1, max_size=2), max_size=1)
    return st.tuples(some_of(several, 8), unknown).map(lambda both: {**both[1], **both[0]})


def some_of(values, most):
    """Dictionaries of at most so many of the names, each with one of its values."""
    names = st.lists(st.sampled_from(list(values)), max_size=most, unique=True)
    return names.flatmap(
        lambda chosen: st.fixed_dictionaries({name: values[name] for name in chosen})
    )


def tables():
    """Tables of scenarios as text: a few columns, good cells and bad."""
    names = st.lists(
        st.sampled_from([name for name in CELLS if name != "model"]), max_size=6, unique=True
    )
    rows = names.map(
        lambda chosen: st.fixed_dictionaries({name: CELLS[name] for name in ("model", *chosen)})
    )
    return rows.flatmap(lambda row: st.lists(row, min_size=1, max_size=4))


@st.composite
def configs(draw):
    """A published config.json in which some fields are gone, swapped or of another kind; sometimes
    cut or laid into another.
    """
    config = json.loads(draw(st.sampled_from(CONFIGS)))
    other = json.loads(draw(st.sampled_from(CONFIGS)))
    for _ in range(draw(st.integers(0, 4))):
        inside = draw(
            st.sampled_from(
                [config, *(part for part in config.values() if isinstance(part, dict) and part)]
            )
        )
        name = draw(st.sampled_from(sorted(inside) or ["hidden_size"]))
        change = draw(st.sampled_from(["gone", "number", "junk", "other", "list"]))
        if change == "gone":
            inside.pop(name, None)
        elif change == "other":
            inside[name] = other.get(name, other)
        else:
            inside[name] = draw(
                {"number": NUMBERS, "junk": JUNK, "list": st.lists(NUMBERS | JUNK, max_size=3)}[
                    change
                ]
            )
    text = json.dumps(config)
    return text[: draw(st.integers(0, len(text)))] if draw(st.integers(0, 9)) == 0 else text


@st.composite
def damaged(draw):
    """A catalog's file and what is left of it: cut, or with a line gone, doubled, moved or with
    another value.
    """
    name = draw(st.sampled_from(FILES))
    lines = path_of(name).read_text("utf-8").splitlines(keepends=True)
    place = draw(st.integers(0, len(lines) - 1))
    line, (key, colon, _) = lines[place], lines[place].partition(":")
    harm = draw(
        st.sampled_from(["cut", "gone", "double", "moved", "value", "value", "value", "bytes"])
    )
    changed = {
        "cut": [line[: len(line) // 2]],
        "gone": lines[place + 1 :],
        "double": [line, *lines[place:]],
        "moved": [*lines[place + 1 : place + 9], line, *lines[place + 9 :]],
        "value": [f"{key}{colon} {draw(JUNK | NUMBERS.map(str))}\n", *lines[place + 1 :]],
        "bytes": ["\ud800", *lines[place:]],
    }[harm]
    return name, "".join([*lines[:place], *changed]).encode("utf-8", "surrogatepass")
