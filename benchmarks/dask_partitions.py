"""Past one machine: `estimate` under Dask's `map_partitions` gives the same table as one call.

python -m benchmarks.dask_partitions [--rows 20000] [--partitions 8]        (needs the validation requirements)
"""

import dask.dataframe as dd
import pandas as pd

from benchmarks.floor import options
from benchmarks.tables import all_distinct
from calc import estimate, load_catalogs


def plain(results):
    """The results with words as plain text: partitions number their words each on their own."""
    return results.astype(dict.fromkeys(results.columns.difference(results.select_dtypes("number").columns), object))


def main():
    """Stop with the first difference, or say that there is none."""
    arguments = options(__doc__, rows=20_000, partitions=8)
    table, catalogs = all_distinct(arguments.rows), load_catalogs()
    meta = estimate(table.head(1), catalogs).iloc[:0]  # the columns of a result
    parts = dd.from_pandas(table, npartitions=arguments.partitions).map_partitions(estimate, catalogs, meta=meta)
    together = parts.compute(scheduler="threads").reset_index(drop=True)
    pd.testing.assert_frame_equal(plain(together), plain(estimate(table, catalogs)), check_exact=True)
    print(f"{arguments.rows:,} rows in {arguments.partitions} partitions: the same {len(meta.columns)} columns, every cell equal.")


if __name__ == "__main__":
    main()
