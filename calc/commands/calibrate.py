"""`python -m calc calibrate`: logs of runs and the plan that they ran, as a calibration."""

import argparse
from datetime import date
from pathlib import Path

from calc.catalogs.load import Catalogs, with_readings
from calc.commands.command import UNUSABLE, pasted_text, plan_rows, tell, write_result
from calc.evaluate import Row
from calc.files.calibration.entries import calibration_text, entries_of_readings
from calc.files.calibration.run_logs import MOST_CHARACTERS, runs
from calc.files.calibration.run_readings import RunReading, readings_of_runs
from calc.files.imported_run import import_run
from calc.files.oom.command_in_log import command_in_log
from calc.files.oom.explain import LogProblem
from calc.files.oom.logs import logged_figures
from calc.files.oom.memory_parts import cards_of_log, on_card
from calc.plan.figures import records

TABLES = (".csv", ".parquet")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `calibrate`."""
    parser.usage = "%(prog)s [-h] [-o OUTPUT] [--model-config PATH] LOG [LOG ...] [plan.csv]"
    parser.epilog = (
        "Put the result into catalogs/own/: later estimates are corrected by it. plan.csv: the "
        "scenarios that were run; without it, the commands that the logs print."
    )
    logs = (
        "a trainer's or an engine's log, a benchmark's JSON, nvidia-smi, memory_summary or a "
        "memory snapshot"
    )
    parser.add_argument("logs", metavar="LOG", nargs="+", help=logs)


def main(options: argparse.Namespace, catalogs: Catalogs) -> int:
    """Write what the logs say of the plan's rows; 2 if none says anything."""
    catalogs = with_readings(catalogs, {})
    *logs, last = options.logs
    plan = last if logs and last.lower().endswith(TABLES) else ""
    logs = logs if plan else options.logs
    rows = records(plan_rows(plan, catalogs)) if plan else []
    readings: list[RunReading] = []
    for log in logs:
        read, why = _readings(Path(log), rows or [_row_in_log(log, catalogs)], catalogs)
        readings += read
        tell(*(f"{log}: {sentence}" for sentence in why))
    if readings:
        return write_result(options, calibration_text(entries_of_readings(readings)))
    return UNUSABLE


def _row_in_log(log: str, catalogs: Catalogs) -> Row:
    """The estimate of the command that a log prints of its run, on the card that it names."""
    text = pasted_text(log, MOST_CHARACTERS)
    command = command_in_log(text)
    run = import_run([(log, command.encode())], catalogs) if command else None
    if run is None or run.lacks_model:
        raise LogProblem(
            f"{log}: the log does not print the command of its run with a model of the catalog; "
            "add the plan that it ran: python -m calc calibrate LOG plan.csv."
        )
    cards = cards_of_log(text, logged_figures(text).get("card"), run.catalogs)
    return on_card(run.row, cards, run.catalogs)


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
