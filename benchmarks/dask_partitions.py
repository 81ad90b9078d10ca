"""Past one machine: `estimate` under Dask's `map_partitions` gives the same table as one call.

python -m benchmarks.dask_partitions [--rows 20000] [--partitions 8]        (needs the validation requirements)
"""

import argparse

import dask.dataframe as dd
import pandas as pd

from benchmarks.tables import all_distinct
from calc import estimate, load_catalogs


def partitioned(table, catalogs, partitions):
    """The results of a table that is estimated partition by partition; their columns are those of one row."""
    meta = estimate(table.head(1), catalogs).iloc[:0]
    parts = dd.from_pandas(table, npartitions=partitions).map_partitions(estimate, catalogs, meta=meta)
    return parts.compute(scheduler="threads").reset_index(drop=True)


def plain(results):
    """The results with words as plain text: partitions number their words each on their own."""
    words = results.columns.difference(results.select_dtypes("number").columns)
    return results.astype(dict.fromkeys(words, object))


def main():
    """Stop with the first difference, or say that there is none."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=20_000)
    parser.add_argument("--partitions", type=int, default=8)
    options = parser.parse_args()
    table, catalogs = all_distinct(options.rows), load_catalogs()
    whole, parts = estimate(table, catalogs), partitioned(table, catalogs, options.partitions)
    pd.testing.assert_frame_equal(plain(parts), plain(whole), check_exact=True)
    print(f"{options.rows:,} rows in {options.partitions} partitions: the same {len(whole.columns)} columns, every cell equal.")


if __name__ == "__main__":
    main()
