"""`python -m calc import`: config files as scenarios, one row for each run."""

import argparse
import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path

import pandas as pd

from calc.catalogs.load import Catalogs
from calc.commands.command import UNUSABLE, tell, write_table
from calc.files.configs.inside.programs import known_command
from calc.files.configs.problem import LARGEST_BYTES, MOST_DOCUMENTS, ConfigProblem
from calc.files.configs.run import ABOUT, Run
from calc.files.configs.run_summary import summary_of
from calc.files.data_sets import MOST_BYTES, may_be_data
from calc.files.runs_of_files import runs_of_files
from calc.scenarios.inputs import BY_NAME, DEFAULTS

OF_RUNS = (
    ".yaml",
    ".yml",
    ".json",
    ".toml",
    ".sh",
    ".sbatch",
    ".slurm",
    ".py",
    ".ipynb",
    ".properties",
    ".env",
    ".service",
    ".tf",
    ".tfvars",
)
NAMES = re.compile(
    r"(?i)dockerfile.*|makefile|justfile|hostfile|\.env"
)  # of files without an extension
PROSE = (".md", ".txt")
MOST_PROSE = 20_000  # bytes of a page that are looked at for a command
DEEPEST_FOLDER = 3


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `import`."""
    files = "a config or a launch command; join the files of one run with +"
    parser.add_argument("files", metavar="FILE", nargs="+", help=files)


def main(options: argparse.Namespace, catalogs: Catalogs) -> int:
    """Write the scenarios of all runs; 2 if none can be read."""
    table, refusals = _import_rows(options.files, catalogs)
    tell(*refusals)
    if len(refusals) == len(options.files):
        return UNUSABLE
    write_table(table, options.output)
    return 0


def _import_rows(runs: Sequence[str], catalogs: Catalogs) -> tuple[pd.DataFrame, list[str]]:
    """The runs as scenario rows, and a sentence for each that cannot be read."""
    rows, refusals = [], []
    for run in runs:
        try:
            runs_of_file = runs_of_files(
                [(name, content_of(name)) for name in named_files(run)], catalogs
            )
            rows += [one.row for one in runs_of_file]
            tell(*(f"{run}: {line}" for line in _said_of(runs_of_file)))
        except ConfigProblem as error:
            refusals.append(str(error))
            rows.append(
                dict.fromkeys((*BY_NAME, *ABOUT), "") | {"source_file": run, "problem": str(error)}
            )
    return pd.DataFrame(rows, dtype=object), refusals


def _said_of(runs: Sequence[Run]) -> Iterator[str]:
    """Yield how the first run was read, what the other runs of its files are, and what is open."""
    summaries = [summary_of(one.row, one.lines, DEFAULTS, {}) for one in runs]
    yield from summaries[0].lines()
    for one, summary in zip(runs[1:], summaries[1:], strict=True):
        name = one.row["scenario"].removeprefix(one.row["source_file"]).strip()
        parts = "; ".join(filter(None, (name, *summary.understood)))
        yield f"Also in your file, a run of its own: {parts}."
    problems = [one.row["problem"] for one in runs if one.row["problem"]]
    yield from (f"Problem: {problem}" for problem in dict.fromkeys(problems))


def named_files(run: str) -> list[str]:
    """The files of a run: those joined by +, or the configs and scripts of a folder.

    Of folders inside, the files nearest to the top come first.
    """
    folder = Path(run)
    if not folder.is_dir():
        return [run] if folder.exists() else run.split("+")
    inside = sorted(_files_of(folder, DEEPEST_FOLDER), key=lambda path: (len(path.parts), path))
    return [str(path) for path in inside[:MOST_DOCUMENTS]] or [run]


def _files_of(folder: Path, depth: int) -> Iterator[Path]:
    """Yield the files of a folder, and of those inside, that may say something of a run."""
    for path in sorted(folder.iterdir()):
        if path.is_dir() and depth and not path.name.startswith((".", "_")):
            yield from _files_of(path, depth - 1)
        elif path.is_file() and _is_of_run(path):
            yield path


def _is_of_run(path: Path) -> bool:
    """Return whether a file in a folder may say something of a run, by its name or a command."""
    suffix = path.suffix.lower()
    if suffix in PROSE:
        return _holds_command(path)
    return suffix in OF_RUNS or NAMES.fullmatch(path.name) is not None


def _holds_command(path: Path) -> bool:
    """Return whether a page of text holds a command of a tool or of a script that is read."""
    with suppress(OSError), path.open("rb") as stream:
        return bool(known_command().search(stream.read(MOST_PROSE).decode("utf-8", "replace")))
    return False


def content_of(name: str) -> bytes:
    """The bytes of a file, as many as a config may have; raises ConfigProblem."""
    path = Path(name)
    if path.is_dir():
        raise ConfigProblem(
            f"{name} is a folder without a config or a launch script; name the files of a run, "
            f"joined by +."
        )
    try:
        with path.open("rb") as stream:
            most_bytes = MOST_BYTES if may_be_data(name) else LARGEST_BYTES
            return stream.read(most_bytes + 1)  # one more, so that a larger file is seen
    except (OSError, ValueError) as error:
        file, why = name or "a file without a name", getattr(error, "strerror", None) or error
        raise ConfigProblem(f"{file}: {why}; check the path.") from None
