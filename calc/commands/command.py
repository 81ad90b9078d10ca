"""The shape of a command, and what several of them share: plans, texts, exit statuses."""

import argparse
import sys
from collections.abc import Callable, Mapping
from functools import cache
from importlib import import_module
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

import pandas as pd

from calc.catalogs.load import Catalogs
from calc.catalogs.strict_yaml import read_strictly
from calc.files.csv.earlier import earlier
from calc.files.csv.tables import read_csv
from calc.files.oom.explain import text_of
from calc.files.oom.snapshots import MOST_BYTES
from calc.files.streams import written
from calc.scenarios.inputs import inputs_by_name
from calc.scenarios.problems import TableError
from calc.search.inputs import JOB_BY_NAME

UNUSABLE, OVER_THE_LIMIT, INTERRUPTED = 2, 3, 130  # exit statuses, the last as shells have it


class Command(NamedTuple):
    """A command of commands.yaml: purpose, module and function, columns as flags, arguments."""

    about: str
    run: str
    takes_columns: bool = False
    arguments: Mapping[str, Mapping[str, Any]] = MappingProxyType({})

    def start(self, options: argparse.Namespace, catalogs: Catalogs) -> int:
        """Run the command; returns its exit status."""
        module, _, function = self.run.partition(".")
        return getattr(import_module(f"calc.commands.{module}"), function)(options, catalogs)


def argument_type(written: Any) -> Callable[[str], Any]:
    """How an argument is read: as a number, or as a whole number from least to most."""

    def count(text: str) -> int:
        least, most = written["least"], written["most"]
        if not text.isdecimal() or not least <= int(text) <= most:
            raise argparse.ArgumentTypeError(
                f"'{text}' is not a whole number from {least} to {most}"
            )
        return int(text)

    return float if written == "number" else count


@cache
def command_table(name: str) -> dict[str, Any]:
    """A table of this folder: commands or agent_tools."""
    path = Path(__file__).with_name(f"{name}.yaml")
    return read_strictly(path.read_text("utf-8"), path.name)


@cache
def every_command() -> dict[str, Command]:
    """Every command by its name; the one without a name estimates."""
    entries = command_table("commands")
    return {
        name: Command(**{"run": f"{name}.main", **entry})
        for name, entry in {"": entries["estimate"], **entries}.items()
    }


def columns_of_flags(words: list[str]) -> tuple[dict[str, str], list[str]]:
    """Columns written as flags (--batch 4, --batch=4) by name, and the other words."""
    columns: dict[str, str] = {}
    others, names = [], inputs_by_name() | JOB_BY_NAME
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
    """The cells of a CSV file with a `column` at least; raises TableError or OSError."""
    return read_csv(Path(path).read_bytes(), path, column)


def plan_rows(path: str, catalogs: Catalogs, solve: bool = False) -> pd.DataFrame:
    """Every row of a CSV estimated and billed, uniquely named; raises TableError or OSError.

    One unreadable cell makes the file unusable: a check must not pass over what it could not read.
    """
    plan = earlier(cells_of(path), path, catalogs, solve)
    for complaint in plan.complaints:
        print(complaint, file=sys.stderr)
    if plan.unread:
        raise TableError(f"{path}: {plan.unread[0]}")
    names: list[str] = []
    for number, name in enumerate(map(str, plan.rows["scenario"]), start=1):
        plain = name or f"row {number}"
        same = sum(other == plain or other.startswith(f"{plain} #") for other in names)
        names.append(f"{plain} #{same + 1}" if same else plain)
    return plan.rows.assign(scenario=names)


def write_result(options: argparse.Namespace, text: str) -> int:
    """Write the result of a command; returns 0."""
    with written(options.output) as target:
        target.write(text)
    return 0
