"""`python -m calc scenarios.csv -o estimates.csv`: a table of scenarios in, the same table with its results out.

`python -m calc answer jobs.csv -o answers.csv`: a table of jobs in, what to rent for each of them out.
`python -m calc import FILE... -o scenarios.csv`: configs of training and serving tools in, a scenario for each run out.
"""

import argparse
import os
import signal
import sys
from contextlib import contextmanager, nullcontext
from errno import EDQUOT, ENOSPC
from pathlib import Path
from shutil import copymode
from time import monotonic

from calc import CatalogError, add_models, estimate, load_catalogs
from calc.doors.answers_csv import answered
from calc.doors.config_files import imported
from calc.doors.csv_tables import as_written, read_tables
from calc.doors.csv_writer import write_csv
from calc.models.huggingface.config import ConfigError, read_config_text, refused_entry
from calc.scenarios.problems import TableError

CHUNK_ROWS, CHUNK_JOBS = 60_000, 20
TERMINAL_SECONDS, QUIET_SECONDS = 1, 10  # between two words on how far it is, on a terminal and elsewhere
INTERRUPTED = 130  # as shells have it


def main(arguments: list[str] | None = None) -> int:
    """Returns the exit status: 0 when all rows were read, 2 when the input as a whole is unusable, 130 when interrupted."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    answers, imports = words[:1] == ["answer"], words[:1] == ["import"]
    options = (_import_parser() if imports else _parser(answers)).parse_args(words[1:] if answers or imports else words)
    given = "standard input" if options.table == "-" else options.table
    named = "standard output" if options.output == "-" else options.output
    try:
        catalogs = load_catalogs()
        if options.model_config:
            catalogs = add_models(catalogs, dict(_configs(options.model_config, catalogs)))
        if imports:
            return _import(options, catalogs)
        with _read(options.table) as source, _written(options.output) as target:
            if answers:
                _stream(read_tables(source, given, CHUNK_JOBS), lambda table: answered(table, catalogs), target, "jobs")
            else:
                _stream(read_tables(source, given, CHUNK_ROWS), lambda table: as_written(estimate(table, catalogs), table), target)
    except (TableError, CatalogError, ConfigError) as error:
        print(error, file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print(f"Interrupted; {named} {'ends where it was' if options.output == '-' else 'was left as it was'}.", file=sys.stderr)
        return INTERRUPTED
    except OSError as error:
        if options.output == "-" and error.filename is None:
            _forget_standard_output()
        if isinstance(error, BrokenPipeError):
            return 0
        cure = "make room there" if error.errno in (ENOSPC, EDQUOT) else "check the path"
        print(f"{error.filename or named}: {error.strerror}; {cure}.", file=sys.stderr)
        return 2
    return 0


def _parser(answers):
    """The options of the command; those of `answer` are the same."""
    what = "Answer every job of a CSV: what to rent on AWS." if answers else "Estimate GPU memory and AWS cost of every scenario of a CSV."
    more = None if answers else "python -m calc answer jobs.csv: what to rent; python -m calc import FILE...: configs as scenarios."
    parser = argparse.ArgumentParser(prog="python -m calc answer" if answers else "python -m calc", description=what, epilog=more)
    rows = "jobs" if answers else "scenarios"
    parser.add_argument("table", metavar=rows, nargs="?", default="-", help=f"CSV of {rows}; - or none: standard input")
    return _with_common(parser)


def _import_parser():
    """The options of `import`."""
    what = "Read configs and launch commands of training and serving tools; write a scenario for each run."
    parser = argparse.ArgumentParser(prog="python -m calc import", description=what)
    parser.add_argument("files", metavar="FILE", nargs="+", help="a config or a launch command; the files of one run joined by +")
    parser.set_defaults(table="-")
    return _with_common(parser)


def _with_common(parser):
    parser.add_argument("-o", "--output", default="-", help="CSV to write; none: standard output")
    config = "a Hugging Face config.json, or a folder of them"
    parser.add_argument("--model-config", action="append", default=[], metavar="PATH", help=config)
    return parser


def _import(options, catalogs):
    """Write the scenarios of all runs; 2 where none can be read."""
    table, refused = imported(options.files, catalogs)
    for sentence in refused:
        print(sentence, file=sys.stderr)
    if len(refused) == len(options.files):
        return 2
    with _written(options.output) as target:
        write_csv(table, target)
    return 0


def _stream(tables, results_of, target, what="rows"):
    """Write the results of one table after another; how far it is stands on standard error when it takes long."""
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


def _read(path):
    return nullcontext(sys.stdin.buffer) if path == "-" else Path(path).open("rb")


@contextmanager
def _written(path):
    """A stream for text that takes the place of the file when all of it is written; a fault leaves the file as it was."""
    if path == "-":
        yield sys.stdout
    elif Path(path).exists() and not Path(path).is_file():  # a device or a pipe has no place to take
        with Path(path).open("w", encoding="utf-8", newline="") as stream:
            yield stream
    else:
        final = Path(path).resolve()
        beside = final.with_name(f".{final.name}.{os.getpid()}")
        try:
            with beside.open("x", encoding="utf-8", newline="") as stream:
                yield stream
            if final.exists():
                copymode(final, beside)
            beside.replace(final)
        except OSError as error:
            if error.filename == str(beside):
                error.filename = path
            raise
        finally:
            beside.unlink(missing_ok=True)


def _forget_standard_output():
    """What is still to be written has nowhere to go; without this Python would complain about it at its end."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _configs(paths, catalogs):
    for path in map(Path, paths):
        files = sorted(path.glob("*.json")) if path.is_dir() else [path]
        if not files:
            raise ConfigError(f"{path}: there is no *.json in this folder; put config.json files there.")
        for file in files:
            try:
                try:
                    text = file.read_text(encoding="utf-8-sig")
                except UnicodeDecodeError as error:
                    raise ConfigError(f"{file} is not UTF-8 text (byte {error.start}); give a config.json.") from None
                yield file.stem, read_config_text(text, file.stem, catalogs)
            except ConfigError as error:
                if not path.is_dir():
                    raise
                print(f"{error} Rows that name it are refused.", file=sys.stderr)
                yield file.stem, refused_entry(file.stem, str(error))


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    sys.exit(main())
