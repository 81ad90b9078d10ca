"""The data sets that are brought with a request: its examples, and the tokens of its run."""

from calc.evaluate import Row
from calc.files.configs.run_summary import EPOCHS
from calc.files.data_sets import DataSet, data_set
from calc.files.imported_run import Documents, ImportedRun
from calc.mappings import Cells

SEVERAL_DATA_SETS = ("examples", "example_tokens", "sequence_tokens")


def data_sets(documents: Documents) -> tuple[tuple[DataSet, ...], Documents]:
    """The data sets among the documents, and the other documents."""
    read = [(document, data_set(*document)) for document in documents]
    return (
        tuple(data for _, data in read if data is not None),
        [document for document, data in read if data is None],
    )


def columns_of_data(data: tuple[DataSet, ...]) -> Row:
    """The columns of a job that data sets say: examples, their mean length and the longest."""
    if not data:
        return {}
    each = [one.columns() for one in data]
    examples = sum(one["examples"] for one in each)
    tokens = sum(one["examples"] * one["example_tokens"] for one in each)
    return {
        "goal": "tune",
        "examples": examples,
        "example_tokens": max(round(tokens / examples), 1),
        "sequence_tokens": max(one["sequence_tokens"] for one in each),
    }


def amount_of_data(data: tuple[DataSet, ...], run: ImportedRun, named: Cells) -> Row:
    """The columns beside a run's files, whose length and epochs make tokens of the data sets."""
    others = {
        name: value for name, value in named.items() if name not in (*SEVERAL_DATA_SETS, "goal")
    }
    longest = float(run.row["sequence_tokens"] or max(one.tokens.max() for one in data))
    tokens = sum(one.cut(longest).tokens.sum() for one in data)
    epochs = next(
        (line.text for line in run.lines if line.field.rpartition(".")[2] in EPOCHS and line.text),
        "1",
    )
    try:
        passes = float(epochs)
    except ValueError:
        passes = 1.0
    if others.get("train_tokens") or run.scenario.get("train_tokens"):
        return others
    return {**others, "train_tokens": int(tokens * passes)}
