"""Lists of columns that the search keeps hold what the functions behind them read."""

import numpy as np
import pandas as pd
from examples import catalogs

from calc import estimate
from calc.cost.job import ROW_READS, deployments, job, job_of_rows
from calc.cost.markets import MARKETS
from calc.search.timing import STEPPED, TIMED

PASSED_ON = {"first_token_high_ratio"}  # to the limits of a service, beside what money reads

READ_OF_ROWS = set()


class ReadColumns(dict):
    """A table that remembers which of its columns were read."""

    def __init__(self, columns, read=None):
        super().__init__(columns)
        self.read = set() if read is None else read

    def __getitem__(self, name):
        self.read.add(name)
        return super().__getitem__(name)

    def __or__(self, other):
        return ReadColumns({**self, **other}, self.read)


class ReadRows(pd.DataFrame):
    """Rows that remember which of their columns were read."""

    def __getitem__(self, name):
        if isinstance(name, str):
            READ_OF_ROWS.add(name)
        return super().__getitem__(name)

    def get(self, name, default=None):
        READ_OF_ROWS.add(name)
        return super().get(name, default)


def test_a_candidate_has_exactly_the_columns_that_its_money_reads():
    table = ReadColumns({name: np.ones(1) for name in STEPPED})
    for market in MARKETS:
        for ends in (0.0, 1.0):
            dict.__setitem__(table, "ends", np.array([ends]))
            job(table, market, np.ones(1), 0.1, np.ones(1))
            deployments(table, 1)
    assert table.read == set(STEPPED) - PASSED_ON
    assert len(STEPPED) == len(set(STEPPED))
    assert len(TIMED) == len(set(TIMED))


def test_the_columns_that_the_cost_of_a_row_reads_are_listed():
    scenario = {"model": "gpt2", "instance": "g6e.xlarge", "train_tokens": 1e9}
    rows = ReadRows(pd.DataFrame([estimate(scenario, catalogs(), solve=False)]))
    READ_OF_ROWS.clear()
    done = job_of_rows(rows, ["on-demand"], 0, catalogs())
    assert np.isfinite(done.usd).all()
    assert set(ROW_READS) == READ_OF_ROWS
