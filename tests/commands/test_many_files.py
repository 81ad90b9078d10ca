"""`python -m calc estimate 'scenarios-*.parquet' -o results/`: many files here and on a Dask
cluster give the rows of one process.
"""

import logging
import os
import signal
from threading import Thread
from time import sleep

import numpy as np
import pandas as pd
import pytest
from distributed import LocalCluster
from examples import at_random, catalogs, written

from calc import estimate
from calc.__main__ import main

pytestmark = pytest.mark.usefixtures("read_once")

CSV_TEXT = "model,batch,owner\ngpt2,2,me\nnope,,you\nllama-3.2-1b,x,\n"


def scenarios(rows=40, seed=3):
    # Of one type in each column.
    table = at_random(40, seed=seed).map(lambda cell: "" if pd.isna(cell) else str(cell))
    table = table.iloc[np.arange(rows) % len(table)].reset_index(drop=True)
    return table.assign(owner=[f"owner {row}" for row in range(rows)], number=range(rows))


def contents(folder):
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


@pytest.fixture
def files(tmp_path):
    """Two CSV files and two Parquet files, one of them in four row groups."""
    (folder := tmp_path / "in" / "more").mkdir(parents=True)
    (tmp_path / "in" / "a.csv").write_text(CSV_TEXT)
    (folder / "b.csv").write_text("model\ngpt2\n")
    scenarios().to_parquet(tmp_path / "in" / "c.parquet", index=False, row_group_size=10)
    scenarios().head(0).to_parquet(folder / "d.parquet", index=False)
    return tmp_path / "in"


@pytest.fixture
def in_small_parts(monkeypatch):
    monkeypatch.setattr("calc.files.parts.PART_ROWS", 20)
    monkeypatch.setattr("calc.commands.many_files.CHUNK_ROWS", 15)


@pytest.mark.usefixtures("in_small_parts")
@pytest.mark.long
def test_a_file_of_results_for_each_file_and_for_each_part_of_a_long_one(files, tmp_path, capsys):
    assert main(["estimate", f"{files}/**/*.*", "-o", f"{tmp_path}/out/"]) == 0
    assert list(contents(tmp_path / "out")) == [
        "a.csv",
        "c.parquet/00000.parquet",
        "c.parquet/00001.parquet",
        "more/b.csv",
        "more/d.parquet",
    ]
    last_line = capsys.readouterr().err.splitlines()[-1]  # a slow machine prints progress before
    assert last_line.startswith("44 rows, ")
    assert main([f"{files}/a.csv", "-o", f"{tmp_path}/a.csv"]) == 0
    assert (tmp_path / "out" / "a.csv").read_bytes() == (tmp_path / "a.csv").read_bytes()
    results, expected = (
        pd.read_parquet(tmp_path / "out" / "c.parquet"),
        estimate(scenarios(), catalogs()),
    )
    assert list(results) == list(expected)
    assert pd.read_parquet(tmp_path / "out" / "more" / "d.parquet").dtypes.equals(results.dtypes)
    for name in expected:
        if results[name].dtype.kind == "f":
            np.testing.assert_array_equal(results[name].to_numpy(), expected[name].to_numpy())
        else:
            assert results[name].tolist() == expected[name].tolist(), name


def test_a_cell_of_parquet_that_cannot_be_read_is_in_the_problem_of_its_row(tmp_path):
    """It stays where the column is text; a number that is missing is empty, as in a CSV."""
    table = pd.DataFrame(
        {
            "model": ["gpt2", "nope", None],
            "batch": ["x", "2", None],
            "gpus": [1, None, 2.5],
            "compile": [True, None, False],
        }
    )
    table.to_parquet(tmp_path / "in.parquet", index=False)
    assert (
        main(
            [
                f"{tmp_path}/in.parquet",
                "-o",
                f"{tmp_path}/out",
                "--columns",
                "model,batch,gpus,compile,memory_bytes",
            ]
        )
        == 0
    )
    results = pd.read_parquet(tmp_path / "out" / "in.parquet")
    assert list(results) == ["model", "batch", "gpus", "compile", "memory_bytes", "problem"]
    table.to_csv(tmp_path / "in.csv", index=False)
    assert (
        main(
            [
                f"{tmp_path}/in.csv",
                "-o",
                f"{tmp_path}/out.csv",
                "--columns",
                "model,batch,gpus,compile,memory_bytes",
            ]
        )
        == 0
    )
    plain = [row["problem"].replace("2.0 is", "2 is") for row in written(tmp_path / "out.csv")]
    assert results["problem"].tolist() == plain
    assert all(plain)
    assert results["model"].tolist() == ["gpt2", "nope", ""]
    assert results["batch"].isna().tolist() == [True, False, False]


UNUSABLE = {
    "no match": (
        ["IN/x*.csv", "-o", "TMP/out"],
        "IN/x*.csv: no file matches; name CSV or Parquet files, the pattern in quotes.",
    ),
    "another kind": (
        ["IN/*.txt", "-o", "TMP/out/"],
        "IN/e.txt is neither .csv nor .parquet; choose a pattern that only tables match.",
    ),
    "no folder": (
        ["IN/*.csv"],
        "The results of many files go into a folder, and - is none; name one: -o results/",
    ),
    "a file": (
        ["IN/*.csv", "-o", "IN/e.txt"],
        "The results of many files go into a folder, and IN/e.txt is none; name one: -o results/",
    ),
    "not empty": (
        ["IN/*.csv", "-o", "IN"],
        "IN is not empty; name a new folder, so that no earlier result is taken for one of these.",
    ),
    "a column": (
        ["IN/a.csv", "--columns", "bytes"],
        "There is no result column 'bytes'; the first line of results without --columns names ",
    ),
    "damaged": (
        ["IN/f.parquet", "-o", "TMP/out/"],
        "IN/f.parquet cannot be read (Parquet magic bytes not found in footer.",
    ),
    "nobody there": (
        ["IN/a.csv", "-o", "TMP/out/", "--cluster", "localhost"],
        "No Dask scheduler answers at localhost; start one (make cluster), or check the address.",
    ),
}


