"""`python -m calc scenarios.csv -o estimates.csv`: scenarios in, results out.

`python -m calc answer jobs.csv -o answers.csv`: a table of jobs in, what to rent for each of them out.
`python -m calc import FILE... -o scenarios.csv`: configs of training and serving tools in, a scenario for each run out.
`python -m calc launch plan.csv -o folder`: a scenario in, the files that start it out. `oom`, `diff`, `gate` and `solve`: see --help.
"""

import argparse
import signal
import sys
from collections.abc import Callable, Iterator
from errno import EDQUOT, ENOSPC
from time import monotonic
from typing import Any, NamedTuple

from calc import CatalogError, add_models, estimate, load_catalogs
from calc.catalogs.load import Catalogs
from calc.files.config_files import imported
from calc.files.configs.problem import ConfigProblem
from calc.files.csv.plan import plan_rows
from calc.files.csv.solve import FIELDS, break_even, solved
from calc.files.csv.tables import as_written, read_tables
from calc.files.csv.writer import write_csv
from calc.files.diff_text import diff_markdown
from calc.files.gate import Limits, broken
from calc.files.hub import model_of, read_repository
from calc.files.launch.kit import comment, kits
from calc.files.launch_files import files_of, not_to_launch, warned, write_folder
from calc.files.model_configs import added_models
from calc.files.oom.explain import LogProblem
from calc.files.oom_text import oom_markdown
from calc.files.streams import forget_standard_output, read, written
from calc.models.huggingface.config import ConfigError
from calc.plan.figures import records
from calc.scenarios.problems import TableError
from calc.search.answer import answer

CHUNK_ROWS, CHUNK_JOBS = 60_000, 20
TERMINAL_SECONDS, QUIET_SECONDS = 1, 10  # between two words on how far it is, on a terminal and elsewhere
INTERRUPTED = 130  # as shells have it
UNUSABLE, OVER_THE_LIMIT = 2, 3


def main(arguments: list[str] | None = None) -> int:
    """Runs a command; returns 0, or 2 for unusable input, 130 when interrupted.

    `gate` returns 3 when a row is over a limit, `launch` when its plan does not run or fit.
    """
    words = list(sys.argv[1:] if arguments is None else arguments)
    name = words[0] if words and words[0] in COMMANDS else ""
    command = COMMANDS[name]
    options = _parser(name, command).parse_args(words[1:] if name else words)
    named = "standard output" if options.output == "-" else options.output
    try:
        catalogs = load_catalogs()
        if options.model or options.model_config:
            values = {model_of(name): read_repository(name, catalogs) for name in options.model}
            catalogs = add_models(catalogs, values | dict(added_models(options.model_config, catalogs)))
        return command.run(options, catalogs)
    except (TableError, CatalogError, ConfigError, ConfigProblem, LogProblem) as error:
        print(error, file=sys.stderr)
        return UNUSABLE
    except KeyboardInterrupt:
        print(f"Interrupted; {named} {'ends where it was' if options.output == '-' else 'was left as it was'}.", file=sys.stderr)
        return INTERRUPTED
    except MemoryError:
        print("This needs more memory than there is: split the table, or compare fewer values at once.", file=sys.stderr)
        return 2
    except OSError as error:
        if options.output == "-" and error.filename is None:
            forget_standard_output()
        if isinstance(error, BrokenPipeError):
            return 0
        cure = "make room there" if error.errno in (ENOSPC, EDQUOT) else "check the path"
        print(f"{error.filename or named}: {error.strerror}; {cure}.", file=sys.stderr)
        return UNUSABLE


class Command(NamedTuple):
    """A command: its purpose, its arguments (name, help, more), and its function."""

    about: str
    arguments: tuple[tuple[str, dict[str, Any]], ...]
    run: Callable[[argparse.Namespace, Catalogs], int]


def _parser(name: str, command: Command) -> argparse.ArgumentParser:
    """The options of a command; -o, --model-config and --model are those of all."""
    more = f"Other commands: {', '.join(filter(None, COMMANDS))}; python -m calc COMMAND --help." if not name else None
    parser = argparse.ArgumentParser(prog=f"python -m calc {name}".strip(), description=command.about, epilog=more)
    for argument, details in command.arguments:
        parser.add_argument(argument, **details)
    parser.add_argument("-o", "--output", default="-", help="what to write; none: standard output")
    config = "a Hugging Face config.json, or a folder of them"
    parser.add_argument("--model-config", action="append", default=[], metavar="PATH", help=config)
    hub = "a model of the Hugging Face hub; rows name it by its name in small letters"
    parser.add_argument("--model", action="append", default=[], metavar="ORG/NAME", help=hub)
    return parser


