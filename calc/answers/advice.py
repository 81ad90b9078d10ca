"""Advice on a scenario in words: each change, what it costs in quality, and its source."""

import pandas as pd

from calc.catalogs.load import Catalogs
from calc.evaluate import Row
from calc.layout import at_once
from calc.mappings import Cells, Changes
from calc.say.change import change_in_words, loses_quality, quality
from calc.say.numbers import percent
from calc.studies.advice import advice, estimated_row


def advise(
    scenario: Cells,
    catalogs: Catalogs,
    market: str = "on-demand",
    limits: Cells | None = None,
    lacking_bytes: float = 0.0,
) -> pd.DataFrame:
    """Return changes of a scenario or an estimated row that run and fit, the most useful first.

    The columns of calc.studies.advice.advice, with `change` in words, its cost in `quality`,
    whether it costs any (`loses_quality`), and the `source` of that.
    """
    row = estimated_row(scenario, catalogs)
    useful = advice(row, catalogs, market, limits, lacking_bytes)
    figures = [name for name in useful if name != "set"]
    columns = ["change", *figures, "quality", "loses_quality", "source", "set"]
    if not len(useful):
        return useful.reindex(columns=columns)
    serves = row["work"] == "inference"
    changes = list(useful[["kind", "set", "runs"]].itertuples(index=False, name=None))
    words = [change_words(row, kind, change, runs, catalogs) for kind, change, runs in changes]
    # Another step changes the result by itself, whatever columns it sets.
    settings = [{"step": ""} if kind == "step" else change for kind, change, _ in changes]
    notes, sources = zip(*(quality(setting, catalogs, serves) for setting in settings), strict=True)
    return useful.assign(
        change=pd.Series(words, useful.index, dtype=object),
        quality=pd.Series(notes, useful.index, dtype=object),
        source=pd.Series(sources, useful.index, dtype=object),
        loses_quality=[loses_quality(setting, catalogs, serves) for setting in settings],
    )[columns]


def change_words(row: Row, kind: str, change: Changes, runs: str, catalogs: Catalogs) -> str:
    """A change in words; another step with its size, and what is emulated marked as such."""
    on_machine = {"gpus": row["gpus"], **change} if "instance" in change else change
    words = change_in_words(on_machine, catalogs, row["work"] == "inference") + (
        " (emulated)" if runs == "emulated" else ""
    )
    if kind != "step":
        return words
    times = at_once({**row, **change}) / at_once(row)
    if times >= 1:
        size = f"{times:.3g} times"
    elif times == 1 / 2:
        size = "half"
    else:
        size = f"{percent(times)} of"
    return f"{words}: {size} the tokens per step"
