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
from pages import loose, opened

from calc.charts import accuracy
from calc.say.numbers import percent
from validation.fresh import ALL_LEFT_OUT
from validation.sources_out import REFITTED
from views.catalog.accuracy_panels import error
from views.session import results

ROOT = Path(__file__).resolve().parents[2]
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


def cells(size):
    """The cells of a row of README: errors as the Accuracy tab writes them."""
    errors = ("median_error_ratio", "p90_error_ratio", "worst_error_ratio")
    return [
        str(int(size.cases)),
        *(error(float(getattr(size, name))) for name in errors),
        percent(float(size.inside_ratio)),
    ]


def test_the_accuracy_table_is_the_recorded_one_and_that_of_the_accuracy_tab():
    comparison = results.results()
    summary = comparison.summary[comparison.summary["family"] == ""].set_index("group")
    sizes = {label: summary.loc[group] for label, group in GROUPS.items()}
    peaks = accuracy.peaks(comparison.errors)
    real = accuracy.on_gpus(peaks)
    sizes["all peaks, simulated"] = accuracy.size_of_error(peaks[~real])
    sizes["all peaks on real GPUs"] = accuracy.size_of_error(peaks[real])
    for label, size in sizes.items():
        assert f"| {label} | {' | '.join(cells(size))} |" in read("README.md"), label
    tiles = {(metric.label, loose(metric.value)) for metric in opened("accuracy").metric}
    for label in ("all peaks, simulated", "all peaks on real GPUs"):
        assert ("Worst", cells(sizes[label])[3]) in tiles


def test_the_table_of_times_is_the_recorded_one():
    """Fitted rows, rows held out and all sources left out stand side by side."""
    table = pd.read_csv(ROOT / "validation" / "results" / "fitted_and_left_out.csv")
    text = read("README.md")
    for _, rows in table.groupby(["work", "measured"]):
        rows = rows.set_index("rows")
        rows = rows.loc[["fitted", REFITTED, "held out", ALL_LEFT_OUT]]
        names = ("median_error_ratio", "p90_error_ratio", "inside_ratio")
        cells = [
            f"{row['figures']:.0f}: " + ", ".join(f"{row[name]:.0%}" for name in names)
            for row in rows.to_dict("records")
        ]
        assert " | ".join(cells).replace("%", " %") + " |" in text


@pytest.mark.parametrize("document", DOCUMENTS)
def test_a_document_names_files_that_exist(document):
    """Links and paths in code font; a path that ends in a folder may name one."""
    text, folder = read(document), (ROOT / document).parent
    missing = [target for target in LINK.findall(text) if not (folder / target).exists()]
    missing += [path for path in SOURCE.findall(text) if not (ROOT / path).exists()]
    assert missing == []
