"""A data set for training, JSON lines, JSON, CSV or Parquet: its examples and their lengths.

Tokens are counted by characters, whose ratio to tokens is stated beside the figures.
"""

import io
import json
import re
from collections.abc import Iterator, Sequence
from math import ceil
from pathlib import PurePath
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from calc.evaluate import Row
from calc.files.configs.problem import ConfigProblem

MOST_BYTES = 256 * 1024 * 1024  # of a file that is read; the rest of a larger one is not
MOST_EXAMPLES = 2_000_000
SUFFIXES = (".jsonl", ".ndjson", ".json", ".csv", ".tsv", ".parquet")
LOOKED_AT = 20  # examples by which a data set is told from other files
# Fields that hold text of an example.
TEXTS = (
    *("prompt", "completion", "response", "instruction", "input", "output", "text", "content"),
    *("question", "answer", "messages", "conversations", "conversation", "query", "context"),
    *("system", "target", "source", "summary", "document", "dialogue", "article", "passage"),
    *("user", "assistant", "human", "gpt", "rejected", "chosen", "positive", "negative"),
)
PAIR = ("chosen", "rejected")  # of an example with two answers, each a sequence of its own
OTHER_FILES = frozenset({"model", "model_type", "scenario", "benchmark", "train_tokens"})
LATIN_CHARACTERS, CJK_CHARACTERS, OTHER_CHARACTERS = 4.0, 1.5, 2.5  # of one token, roughly
MESSAGE_TOKENS = 4  # of a chat template around each message
CJK = re.compile("[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
LATIN = re.compile("[\u0000-\u024f]")
USUAL_BATCH = 8  # sequences, where no run says how many stand in a batch
SEED = 0  # of the shuffle by which padding is measured


class DataSet(NamedTuple):
    """The lengths of the sequences of a data set, in tokens, and how they were counted."""

    name: str
    examples: int
    tokens: np.ndarray  # of each sequence: two of an example with a pair of answers
    fields: tuple[str, ...]
    is_part: bool  # whether the file has more examples than were read

    @property
    def mean_tokens(self) -> float:
        """Tokens of an example in the mean, a pair's sequence each for itself."""
        return float(self.tokens.mean())

    def cut(self, longest: float) -> "DataSet":
        """Return the data set with its sequences cut at a length in tokens."""
        return self._replace(tokens=np.minimum(self.tokens, longest))

    def columns(self) -> dict[str, int]:
        """The columns of a job that the data set says."""
        return {
            "examples": self.examples,
            "example_tokens": max(round(self.tokens.sum() / self.examples), 1),
            "sequence_tokens": ceil(self.tokens.max()),
        }

    def sentence(self, batch: int = USUAL_BATCH) -> str:
        """The figures in one line; `batch`: the sequences that are padded to one length."""
        longest, share = padding(self.tokens, batch)
        part = f" (the first {MOST_BYTES // 2**20} MiB of the file)" if self.is_part else ""
        return (
            f"Data: {self.name} has {self.examples:,} examples{part}, "
            f"{self.tokens.sum():,.0f} tokens by characters ({LATIN_CHARACTERS:g} of Latin script "
            f"a token) in {', '.join(self.fields)}: mean {self.mean_tokens:,.0f}, 95th percentile "
            f"{np.percentile(self.tokens, 95):,.0f}, longest {self.tokens.max():,.0f}. In batches "
            f"of {batch} padded to their longest, {share:.0%} is padding, and the longest batch "
            f"has {longest:,.0f} tokens."
        )


def padding(tokens: np.ndarray, batch: int) -> tuple[float, float]:
    """Tokens of the longest batch and the share of padding, in shuffled batches."""
    shuffled = np.random.default_rng(SEED).permutation(tokens)
    whole = shuffled[: len(shuffled) // batch * batch]
    rows = whole.reshape(-1, batch) if len(whole) else shuffled.reshape(1, -1)
    padded = rows.max(axis=1) * rows.shape[1]
    return float(tokens.max() * min(batch, len(tokens))), float(1 - rows.sum() / padded.sum())


def may_be_data(name: str) -> bool:
    """Return whether a file's name is that of a data set."""
    return PurePath(name).suffix.lower() in SUFFIXES


def data_set(name: str, content: bytes) -> DataSet | None:
    """The data set of a file; None for any other file, raises ConfigProblem for a broken one."""
    if not may_be_data(name):
        return None
    rows, is_part = _rows(name, content)
    first = rows[:LOOKED_AT]
    if len(first) < 2 or any(OTHER_FILES & {key.lower() for key in row} for row in first):
        return None
    fields = tuple(
        key
        for key in dict.fromkeys(key for row in first for key in row)
        if key.lower() in TEXTS and any(_texts(row.get(key)) for row in first)
    )
    if not fields:
        return None
    lengths = [length for row in rows for length in _lengths(row, fields)]
    short = PurePath(name).name
    return DataSet(short, len(rows), np.array(lengths, dtype=float), fields, is_part)


def _rows(name: str, content: bytes) -> tuple[Sequence[Row], bool]:
    """The examples of a file, none where it has another form, and whether there are more."""
    suffix = PurePath(name).suffix.lower()
    is_part = len(content) > MOST_BYTES
    if suffix == ".parquet":
        return _parquet(name, content), False
    text = content[:MOST_BYTES].decode("utf-8-sig", "replace")
    if suffix in (".csv", ".tsv"):
        try:
            table = pd.read_table(
                io.StringIO(text),
                sep="\t" if suffix == ".tsv" else ",",
                dtype=str,
                keep_default_na=False,
                on_bad_lines="skip",
                nrows=MOST_EXAMPLES,
            )
        except (ValueError, pd.errors.ParserError):
            return [], False
        return [
            {str(key): value for key, value in row.items()} for row in table.to_dict("records")
        ], is_part
    if suffix == ".json":
        if not text.lstrip().startswith("["):
            return [], False
        try:
            rows = json.loads(text)
        except (ValueError, RecursionError):
            return [], False
        return [row for row in rows if isinstance(row, dict)], is_part
    return list(_json_lines(text)), is_part


def _json_lines(text: str) -> Iterator[Row]:
    """The mappings of JSON lines; nothing where the first is none."""
    for number, line in enumerate(text.splitlines()):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
        except (ValueError, RecursionError):
            row = None
        if isinstance(row, dict):
            yield row
        elif number == 0:
            return


def _parquet(name: str, content: bytes) -> list[Row]:
    """The first examples of a Parquet file as rows."""
    from pyarrow.parquet import ParquetFile

    try:
        table = ParquetFile(io.BytesIO(content)).read()
    except (OSError, ValueError) as error:
        reason = str(error).splitlines()[0][:120].rstrip(".")
        raise ConfigProblem(
            f"{name} cannot be read as Parquet ({reason}); check the file."
        ) from None
    return table.slice(0, MOST_EXAMPLES).to_pylist()


def _texts(value: Any, depth: int = 0) -> list[str]:
    """Every text inside a value, those of messages without their roles."""
    if isinstance(value, str):
        return [value] if value.strip() else []
    if isinstance(value, list) and depth < 4:
        return [text for part in value for text in _texts(part, depth + 1)]
    if isinstance(value, dict) and depth < 4:
        return [
            text
            for key, part in value.items()
            if key not in ("role", "from", "id", "name", "type")
            for text in _texts(part, depth + 1)
        ]
    return []


def _lengths(row: Row, fields: tuple[str, ...]) -> list[float]:
    """Tokens of the sequences of one example: one, or two with a pair of answers."""
    tokens = {field: _tokens_of(row.get(field)) for field in fields}
    pair = [field for field in fields if field.lower() in PAIR]
    shared = sum(count for field, count in tokens.items() if field not in pair)
    if len(pair) == 2:
        return [max(shared + tokens[field], 1.0) for field in pair]
    return [max(sum(tokens.values()), 1.0)]


def _tokens_of(value: Any) -> float:
    texts = _texts(value)
    around = MESSAGE_TOKENS * len(value) if isinstance(value, list) else 0
    return around + sum(tokens_in(text) for text in texts)


def tokens_in(text: str) -> float:
    """The tokens of a text by its characters: so many of each script make one."""
    if text.isascii():
        return len(text) / LATIN_CHARACTERS
    cjk = len(CJK.findall(text))
    latin = len(LATIN.findall(text))
    return (
        cjk / CJK_CHARACTERS
        + latin / LATIN_CHARACTERS
        + (len(text) - cjk - latin) / OTHER_CHARACTERS
    )
