"""Offline work in what its model reads: images, hours of sound, or tokens."""

import math
from typing import Any, NamedTuple

import numpy as np

from calc.catalogs.load import Catalogs
from calc.job.cells import JobError, blank, cell_value
from calc.job.software import generates
from calc.mappings import Cells
from calc.scenarios.inputs import inputs_by_name
from calc.units import HOUR_SECONDS

# of sound in one position of an encoder: Radford et al. 2022, arXiv 2212.04356; Baevski et al.
# 2020, arXiv 2006.11477
FRAME_SECONDS = 0.02
IMAGES, SOUND, TOKENS = ("image", "images"), ("hour", "hours"), ("token", "tokens")


class Measure(NamedTuple):
    """The unit of a model's offline work (singular, plural) and its tokens."""

    words: tuple[str, str]
    tokens: float


def measure(model: str, answer_tokens: float | None, catalogs: Catalogs) -> Measure:
    """The unit of a model's work: images for an image encoder, hours for sound, else tokens.

    Whisper answers every window of sound with the same number of tokens.
    """
    kind = catalogs.models["kind"][model]
    positions = float(catalogs.models["fixed_tokens"][model])
    if kind in ("vision", "dual"):
        return Measure(IMAGES, positions)
    if kind == "sound":
        return Measure(SOUND, HOUR_SECONDS / FRAME_SECONDS)
    if kind == "audio" and answer_tokens:
        return Measure(SOUND, HOUR_SECONDS / sound_seconds(model, catalogs) * answer_tokens)
    return Measure(TOKENS, 1.0)


def measure_of(
    row: Cells, images_each: float, answer_tokens: float | None, catalogs: Catalogs
) -> Measure:
    """The unit of the work of a job or row: images if a generator sees some in each request."""
    if images_each and answer_tokens and takes_images(row["model"], catalogs):
        return Measure(IMAGES, answer_tokens / images_each)
    return measure(row["model"], answer_tokens, catalogs)


def sound_seconds(model: str, catalogs: Catalogs) -> float:
    """Return the seconds of sound that each answer of a model transcribes; 0 if it hears none."""
    is_transcriber = catalogs.models["kind"][model] == "audio"
    return float(catalogs.models["fixed_tokens"][model]) * FRAME_SECONDS if is_transcriber else 0.0


def tokens_of_image(model: str, catalogs: Catalogs) -> float:
    """Return the tokens of an image that a generator reads with its prompt; 0 if it sees none."""
    return float(np.nan_to_num(catalogs.models["usual_image_tokens"][model]))


def tokens_of_images(
    images: float, image_tokens: float | None, model: str, catalogs: Catalogs
) -> int:
    """Return the tokens that the images of a request take of its prompt.

    `image_tokens`: of one image, by default those of its model.
    """
    return math.ceil(images * (image_tokens or tokens_of_image(model, catalogs)))


def takes_images(model: str, catalogs: Catalogs) -> bool:
    """Return whether a model has a tower for images or sounds that is modeled."""
    return tokens_of_image(model, catalogs) > 0


def counts_images(cell: Any) -> bool:
    """Return whether an amount of work is a number of images."""
    return _amount_and_word(cell)[1] in IMAGES


def tokens_in_all(cell: Any, job: Cells, catalogs: Catalogs) -> float | None:
    """The tokens of a cell: a number of tokens, or an amount in words: 1000 hours, 1e6 images.

    Of a generator a bare number counts what it generates, and 1e9 tokens what goes through it:
    prompts too. Of a generator that sees images, each image has one answer.
    """
    amount, word = _amount_and_word(cell)
    words, unit_tokens = measure(job["model"], job["answer_tokens"], catalogs)
    if word in TOKENS and words == TOKENS and generates(job["model"], catalogs):
        each = job["prompt_tokens"] + job["answer_tokens"]
        number = cell_value(inputs_by_name()["tokens_total"], amount)
        return number and number * job["answer_tokens"] / each
    if words == TOKENS and takes_images(job["model"], catalogs):
        words, unit_tokens = IMAGES, float(job["answer_tokens"])
    if word and word not in {*words, *TOKENS}:
        takes = " or ".join(dict.fromkeys((words[1], TOKENS[1])))
        raise JobError(
            f"tokens_total '{cell}' is not in what {job['model']} takes",
            f"write a number of {takes}",
        )
    number = cell_value(inputs_by_name()["tokens_total"], amount)
    return number * unit_tokens if number and word in words else number


def _amount_and_word(cell: Any) -> tuple[str, str]:
    """The number and the unit of an amount of work, as texts."""
    amount, _, word = ("" if blank(cell) else str(cell)).strip().lower().partition(" ")
    return amount, word.strip()
