"""Lengths and steps of training that generates its answers: GRPO, PPO and similar methods.

Its examples are prompts. Each prompt is answered several times in every epoch. A step takes a
number of prompts with all their answers.
"""

from collections.abc import Mapping

from calc.catalogs.load import Catalogs
from calc.evaluate import Row
from calc.job.cells import JobError, cell_value
from calc.job.columns import JOB_BY_NAME, PROMPTS_PER_STEP, ROLLOUT_PROMPT_TOKENS
from calc.mappings import Cells
from calc.scenarios.inputs import inputs_by_name
from calc.scenarios.lookups import cells_by_id

OF_ROLLOUTS = (  # columns that only a training with generated answers reads
    "generations",
    "prompts_per_step",
    "completion_tokens",
    "completion_tokens_mean",
    "rollout",
    "rollout_share",
    "rollout_gpus",
    "rollout_tensor_parallel",
    "rollout_sleep",
    "rollout_epochs",
)
SAME_TOKENS = 1e-6  # by which two counts of the tokens of a run may differ


def rolls_out(fixed: Mapping[str, list], catalogs: Catalogs) -> bool:
    """Return whether any objective of a job generates its answers."""
    generating = cells_by_id(catalogs, "objectives", "rolls_out")
    return any(generating.get(name, 0) for name in fixed.get("objective", ()))


def with_rollouts(job: Row, fixed: dict[str, list], cells: Cells, catalogs: Catalogs) -> float:
    """Fill in the lengths, step and tokens of a job that generates its answers.

    Return the tokens of a prompt with one answer, on average; raise JobError if the cells
    contradict each other. [tokens]
    """
    prompt, completion = _lengths(job, fixed, cells)
    job["prompt_tokens"] = prompt
    mean = min(float(fixed.get("completion_tokens_mean", [completion])[0]), completion)
    each = prompt + mean
    default = cells_by_id(catalogs, "objectives", "usual_generations")[fixed["objective"][0]]
    answers = float(fixed.setdefault("generations", [int(default)])[0])
    if "step_tokens" not in cells:
        prompts = fixed.setdefault("prompts_per_step", [PROMPTS_PER_STEP])[0]
        job["step_tokens"] = prompts * answers * each
    if "examples" in cells:
        prompts = job["examples"] * (job["epochs"] or 1)
        tokens = prompts * answers * each
        prompt_tokens = prompts * (job["example_tokens"] or prompt)
        tokens_by_default = (tokens, prompt_tokens)
        if "train_tokens" in cells and not _is_one_of(job["train_tokens"], tokens_by_default):
            raise JobError(
                f"train_tokens {job['train_tokens']:,.0f} is not examples x generations x "
                f"tokens of a prompt and its mean answer x epochs ({tokens:,.0f})",
                "leave train_tokens empty",
            )
        job["train_tokens"] = tokens
    return each


def _is_one_of(tokens: float, counts: tuple[float, ...]) -> bool:
    """Return whether a count of tokens is one of some others."""
    return any(abs(tokens / other - 1) <= SAME_TOKENS for other in counts)


def _lengths(job: Row, fixed: dict[str, list], cells: Cells) -> tuple[int, int]:
    """Prompt and longest answer: as set, or what the context leaves; else half each. [tokens]

    An example is a prompt, so that example_tokens are its tokens; answer_tokens are the longest
    answer's. Where the job sets neither context nor prompt, the prompt has the default length of
    trainers, and the answer half of the usual context.
    """
    context = int(job["sequence_tokens"])
    if "answer_tokens" in cells:
        longest = cell_value(JOB_BY_NAME["answer_tokens"], cells["answer_tokens"])
        fixed.setdefault("completion_tokens", [longest])
    answer = fixed.get("completion_tokens", [None])[0]
    is_usual = "sequence_tokens" not in cells
    prompt_cell = cell_value(inputs_by_name()["prompt_tokens"], cells.get("prompt_tokens"))
    prompt = int(prompt_cell or job["example_tokens"] or 0)
    if is_usual and (answer or not prompt):
        prompt = prompt or min(ROLLOUT_PROMPT_TOKENS, context // 2)
        context = int(prompt + (answer or context // 2))
    elif answer and not prompt_cell:
        prompt = context - int(answer)
    elif not 0 < prompt < context:
        prompt = context // 2
    if prompt < 1 or prompt + (answer or 1) > context:
        raise JobError(
            f"A prompt of {max(prompt, 1):,} tokens and an answer of {answer or 1:,.0f} do not fit "
            f"into sequence_tokens {context:,}",
            "raise sequence_tokens",
        )
    job["sequence_tokens"] = context
    completion = fixed.setdefault("completion_tokens", [context - prompt])[0]
    return prompt, int(completion)
