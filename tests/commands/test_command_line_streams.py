"""`python -m calc` on tables of any length: chunk by chunk, and a fault in a late one leaves no
half file.
"""

import csv
import io
import math
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from examples import at_random, catalogs, written

from calc import estimate
from calc.__main__ import main

pytestmark = pytest.mark.usefixtures("read_once")

ROOT = Path(__file__).resolve().parents[2]


def many_rows(path, rows=50, last=""):
    path.write_text(
        "model,batch\n" + "".join(f"gpt2,{row % 7 + 1}\n" for row in range(rows)) + last,
        encoding="latin-1",
    )
    return path


@pytest.fixture
def by_tens(monkeypatch):
    """Chunks of ten rows."""
    monkeypatch.setattr("calc.commands.estimate.CHUNK_ROWS", 10)


@pytest.fixture
def without_progress(monkeypatch):
    """No report of progress, which a slow machine would print."""
    monkeypatch.setattr("calc.commands.progress.QUIET_SECONDS", math.inf)


@pytest.mark.parametrize("rows", [0, 45])
@pytest.mark.long
def test_the_numbers_are_those_of_python_and_chunks_give_what_one_table_gives(
    rows, tmp_path, monkeypatch
):
    """Of no row too: a header alone gives a header alone."""
    table = at_random(45, seed=3).astype(object).where(lambda frame: frame.notna(), "").head(rows)
    table.to_csv(tmp_path / "in.csv", index=False)
    assert main([str(tmp_path / "in.csv"), "-o", str(tmp_path / "once.csv")]) == 0
    results, expected = pd.read_csv(tmp_path / "once.csv"), estimate(table, catalogs())
    numbers = [
        name
        for name in expected
        if expected[name].dtype.kind == "f" and expected[name].notna().any()
    ]
    np.testing.assert_array_equal(
        results[numbers].to_numpy(float), expected[numbers].to_numpy(float)
    )
    monkeypatch.setattr("calc.commands.estimate.CHUNK_ROWS", 10)
    assert main([str(tmp_path / "in.csv"), "-o", str(tmp_path / "chunks.csv")]) == 0
    assert (tmp_path / "chunks.csv").read_bytes() == (tmp_path / "once.csv").read_bytes()


LATE = {
    "long row": (
        "gpt2,1,1\n",
        "in.csv is not a CSV table (Expected 2 fields in line 52, saw 3); give every row as many ",
    ),
    "open quote": (
        'gpt2,"1\n',
        "in.csv is not a CSV table (EOF inside string starting at row 51); give every row as many ",
    ),
    "Latin-1": ("für,1\n", "in.csv is not UTF-8 text (byte 363); save it as CSV UTF-8."),
    "zero byte": (
        "gpt2,\0\n",
        "in.csv is not text (it contains zero bytes); save it as CSV UTF-8.",
    ),
}


@pytest.mark.parametrize("rows", [50, 60_000])
@pytest.mark.parametrize("fault", LATE)
@pytest.mark.usefixtures("by_tens", "without_progress")
def test_a_late_fault_leaves_the_file_as_it_was(fault, rows, tmp_path, capsys, monkeypatch):
    last, sentence = LATE[fault]
    if rows > 50:  # beyond the block that is read and checked at once
        monkeypatch.setattr("calc.commands.estimate.CHUNK_ROWS", rows // 3)
        monkeypatch.setattr(
            "calc.commands.many_files.estimate", lambda table, *_, **__: table.assign(problem="")
        )
        moved = {
            "line 52": f"line {rows + 2}",
            "row 51": f"row {rows + 1}",
            "byte 363": f"byte {12 + 7 * rows + 1}",
        }
        for old, new in moved.items():
            sentence = sentence.replace(old, new)
    path = many_rows(tmp_path / "in.csv", rows, last)
    (tmp_path / "out.csv").write_text("kept")
    assert main([str(path), "-o", str(tmp_path / "out.csv")]) == 2
    error = capsys.readouterr().err
    assert error.removeprefix(f"{tmp_path}/").startswith(sentence)
    assert error.count("\n") == 1
    assert (tmp_path / "out.csv").read_text() == "kept"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["in.csv", "out.csv"]


@pytest.mark.usefixtures("by_tens", "without_progress")
def test_standard_output_keeps_the_chunks_before_a_fault(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr("calc.files.csv.tables.BLOCK_BYTES", 100)
    assert main([str(many_rows(tmp_path / "in.csv", last="für,1\n"))]) == 2
    rows, error = capsys.readouterr()
    assert error.count("\n") == 1
    assert len(list(csv.DictReader(io.StringIO(rows)))) in range(10, 51)


@pytest.mark.usefixtures("by_tens")
def test_a_table_may_be_replaced_by_its_own_results(tmp_path):
    path = many_rows(tmp_path / "in.csv")
    path.chmod(0o640)
    (tmp_path / "link.csv").symlink_to(path)
    assert main([str(path), "-o", str(tmp_path / "link.csv")]) == 0
    assert [row["batch"] for row in written(path)] == [str(row % 7 + 1) for row in range(50)]
    assert (tmp_path / "link.csv").is_symlink()
    assert path.stat().st_mode & 0o777 == 0o640


@pytest.mark.usefixtures("by_tens")
def test_interrupted_it_says_so_and_leaves_nothing(tmp_path, capsys, monkeypatch):
    calls = []

    def interrupted(table, *_, **__):
        calls.append(len(table))
        if len(calls) == 3:
            raise KeyboardInterrupt
        return estimate(table, catalogs())

    monkeypatch.setattr("calc.commands.many_files.estimate", interrupted)
    assert main([str(many_rows(tmp_path / "in.csv")), "-o", str(tmp_path / "out.csv")]) == 130
    assert calls == [10, 10, 10]
    assert capsys.readouterr().err == f"Interrupted; {tmp_path}/out.csv was left as it was.\n"
    assert [path.name for path in tmp_path.iterdir()] == ["in.csv"]


@pytest.mark.long
@pytest.mark.skipif(
    not Path("/dev/full").exists(), reason="this system has no device that is always full"
)
def test_a_full_disk_is_said_in_one_sentence(tmp_path):
    path = many_rows(tmp_path / "in.csv", 3)
    with Path("/dev/full").open("wb") as full:
        done = subprocess.run(
            [sys.executable, "-m", "calc", str(path)], stdout=full, stderr=subprocess.PIPE, cwd=ROOT
        )
    assert done.returncode == 2
    assert done.stderr == b"standard output: No space left on device; make room there.\n"


@pytest.mark.parametrize("terminal", [True, False])
@pytest.mark.usefixtures("by_tens")
def test_a_long_run_says_how_far_it_is(terminal, tmp_path, capsys, monkeypatch):
    seconds = iter(range(0, 1000, 4))
    monkeypatch.setattr("calc.commands.progress.monotonic", lambda: next(seconds))
    monkeypatch.setattr(sys.stderr, "isatty", lambda: terminal, raising=False)
    assert main([str(many_rows(tmp_path / "in.csv")), "-o", str(tmp_path / "out.csv")]) == 0
    progress = capsys.readouterr().err
    assert [
        line.strip() for line in progress.split("\r" if terminal else "\n") if line.strip()
    ] == (
        [f"{rows} rows, 2 per second" for rows in (10, 20, 30, 40, 50)]
        if terminal
        else ["30 rows, 2 per second"]
    )
    assert progress.endswith("\n")
