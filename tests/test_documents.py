"""README and docs say what the product does: their code runs and prints what stands below it, their
figures are the recorded ones.
"""

import contextlib
import io
import re
from pathlib import Path

import pandas as pd
import pytest
from examples import recorded

ROOT = Path(__file__).resolve().parent.parent
DOCUMENTS = (
    "README.md",
    "CONTRIBUTING.md",
    "SECURITY.md",
    *(f"docs/{path.name}" for path in sorted((ROOT / "docs").glob("*.md"))),
)
EXAMPLE = re.compile(r"```python\n(.*?)```\n\n```text\n(.*?)```", re.DOTALL)
LINK = re.compile(r"\]\((?!http)([^)#]+)\)")
SOURCE = re.compile(
    r"`((?:calc|catalogs|views|tests|validation|refresh|shelf|benchmarks|docs)/[\w./]*)`"
)
GROUPS = recorded("cases/documents.json")["groups"]


def read(name):
    return (ROOT / name).read_text(encoding="utf-8")


@pytest.mark.parametrize("document", [name for name in DOCUMENTS if "```text" in read(name)])
def test_the_code_of_a_document_prints_what_stands_below_it(document):
    """The examples of one document run one after the other, as a reader types them."""
    names = {}
    for code, expected in EXAMPLE.findall(read(document)):
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(code, names)
        assert printed.getvalue().rstrip() == expected.rstrip(), code


def percent(ratio):
    return f"{ratio:.2%}".replace("%", " %") if ratio >= 0.00005 else "under 0.01 %"


def test_the_accuracy_table_is_the_recorded_one():
    summary = pd.read_csv(ROOT / "validation" / "results" / "summary.csv", keep_default_na=False)
    rows = summary[summary["family"] == ""].set_index("group")
    errors = ("median_error_ratio", "p90_error_ratio", "worst_error_ratio")
    text = read("README.md")
    for label, group in GROUPS.items():
        row = rows.loc[group]
        cells = [
            str(row["cases"]),
            *(percent(float(row[name])) for name in errors),
            f"{float(row['inside_ratio']):.0%}".replace("%", " %"),
        ]
        assert f"| {label} | {' | '.join(cells)} |" in text, (label, cells)


@pytest.mark.parametrize("document", DOCUMENTS)
def test_a_document_names_files_that_exist(document):
    """Links and paths in code font; a path that ends in a folder may name one."""
    text, folder = read(document), (ROOT / document).parent
    missing = [target for target in LINK.findall(text) if not (folder / target).exists()]
    missing += [path for path in SOURCE.findall(text) if not (ROOT / path).exists()]
    assert missing == []