@pytest.mark.parametrize("case", UNUSABLE)
def test_what_cannot_be_is_one_sentence(case, files, tmp_path, capsys):
    (files / "e.txt").write_text("model\ngpt2\n")
    (files / "f.parquet").write_text("model,batch\ngpt2,1\n")
    words, sentence = UNUSABLE[case]
    assert (
        main(
            [
                "estimate",
                *(word.replace("IN", str(files)).replace("TMP", str(tmp_path)) for word in words),
            ]
        )
        == 2
    )
    error = capsys.readouterr().err
    assert error.startswith(sentence.replace("IN", str(files)))
    assert error.count("\n") == 1


def test_without_the_requirement_it_says_how_to_install_it(files, tmp_path, capsys, monkeypatch):
    monkeypatch.setattr("calc.commands.many_files.find_spec", lambda _: None)
    assert (
        main(
            [
                "estimate",
                f"{files}/a.csv",
                "-o",
                f"{tmp_path}/out",
                "--cluster",
                "tcp://localhost:8786",
            ]
        )
        == 2
    )
    assert capsys.readouterr().err == (
        "--cluster needs the package distributed, which is not installed: make "
        ".venv/ready-cluster.\n"
    )
    assert not (tmp_path / "out").exists()


def test_a_file_that_cannot_be_read_keeps_no_other_from_its_results(files, tmp_path, capsys):
    (files / "a.csv").write_bytes("model\nfür\n".encode("latin-1"))
    pd.DataFrame({"name": ["gpt2"]}).to_parquet(files / "b.parquet")
    assert main(["estimate", f"{files}/*.*", "-o", f"{tmp_path}/out"]) == 2
    first, second, last = capsys.readouterr().err.splitlines()
    assert first == f"{files}/a.csv is not UTF-8 text (byte 7); save it as CSV UTF-8."
    assert second == (
        f"{files}/b.parquet has no column 'model' (its columns: name); rename the one that "
        f"names the models."
    )
    assert last.endswith(f"; 1 of 3 parts are in {tmp_path}/out.")
    assert list(contents(tmp_path / "out")) == ["c.parquet"]


def test_interrupted_it_says_what_is_there(files, tmp_path, capsys, monkeypatch):
    def interrupted(table, *_, **__):
        if len(table) == 40:
            raise KeyboardInterrupt
        return table.assign(problem="")

    monkeypatch.setattr("calc.commands.many_files.estimate", interrupted)
    assert main(["estimate", f"{files}/*.*", "-o", f"{tmp_path}/out"]) == 130
    assert capsys.readouterr().err == f"Interrupted; 1 of 2 parts are in {tmp_path}/out.\n"
    assert list(contents(tmp_path / "out")) == ["a.csv"]


@pytest.fixture
def quiet():
    """The levels that the command sets for the loggers of distributed, as they were."""
    loggers = [logging.getLogger(name) for name in ("distributed", "distributed.client")]
    levels = [logger.level for logger in loggers]
    yield
    for logger, level in zip(loggers, levels, strict=True):
        logger.setLevel(level)


@pytest.mark.long
@pytest.mark.usefixtures("in_small_parts", "quiet")
def test_a_cluster_gives_the_same_files_and_refuses_another_release(
    files, tmp_path, capsys, monkeypatch
):
    """A cluster of threads: workers of processes of their own, one of them killed, are in the next
    test.
    """
    command = ["estimate", f"{files}/**/*.*", "-o"]
    assert main([*command, f"{tmp_path}/here/"]) == 0
    with LocalCluster(
        n_workers=1, threads_per_worker=1, processes=False, dashboard_address=":0"
    ) as cluster:
        assert main([*command, f"{tmp_path}/there/", "--cluster", cluster.scheduler_address]) == 0
        assert contents(tmp_path / "there") == contents(tmp_path / "here")
        capsys.readouterr()
        releases = iter(["formulas 1", *["formulas 2"] * 100])
        monkeypatch.setattr("calc.commands.many_files.release_here", lambda: next(releases))
        assert main([*command, f"{tmp_path}/other/", "--cluster", cluster.scheduler_address]) == 2
    error = capsys.readouterr().err
    assert error.endswith(
        " has formulas 2, the client formulas 1; install the same release there.\n"
    )
    assert contents(tmp_path / "other") == {}


@pytest.mark.bench
@pytest.mark.usefixtures("quiet")
def test_a_worker_killed_in_the_middle_costs_no_row(tmp_path):
    (tmp_path / "in").mkdir()
    for number in range(12):
        scenarios(400, seed=number).to_csv(tmp_path / "in" / f"{number:02}.csv", index=False)
    command, there = (
        ["estimate", f"{tmp_path}/in/*.csv", "--columns", "memory_bytes", "-o"],
        tmp_path / "there",
    )
    with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0") as cluster:
        finished = []

        def kill():
            while len(finished) < 2:
                sleep(0.01)
                finished[:] = there.glob("*.csv")
            os.kill(cluster.workers[0].pid, signal.SIGKILL)

        killer = Thread(target=kill, daemon=True)
        killer.start()
        assert main([*command, str(there), "--cluster", cluster.scheduler_address]) == 0
        killer.join()
    assert 2 <= len(finished) < 12
    assert main([*command, f"{tmp_path}/here/"]) == 0
    assert contents(there) == contents(tmp_path / "here")
