"""The list of commands, and what several of them share: plans, texts, exit statuses."""

import argparse
import sys
from collections.abc import Callable
from datetime import date
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import NamedTuple

import pandas as pd

from calc.catalogs.load import Catalogs
from calc.files.csv.earlier import earlier
from calc.files.csv.tables import read_csv
from calc.files.csv.writer import write_csv
from calc.files.oom.explain import text_of
from calc.files.oom.snapshots import MOST_BYTES
from calc.files.streams import replacing_stream
from calc.job.columns import JOB_BY_NAME
from calc.scenarios.inputs import inputs_by_name
from calc.scenarios.problems import TableError, quote_cell

UNUSABLE, OVER_THE_LIMIT, INTERRUPTED = 2, 3, 130  # exit statuses, the last as shells have it


class Command(NamedTuple):
    """A command: its module in this folder, and its purpose in one line.

    The module has `add_arguments(parser)` and `main(options, catalogs)`, which returns the exit
    status. `takes_columns` says that any column may be given as a flag (--batch 4).
    """

    module: str
    purpose: str
    takes_columns: bool = False

    def load(self) -> ModuleType:
        """Import the module of the command."""
        return import_module(f"calc.commands.{self.module}")


COMMANDS = {
    "estimate": Command("estimate", "Estimate memory, time and cost of each scenario in a table."),
    "answer": Command("answer", "Find what to rent on AWS for each job in a table."),
    "show": Command("show", "Show one estimate, from words, files or columns as flags.", True),
    "import": Command("imports", "Turn configs and launch files into scenarios."),
    "launch": Command("launch", "Write the files that start a plan."),
    "oom": Command("oom", "Explain an out-of-memory message with the estimate of its run."),
    "calibrate": Command("calibrate", "Compare your own runs with their plan."),
    "diff": Command("diff", "List what changed between two plans."),
    "actual": Command(
        "actual", "Compare a bill that came with the plans, and say why they differ."
    ),
    "gate": Command("gate", "Check a plan against limits, for use in CI."),
    "solve": Command("solve", "Find the largest batch, context or number of users that works."),
    "simulate": Command("simulate", "Simulate a model's own class on this machine without a GPU."),
    "load": Command("load", "Plan a service over a day: machines by hour, scaling, growth."),
    "neuron": Command("neuron", "Show plans on Trainium and Inferentia, at published rates."),
    "teams": Command("teams", "Sum up plans by team, and check them against budgets."),
    "schedule": Command("schedule", "Plan the jobs of a team on its machines."),
    "tuned": Command("tuned", "Plan fine-tuning and then serving, month by month."),
    "serve-mcp": Command("serve_mcp", "Serve tools to an agent by the Model Context Protocol."),
}


def bounded_number(least: int, most: int) -> Callable[[str], int]:
    """Return a type for argparse: a whole number from `least` to `most`."""

    def read(text: str) -> int:
        if not text.isdecimal() or not least <= int(text) <= most:
            raise argparse.ArgumentTypeError(
                f"'{text}' is not a whole number from {least} to {most}"
            )
        return int(text)

    return read


def columns_of_flags(words: list[str]) -> tuple[dict[str, str], list[str]]:
    """Columns written as flags (--batch 4, --batch=4) by name, and the other words."""
    columns: dict[str, str] = {}
    others = []
    names = inputs_by_name() | JOB_BY_NAME
    rest = iter(words)
    for word in rest:
        flag, equals, value = word.partition("=")
        name = flag.removeprefix("--").replace("-", "_")
        if flag.startswith("--") and name in names:
            columns[name] = value if equals else next(rest, "")
        else:
            others.append(word)
    return columns, others


def pasted_text(path: str, most_bytes: int) -> str:
    """The beginning of a message or a log; raises LogProblem as text_of does, or OSError."""
    with Path(path).open("rb") as stream:
        return text_of(stream.read(MOST_BYTES))[:most_bytes]


def cells_of(path: str, column: str = "model") -> pd.DataFrame:
    """The cells of a CSV file with a `column` at least. Raises TableError or OSError."""
    return read_csv(Path(path).read_bytes(), path, column)


def plan_rows(path: str, catalogs: Catalogs, solve: bool = False) -> pd.DataFrame:
    """Every row of a CSV estimated and billed, uniquely named. Raises TableError or OSError.

    One unreadable cell makes the file unusable: a check must not pass over what it could not read.
    """
    plan = earlier(cells_of(path), path, catalogs, solve)
    tell(*plan.complaints)
    if plan.unread:
        raise TableError(f"{path}: {plan.unread[0]}")
    names: list[str] = []
    for number, name in enumerate(map(str, plan.rows["scenario"]), start=1):
        plain = name or f"row {number}"
        same = sum(other == plain or other.startswith(f"{plain} #") for other in names)
        names.append(f"{plain} #{same + 1}" if same else plain)
    return plan.rows.assign(scenario=names)


def with_days(plans: pd.DataFrame, path: str) -> pd.DataFrame:
    """The plans with the days on which they start and end, where their file has them.

    Raises TableError if a cell is not a date.
    """
    cells = cells_of(path)
    days = {
        name: [iso_day(str(cell).strip(), f"{path}: ", f" in {name}") for cell in cells[name]]
        for name in ("starts", "ends")
        if name in cells
    }
    return plans.assign(**days)


def iso_day(word: str, before: str = "", after: str = "") -> str:
    """An ISO day, or empty. Raises TableError, with words before and after the wrong one."""
    try:
        return date.fromisoformat(word).isoformat() if word else ""
    except ValueError:
        raise TableError(
            f"{before}'{quote_cell(word)}'{after} is not a date; write it as 2026-11-28."
        ) from None


def write_table(table: pd.DataFrame, path: str) -> None:
    """Write a table as CSV, to standard output if the path is a hyphen."""
    with replacing_stream(path) as target:
        write_csv(table, target)


def tell(*sentences: str) -> None:
    """Write sentences to standard error, a line each; empty ones are left out."""
    for sentence in filter(None, sentences):
        print(sentence, file=sys.stderr)


def write_result(options: argparse.Namespace, text: str) -> int:
    """Write the result of a command; returns 0."""
    with replacing_stream(options.output) as target:
        target.write(text)
    return 0
