"""`python -m calc calibrate`: logs of runs and the plan that they ran, as a calibration."""

import argparse
import sys
from datetime import date
from pathlib import Path

from calc.catalogs.load import Catalogs, with_readings
from calc.commands.command import UNUSABLE, pasted_text, plan_rows, write_result
from calc.evaluate import Row
from calc.files.calibration.entries import calibration_text, entries_of_readings
from calc.files.calibration.logs import MOST_CHARACTERS, runs
from calc.files.calibration.readings import RunReading, readings_of_runs
from calc.files.oom.explain import LogProblem
from calc.plan.figures import records


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `calibrate`."""
    parser.epilog = "Put the result into catalogs/own/: later estimates are corrected by it."
    logs = (
        "a trainer's or an engine's log, a benchmark's JSON, nvidia-smi, memory_summary or a memory "
        "snapshot"
    )
    parser.add_argument("logs", metavar="LOG", nargs="+", help=logs)
    parser.add_argument("plan", metavar="plan.csv", help="CSV of the scenarios that were run")


def main(options: argparse.Namespace, catalogs: Catalogs) -> int:
    """Write what the logs say of the plan's rows; 2 where none says anything."""
    catalogs = with_readings(catalogs, {})
    rows = records(plan_rows(options.plan, catalogs))
    kept: list[RunReading] = []
    for log in options.logs:
        read, why = _readings(Path(log), rows, catalogs)
        kept += read
        for sentence in why:
            print(f"{log}: {sentence}", file=sys.stderr)
    return write_result(options, calibration_text(entries_of_readings(kept))) if kept else UNUSABLE


def _readings(log: Path, rows: list[Row], catalogs: Catalogs) -> tuple[list[RunReading], list[str]]:
    """Readings of a log beside the first row that it does not contradict; what is left out."""
    several = runs(pasted_text(str(log), MOST_CHARACTERS))
    if not several:
        raise LogProblem(
            f"{log}: no speed and no memory of a run is in this text; give a trainer's, an "
            f"engine's or a benchmark's log."
        )
    day = date.fromtimestamp(log.stat().st_mtime).isoformat()
    return readings_of_runs(several, rows, catalogs, day)
