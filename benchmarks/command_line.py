"""CPU time and peak memory of `python -m calc`, by number of rows.

python -m benchmarks.command_line [--rows 100000 1000000]
"""

import os
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.floor import options
from benchmarks.tables import rows_of_few_choices

BLOCK_ROWS = 100_000  # the table is written in blocks, so that millions of rows do not fill memory


def measure_command(scenarios, results):
    """Run the command on a file. Return its CPU time and its peak memory. [s, MiB]"""
    command = [sys.executable, "-m", "calc", str(scenarios), "-o", str(results)]
    child = subprocess.Popen(command, cwd=Path(__file__).parents[1], stderr=subprocess.DEVNULL)
    _, status, used = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode:
        raise SystemExit(f"{' '.join(command)} ended with {child.returncode}")
    return used.ru_utime + used.ru_stime, used.ru_maxrss / 1024


def main():
    """Print a line per number of rows."""
    print("      rows   CPU s   us a row   most memory MiB   MiB written")
    for rows in options(__doc__, rows=(100_000, 1_000_000)).rows:
        with TemporaryDirectory() as folder:
            scenarios = Path(folder, "scenarios.csv")
            results = Path(folder, "estimates.csv")
            block = rows_of_few_choices(min(rows, BLOCK_ROWS))
            for start in range(0, rows, len(block)):
                block.head(rows - start).to_csv(scenarios, mode="a", header=not start, index=False)
            seconds, most = measure_command(scenarios, results)
            print(
                f"{rows:10,} {seconds:7.1f} {seconds / rows * 1e6:10.1f} {most:17,.0f} "
                f"{results.stat().st_size / 2**20:13,.0f}"
            )


if __name__ == "__main__":
    main()
