"""The lengths of a job: how a context divides, and what fits in a model's positions."""

import pytest

from calc.job.cells import JobError
from calc.job.lengths import fill_lengths, fitted_lengths, split_context
from calc.job.resolve import resolve
from calc.search.options import options


@pytest.mark.parametrize(
    ("context", "answer", "lengths"),
    [
        (4096, 0, (3584, 512)),  # 7 to 1
        (8192, 0, (7168, 1024)),
        (100_000, 0, (98_976, 1024)),  # a long context is read, and its answer is short
        (8192, 512, (7680, 512)),
        (1000, 900, (500, 500)),  # an answer takes at most half
        (1, 0, (1, 1)),
    ],
)
def test_a_context_is_prompt_and_answer(context, answer, lengths):
    assert split_context(context, answer) == lengths


@pytest.mark.parametrize(
    ("model", "train_tokens", "step_tokens"),
    [
        ("gpt2", 1e10, 2**19),  # GPT-3 below a billion parameters
        ("tinyllama-1.1b", 1e12, 2**21),  # its own README
        ("llama-2-70b", 2e12, 2**22),  # its paper, table 1
        ("llama-2-70b", 2e9, 1e6),  # 2,000 steps, as many as it warms up for
        ("llama-2-70b", 1e7, 131_072),
    ],
)
def test_a_run_from_scratch_takes_the_steps_of_published_runs_of_its_size(
    model, train_tokens, step_tokens, catalogs
):
    job = {"goal": "train", "model": model, "train_tokens": train_tokens}
    assert resolve(job, catalogs).step_tokens == step_tokens
    assert resolve(job | {"step_tokens": 65_536}, catalogs).step_tokens == 65_536
    assert resolve(job | {"goal": "tune"}, catalogs).step_tokens == 131_072


@pytest.mark.parametrize("goal", ["tune", "train"])
def test_a_step_takes_a_whole_sequence_however_long(goal, catalogs):
    job = {"goal": goal, "model": "llama-3.1-8b", "sequence_tokens": 1_000_000, "train_tokens": 1e8}
    job |= {"instance": "p6-b300.48xlarge", "markets": "on-demand"}
    assert resolve(job, catalogs).step_tokens == 1_000_000
    assert resolve(job | {"step_tokens": 131_072}, catalogs).step_tokens == 131_072
    problem = options(job, catalogs).obstacle
    assert problem is None, "a step of one sequence meets every limit"


def test_answers_that_a_training_generates_take_the_tokens_of_an_answer(catalogs):
    job = {"model": "qwen2.5-7b", "objective": "grpo", "examples": 10, "prompt_tokens": 256}
    said = resolve(job | {"answer_tokens": 1024}, catalogs)
    assert (said.sequence_tokens, said.fixed["completion_tokens"]) == (1280, [1024])
    assert said.train_tokens == 10 * 8 * 1280
    longest = resolve(job | {"answer_tokens": 1024, "completion_tokens": 2048}, catalogs)
    assert longest.sequence_tokens == 2304
    assert resolve(job, catalogs).sequence_tokens == 4096


def test_lengths_are_cut_to_the_positions_of_the_model():
    assert fitted_lengths((4096,), 2048) == (2048,)
    assert fitted_lengths((3000, 500), 2048) == (1548, 500)
    assert fitted_lengths((3000, 4000), 2048) == (1024, 1024)


def lengths_of(cells, longest=32_768, generates=True):
    """The prompt, the answer and the sequence of a service with these cells."""
    usual = {"prompt_tokens": 1024, "answer_tokens": 512, "context_tokens": None}
    job = {"work": "inference", **usual, **cells}
    fill_lengths(job, cells, longest, generates)
    return job["prompt_tokens"], job["answer_tokens"], job["sequence_tokens"]


def test_a_length_that_is_not_set_follows_from_the_others():
    assert lengths_of({}) == (1024, 512, 1536)
    assert lengths_of({"context_tokens": 4096}) == (3584, 512, 4096)
    assert lengths_of({"context_tokens": 4096, "answer_tokens": 1000}) == (3096, 1000, 4096)
    assert lengths_of({}, longest=1000) == (500, 500, 1000)
    assert lengths_of({"context_tokens": 300}, generates=False) == (300, 512, 300)


@pytest.mark.parametrize(
    ("cells", "says"),
    [
        ({"context_tokens": 100, "prompt_tokens": 60, "answer_tokens": 60}, "is not the sum"),
        ({"context_tokens": 100, "prompt_tokens": 100}, "uses up the whole context of 100 tokens"),
    ],
)
def test_lengths_that_contradict_the_context_are_refused(cells, says):
    with pytest.raises(JobError, match=says):
        lengths_of(cells)


def test_tokens_in_words_are_prompts_and_answers_and_a_bare_number_is_generated(catalogs):
    job = {"goal": "serve", "model": "qwen3-8b", "prompt_tokens": 900, "answer_tokens": 100}
    assert resolve(job | {"tokens_total": "1e9 tokens"}, catalogs).tokens_total == 1e8
    assert resolve(job | {"tokens_total": "1e9"}, catalogs).tokens_total == 1e9
    reads = {"goal": "serve", "model": "bge-m3", "prompt_tokens": 512}
    assert resolve(reads | {"tokens_total": "1e9 tokens"}, catalogs).tokens_total == 1e9
