"""The list of columns that the cost of a row reads is complete."""

import numpy as np
import pandas as pd
from examples import catalogs

from calc import estimate
from calc.cost.job import ROW_READS, job_of_rows

READ_OF_ROWS = set()


class ReadRows(pd.DataFrame):
    """Rows that remember which of their columns were read."""

    def __getitem__(self, name):
        if isinstance(name, str):
            READ_OF_ROWS.add(name)
        return super().__getitem__(name)

    def get(self, name, default=None):
        READ_OF_ROWS.add(name)
        return super().get(name, default)


def test_the_columns_that_the_cost_of_a_row_reads_are_listed():
    scenario = {"model": "gpt2", "instance": "g6e.xlarge", "train_tokens": 1e9}
    rows = ReadRows(pd.DataFrame([estimate(scenario, catalogs(), solve=False)]))
    READ_OF_ROWS.clear()
    done = job_of_rows(rows, ["on-demand"], 0, catalogs())
    assert np.isfinite(done.usd).all()
    assert set(ROW_READS) == READ_OF_ROWS
