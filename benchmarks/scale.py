"""Writes the files of docs/scale.md: scenarios over every model and instance, few alike.

python -m benchmarks.scale [--folder scenarios] [--files 100] [--rows 1000000]
"""

from pathlib import Path

from benchmarks.floor import options
from benchmarks.tables import SEED, all_distinct


def main():
    """Write one Parquet file after the other, each with rows of its own."""
    arguments = options(__doc__, folder="scenarios", files=100, rows=1_000_000)
    Path(arguments.folder).mkdir(parents=True)
    for number in range(arguments.files):
        table = all_distinct(arguments.rows, SEED + number)
        table.to_parquet(
            Path(arguments.folder, f"{number:05}.parquet"), compression="zstd", index=False
        )


if __name__ == "__main__":
    main()
