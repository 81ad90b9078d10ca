"""The lengths of a job: its prompt, answer and context, within the model's positions."""

from collections.abc import Sequence

from calc.catalogs.load import Catalogs
from calc.evaluate import Row
from calc.job.cells import JobError, cell_values
from calc.job.columns import (
    CONTEXT_ANSWER_TOKENS,
    CONTEXT_PARTS,
    FROM_SCRATCH_STEPS,
    SEQUENCE_TOKENS,
    STEP_TOKENS,
    USUAL,
    WARM_UP_STEPS,
)
from calc.job.job import Job
from calc.job.software import TRAINING
from calc.mappings import Cells


def fitted_lengths(lengths: Sequence[int], longest: float) -> tuple[int, ...]:
    """Return lengths that fit in a model's positions; an answer takes at most half. [tokens]"""
    first, *answers = lengths
    answers = [answer if answer < longest else int(longest) // 2 for answer in answers]
    return int(min(first, longest - sum(answers))), *answers


def prompt_of_mean_turn(turns: float, answer_tokens: float) -> int:
    """The default prompt of a mean turn: that of a single request, and earlier answers. [tokens]"""
    return int(USUAL["inference"]["prompt_tokens"] + answer_tokens * (turns - 1) / 2)


def fill_lengths(job: Row, cells: Cells, longest: float, generates: bool) -> None:
    """Fill in the default of each length that the job does not set, within `longest` positions.

    Raise JobError if the lengths contradict each other.
    """
    if job["work"] == TRAINING:
        if "sequence_tokens" not in cells:
            job["sequence_tokens"] = min(SEQUENCE_TOKENS, longest)
        if "step_tokens" not in cells:  # a step takes a whole sequence
            job["step_tokens"] = max(job["step_tokens"], job["sequence_tokens"])
        job["prompt_tokens"] = job["answer_tokens"] = None
        return
    if job["context_tokens"]:
        cells = {**cells, **_split(job, cells, generates)}
    most = job["sequence_tokens"] if "sequence_tokens" in cells else longest
    if "answer_tokens" not in cells:
        job["answer_tokens"] = min(job["answer_tokens"], most // 2)
    answer_tokens = job["answer_tokens"] if generates else 0
    if "prompt_tokens" not in cells:
        if "turns" in cells:
            turns = cell_values("turns", cells["turns"])[0]
            job["prompt_tokens"] = prompt_of_mean_turn(turns, answer_tokens)
        job["prompt_tokens"] = max(min(job["prompt_tokens"], most - answer_tokens), 1)
    if "sequence_tokens" not in cells:
        job["sequence_tokens"] = job["prompt_tokens"] + answer_tokens


def from_scratch_step_tokens(parameters: float, train_tokens: float) -> float:
    """Return the default step of a run from scratch, as of published runs of its size. [tokens]

    A short run is divided into as many steps as those runs take to warm up.
    """
    tokens_of_runs = next(tokens for most, tokens in FROM_SCRATCH_STEPS if parameters <= most)
    return max(min(tokens_of_runs, train_tokens / WARM_UP_STEPS), STEP_TOKENS)


def split_context(context: int, answer: int = 0) -> tuple[int, int]:
    """Divide a context into prompt and answer: the answer as given, at most half.

    Else it is an eighth of the context, and at most 1,024. Lengths are in tokens.
    """
    default = min(max(context // CONTEXT_PARTS, 1), CONTEXT_ANSWER_TOKENS)
    answer = min(answer, context // 2) or default
    return max(context - answer, 1), answer


def _split(job: Row, cells: Cells, generates: bool) -> Row:
    """Prompt and answer of a job that names its context (split_context), unless one is set."""
    context = int(job["context_tokens"])
    lengths = ("prompt_tokens", "answer_tokens")
    if not generates:
        job |= {"prompt_tokens": context, "sequence_tokens": context}
    elif all(name in cells for name in lengths):
        if job["prompt_tokens"] + job["answer_tokens"] != context:
            raise JobError(
                "context_tokens is not the sum of prompt_tokens and answer_tokens",
                "leave one of the three empty",
            )
    elif set(lengths) & set(cells):
        set_length, other = lengths if "prompt_tokens" in cells else lengths[::-1]
        job[other] = context - job[set_length]
        if job[other] < 1:
            raise JobError(
                f"{set_length} {job[set_length]:,.0f} uses up the whole context of "
                f"{context:,} tokens",
                "raise context_tokens",
            )
    else:
        job["prompt_tokens"], job["answer_tokens"] = split_context(context)
    return {name: job[name] for name in lengths}


def shorter_context(job: Job, catalogs: Catalogs) -> int | None:
    """Return the model's longest context if a service sets a longer one. [tokens]"""
    if job.trains or job.model not in catalogs.models.index:
        return None
    longest = catalogs.models["max_position"][job.model]
    return int(longest) if 0 < longest < job.sequence_tokens else None
