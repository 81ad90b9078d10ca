"""Config files as a table of scenarios: a row for each run, its files joined by +."""

from collections.abc import Sequence
from pathlib import Path

import pandas as pd

from calc.catalogs.load import Catalogs
from calc.files.configs.problem import LARGEST_BYTES, ConfigProblem
from calc.files.configs.run import ABOUT, run_row
from calc.scenarios.inputs import BY_NAME


def imported(runs: Sequence[str], catalogs: Catalogs) -> tuple[pd.DataFrame, list[str]]:
    """The runs as scenario rows, and a sentence for each that cannot be read."""
    rows, refused = [], []
    for run in runs:
        try:
            rows.append(run_row([(name, _content(name)) for name in ([run] if Path(run).exists() else run.split("+"))], catalogs))
        except ConfigProblem as error:
            refused.append(str(error))
            rows.append(dict.fromkeys((*BY_NAME, *ABOUT), "") | {"source_file": run, "problem": str(error)})
    return pd.DataFrame(rows, dtype=object), refused


def _content(name: str) -> bytes:
    path = Path(name)
    if path.is_dir():
        raise ConfigProblem(f"{name} is a folder; name the files in it, those of one run joined by +.")
    try:
        with path.open("rb") as stream:
            return stream.read(LARGEST_BYTES + 1)
    except (OSError, ValueError) as error:
        raise ConfigProblem(f"{name or 'a file without a name'}: {getattr(error, 'strerror', None) or error}; check the path.") from None
