"""Tokens that one sequence adds to a training step: both sides, patches of images."""

from typing import Any

import numpy as np

from calc.catalogs.kept import kept
from calc.catalogs.load import Catalogs
from calc.engine.pipeline import settled_table
from calc.engine.stages import MEMORY, TIME, walk
from calc.scenarios.lookups import row_numbers, words_of
from calc.scenarios.problems import Problems
from calc.scenarios.read import known_inputs
from calc.search.job_row import JobError

ONE_SIDED = ("decoder", "encoder", "sound")


def tokens_each(job: dict[str, Any], catalogs: Catalogs) -> float:
    """Tokens of one sequence in a training step; JobError where it is too long. [tokens]"""
    kind = words_of(catalogs, "models", "kind")[row_numbers(catalogs, "models")[job["model"]]]
    if job["work"] != "training" or kind in ONE_SIDED:
        return float(job["sequence_tokens"])
    decoder = job["fixed"].get("decoder_tokens", [None])[0]
    return _sides(catalogs, job["model"], job["sequence_tokens"], decoder)


@kept("models", "stacks")
def _sides(catalogs: Catalogs, model: str, sequence_tokens: float, decoder_tokens: float | None) -> float:
    row = {"model": model, "sequence_tokens": sequence_tokens} | ({"decoder_tokens": decoder_tokens} if decoder_tokens else {})
    problems = Problems(1)
    table = settled_table(known_inputs(row) | {"rows": 1}, catalogs, problems)
    if not problems.sound[0]:
        raise JobError(str(problems.text[0]))
    table = walk(walk(table, MEMORY[:1]), TIME[:1])
    return float(np.ravel(table["step_tokens"])[0])
