"""The classes of time_boxes.yaml: its schema, its reader and its documentation."""

from typing import Annotated

from calc.catalogs.schemas.kinds import CatalogFile, Entry, NotNegative, Text, hint


class Reach(Entry, kw_only=True):
    """The range of one axis, by work."""

    label: Annotated[Text, hint("what the axis is called")]
    training_low: Annotated[NotNegative, hint("a number, at least 0")]
    training_high: Annotated[NotNegative, hint("a number, at least 0")]
    inference_low: Annotated[NotNegative | None, hint("a number, at least 0")] = None
    inference_high: Annotated[NotNegative | None, hint("a number, at least 0")] = None
    encoding_low: Annotated[NotNegative | None, hint("a number, at least 0")] = None
    encoding_high: Annotated[NotNegative | None, hint("a number, at least 0")] = None


class Axes(Entry, kw_only=True):
    """The axes."""

    batch: Reach
    gpus: Reach
    parameters: Reach
    replica_gpus: Reach
    sequence_tokens: Reach


class File(CatalogFile, kw_only=True):
    """Reach of the published runs, by axis."""

    time_boxes: Axes
