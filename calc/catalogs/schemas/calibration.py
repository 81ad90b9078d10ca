"""The classes of calibration.yaml: its schema, its reader and its documentation."""

from typing import Annotated, Literal

from msgspec import Meta

from calc.catalogs.schemas.kinds import Day, Entry, Positive, hint


class Reading(Entry, kw_only=True):
    """One measured figure of one run, divided by its estimate."""

    made_on: Day
    tool: Annotated[str, Meta(min_length=1, max_length=200)]
    quantity: Literal["time", "first_token", "memory"]
    ratio: Annotated[float, Meta(ge=0.01, le=100), hint("measured over estimated")]
    work: Literal["training", "inference"]
    model: Annotated[str, Meta(min_length=1, max_length=200)]
    implementation: Annotated[str, Meta(min_length=1, max_length=200)]
    gpu: Annotated[str, Meta(min_length=1, max_length=200)]
    precision: Annotated[str, Meta(min_length=1, max_length=200)]
    gpus: Positive
    batch: Positive
    sequence_tokens: Positive
    prompt_tokens: Positive


class File(Entry, kw_only=True):
    """Readings: what your own runs took, as a factor on the estimate."""

    calibration: Annotated[dict[str, Reading], Meta(min_length=1, max_length=64)]
