"""Hold today's answers to the recorded ones: a part in `make test`, a larger one in `make long`.

`PYTHONPATH=. .venv/bin/python tests/recorded_answers.py` compares all of them.
"""

import pandas as pd
import pytest
import recorded_answers
from examples import catalogs

EVERY, EVERY_LONG = 80, 20  # of the jobs, one in so many is answered in `make test`, in `make long`


def assert_nothing_moved(first, every):
    jobs = list(enumerate(recorded_answers.recorded_jobs()))[first::every]
    before = pd.read_parquet(recorded_answers.FILE)
    before = before[before[recorded_answers.NUMBER].isin([number for number, _ in jobs])]
    after = recorded_answers.answers(jobs, catalogs())
    assert len(after) == len(before)
    changes = recorded_answers.moved(before.reset_index(drop=True), after)
    assert changes.empty, recorded_answers.grid.summary(changes, len(after))


def test_a_drawn_part_of_the_answers_did_not_move():
    assert_nothing_moved(0, EVERY)


@pytest.mark.long
def test_more_of_the_answers_did_not_move():
    assert_nothing_moved(1, EVERY_LONG)


def test_the_record_holds_every_kind_of_work():
    table = pd.read_parquet(recorded_answers.FILE)
    assert len(table) >= 500
    assert set(table["work"]) >= {"training", "inference"}
    assert table["has_problem"].mean() < 0.4
    assert {"full", "lora"} <= set(table["tuning"])
    assert "nearest" in set(table["answer"])


def test_a_moved_answer_is_seen():
    before = pd.read_parquet(recorded_answers.FILE)
    after = before.copy()
    row = int(before["usd"].gt(0).to_numpy().argmax())
    after.loc[row, "usd"] *= 1.01
    assert recorded_answers.moved(before, after)[["row", "column"]].to_numpy().tolist() == [
        [row, "usd"]
    ]
