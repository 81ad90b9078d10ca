"""Services whose model sees images: work counted in images, and prompts that hold them."""

import pytest
from examples import catalogs

from calc.files.request_job import job_of_columns
from calc.job.cells import JobError
from calc.job.resolve import resolve

SERVICE = {"goal": "serve", "model": "qwen2.5-vl-7b", "answer_tokens": 100}


@pytest.mark.parametrize("read", [dict, lambda job: job_of_columns(job, catalogs())])
@pytest.mark.parametrize(
    ("cells", "prompt", "tokens"),
    [
        ({"tokens_total": "2000 images"}, 1296, 200_000),  # one answer of each image
        ({"tokens_total": "5000"}, 1024, 5000),
        ({"tokens_total": "5620 tokens"}, 1024, 500),  # prompts among them
        ({"images_per_sequence": 2, "users": 4}, 2592, None),
        ({"images_per_sequence": 2, "users": 4, "prompt_tokens": 3000}, 3000, None),
    ],
)
def test_a_prompt_that_is_not_set_holds_its_images(read, cells, prompt, tokens):
    job = resolve(read(SERVICE | cells), catalogs())
    assert (job.prompt_tokens, job.sequence_tokens) == (prompt, prompt + 100)
    assert job.tokens_total == tokens
    images = 1 if "images" in str(cells.get("tokens_total")) else cells.get("images_per_sequence")
    assert job.fixed.get("images_per_sequence", [None]) == [images]


def test_a_model_that_sees_no_images_is_told_so():
    with pytest.raises(JobError, match="is not in what qwen3-8b takes"):
        resolve(SERVICE | {"model": "qwen3-8b", "tokens_total": "2000 images"}, catalogs())