def _estimate(options: argparse.Namespace, catalogs: Catalogs) -> int:
    """Results beside every row of a scenario CSV of any length."""
    return _streamed(options, CHUNK_ROWS, lambda table: as_written(estimate(table, catalogs), table))


def _answer(options: argparse.Namespace, catalogs: Catalogs) -> int:
    """What to rent for every job of a CSV."""
    return _streamed(options, CHUNK_JOBS, lambda table: answer(table, catalogs), "jobs")


def _streamed(options: Any, rows: int, results_of: Callable, what: str = "rows") -> int:
    source_name = "standard input" if options.table == "-" else options.table
    with read(options.table) as source, written(options.output) as target:
        _stream(read_tables(source, source_name, rows), results_of, target, what)
    return 0


def _diff(options: argparse.Namespace, catalogs: Catalogs) -> int:
    """Two plans as Markdown."""
    before, after = (plan_rows(path, catalogs) for path in (options.before, options.after))
    return _write_text(options, diff_markdown(before, after, (options.before, options.after), catalogs))


def _gate(options: argparse.Namespace, catalogs: Catalogs) -> int:
    """0 where every row keeps every limit, 3 where one does not: a sentence for each."""
    limits = Limits(options.fits, options.usd_most, options.hours_most, options.usd_per_hour_most)
    if limits == Limits():
        raise TableError("gate has nothing to check; name --fits, --usd-most, --hours-most or --usd-per-hour-most.")
    rows = plan_rows(options.plan, catalogs)
    result = broken(rows, limits)
    _write_text(options, "".join(f"{sentence}\n" for sentence in result) or f"Every limit is kept (rows checked: {len(rows)}).\n")
    return OVER_THE_LIMIT if result else 0


def _solve(options: argparse.Namespace, catalogs: Catalogs) -> int:
    """The most that each row holds, or the price at which two plans cost the same."""
    if options.field == "price":
        if not options.other:
            raise TableError("solve price compares two plans; name A.csv and B.csv.")
        result = break_even(*(plan_rows(path, catalogs) for path in (options.plan, options.other)))
    else:
        result = solved(options.field, plan_rows(options.plan, catalogs, solve=True), catalogs)
    with written(options.output) as target:
        write_csv(result, target)
    return 0


def _oom(options: argparse.Namespace, catalogs: Catalogs) -> int:
    """A message or a log as Markdown, beside the estimate of its run."""
    return _write_text(options, oom_markdown(options.log, options.run, catalogs))


def _launch(options: argparse.Namespace, catalogs: Catalogs) -> int:
    """The files of the first row, or of the one that is named, in a folder."""
    if options.output == "-":
        raise TableError("launch writes several files; name their folder with -o.")
    rows = plan_rows(options.plan, catalogs)
    chosen = rows[rows["scenario"] == options.scenario] if options.scenario else rows.head(1)
    if not len(chosen):
        raise TableError(f"{options.plan} has no scenario '{options.scenario}'; it has {', '.join(rows['scenario'].head(6))}.")
    row = records(chosen)[0]
    values = {kit.id: kit for kit in kits(row, catalogs, row["market"])} if not row["problem"] else {}
    if not values or (options.tool and options.tool not in values):
        cure = f"use {' or '.join(values)}" if values else "name software and sharding that a tool of the launch kit runs"
        raise TableError(f"{options.plan}, {row['scenario']}: {row['problem'] or 'no launch kit runs it so'}; {cure}.")
    kit = values[options.tool or next(iter(values))]
    warning = not_to_launch(row)
    if warning and not options.anyway:
        print(f"{row['scenario'] or options.plan}: {warning} Nothing was written; change the plan, or add --anyway.", file=sys.stderr)
        return OVER_THE_LIMIT
    write_folder(files_of(warned(kit, warning) if warning else kit, row, row["market"]), options.output)
    for difference in kit.differences:
        print(comment(difference, kit.name), file=sys.stderr)
    return 0


