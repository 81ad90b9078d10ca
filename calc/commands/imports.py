"""`python -m calc import`: config files as scenarios, one row for each run."""

import argparse
from collections.abc import Iterator, Sequence
from pathlib import Path

import pandas as pd

from calc.catalogs.load import Catalogs
from calc.commands.command import UNUSABLE, tell, write_table
from calc.files.configs.problem import LARGEST_BYTES, MOST_DOCUMENTS, ConfigProblem
from calc.files.configs.run import ABOUT, Run, read_runs
from calc.files.configs.run_summary import summary_of
from calc.files.data_sets import MOST_BYTES, may_be_data
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
)


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
            runs_of_file = read_runs(
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
    """The files of a run: those joined by +, or the configs and scripts of a folder."""
    folder = Path(run)
    if not folder.is_dir():
        return [run] if folder.exists() else run.split("+")
    inside = sorted(
        path
        for path in folder.iterdir()
        if path.is_file()
        and (path.suffix.lower() in OF_RUNS or path.name.lower().startswith("dockerfile"))
    )
    return [str(path) for path in inside[:MOST_DOCUMENTS]] or [run]


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