def _write_text(options: argparse.Namespace, text: str) -> int:
    with written(options.output) as target:
        target.write(text)
    return 0


def _import(options: argparse.Namespace, catalogs: Catalogs) -> int:
    """Write the scenarios of all runs; 2 where none can be read."""
    table, refused = imported(options.files, catalogs)
    for sentence in refused:
        print(sentence, file=sys.stderr)
    if len(refused) == len(options.files):
        return UNUSABLE
    with written(options.output) as target:
        write_csv(table, target)
    return 0


def _stream(tables: Iterator, results_of: Callable, target: Any, what: str = "rows") -> None:
    """Write the results table by table; report progress on standard error."""
    rows, begun, reported, first = 0, monotonic(), 0.0, True
    terminal = sys.stderr.isatty()
    try:
        for table in tables:
            write_csv(results_of(table), target, header=first)
            target.flush()
            rows, first = rows + len(table), False
            seconds = monotonic() - begun
            if seconds - reported >= (TERMINAL_SECONDS if terminal else QUIET_SECONDS):
                reported = seconds
                progress = f"{rows:,} {what}, {rows / seconds:,.0f} per second"
                print(f"\r{progress:<50}" if terminal else progress, end="" if terminal else "\n", file=sys.stderr, flush=True)
    finally:
        if reported and terminal:
            print(file=sys.stderr)


PLAN = ("plan", {"metavar": "plan.csv", "help": "CSV of scenarios"})
COMMANDS = {
    "": Command(
        "Estimate GPU memory and AWS cost of every scenario of a CSV.",
        (("table", {"metavar": "scenarios", "nargs": "?", "default": "-", "help": "CSV of scenarios; - or none: standard input"}),),
        _estimate,
    ),
    "answer": Command(
        "Answer every job of a CSV: what to rent on AWS.",
        (("table", {"metavar": "jobs", "nargs": "?", "default": "-", "help": "CSV of jobs; - or none: standard input"}),),
        _answer,
    ),
    "import": Command(
        "Read configs and launch commands of training and serving tools; write a scenario for each run.",
        (("files", {"metavar": "FILE", "nargs": "+", "help": "a config or a launch command; the files of one run joined by +"}),),
        _import,
    ),
    "launch": Command(
        "Write the files that start a scenario: for its tool, for SkyPilot, for AWS. Exit 3: it does not run or fit.",
        (
            PLAN,
            ("--scenario", {"default": "", "help": "the row's name; none: the first"}),
            ("--tool", {"default": "", "help": "the tool; none: the one that loses least"}),
            ("--anyway", {"action": "store_true", "help": "write a plan that does not run or fit too, with a warning on top"}),
        ),
        _launch,
    ),
    "oom": Command(
        "Explain an out-of-memory message or a log beside the estimate of its run.",
        (
            ("log", {"metavar": "LOG", "help": "text: the message, memory_summary or an engine's log"}),
            ("run", {"metavar": "RUN", "help": "a scenario CSV, or the configs of the run joined by +"}),
        ),
        _oom,
    ),
    "diff": Command(
        "Say in Markdown what changed between two plans, in memory, time and money.",
        (("before", {"metavar": "A.csv", "help": "CSV of scenarios"}), ("after", {"metavar": "B.csv", "help": "CSV of scenarios"})),
        _diff,
    ),
    "gate": Command(
        "Check that every scenario of a plan keeps its limits: exit 0, 3 over a limit, 2 unusable.",
        (
            PLAN,
            ("--fits", {"action": "store_true", "help": "the whole range of the memory is on the card"}),
            ("--usd-most", {"type": float, "help": "USD of the run, of a service a month"}),
            ("--hours-most", {"type": float, "help": "hours of the run"}),
            ("--usd-per-hour-most", {"type": float, "help": "USD of an hour of all instances"}),
        ),
        _gate,
    ),
    "solve": Command(
        "Find the most of a field that every scenario holds, or the price at which another plan costs the same.",
        (
            ("field", {"metavar": "FIELD", "help": f"{', '.join(FIELDS)}, price"}),
            PLAN,
            ("other", {"metavar": "B.csv", "nargs": "?", "default": "", "help": "of price: the plan whose price is asked for"}),
        ),
        _solve,
    ),
}


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    sys.exit(main())
