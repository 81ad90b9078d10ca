"""A fact that a file states, and the setting in which it stands."""

import re
from typing import Any, NamedTuple

Path = tuple[str, ...]  # keys from the root of a file to a value


class Fact(NamedTuple):
    """One statement: its kind, its value, where it stands, and its text.

    Kinds: gpus, devices, nodes, workers, copies, most_copies (numbers); instances (a number, of an
    endpoint or a job); card (ids with a number each); memory (GB of a card); tensor, data,
    data_local (degrees in charts of llm-d, the last on one node); instance; family (of instances);
    size; device_names; load_target (of an autoscaler); sagemaker (which runs the instance); spot;
    spot_too; on_demand; region; time_limit; price_limit; model; engine; recipe (the trainer of
    HyperPod's); named_as (of the model that is served); slice (of a card, MIG); variable (name and
    value).
    """

    kind: str
    value: Any
    path: Path
    text: str


class Setting(NamedTuple):
    """A key in snake case, the keys above it, one of its values, its path, and its text.

    The text holds the key and the value as the file writes them, all items of a list included.
    """

    key: str
    parents: list[str]
    value: str
    path: Path
    text: str

    @property
    def parent(self) -> str:
        """The key above, or the empty text at the root."""
        return self.parents[-1] if self.parents else ""

    @property
    def number(self) -> int | None:
        """The value as a whole number of at most five digits; None if it is none, or 0."""
        return (int(self.value) or None) if re.fullmatch(r"[0-9]{1,5}", self.value) else None

    def states(self, kind: str, value: Any) -> Fact:
        """Return the fact of this kind that the setting states."""
        return Fact(kind, value, self.path, self.text)


def snake(name: str) -> str:
    """A key as other tools spell it: maxModelLen, max-model-len and MAX_MODEL_LEN alike."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name.strip()).replace("-", "_").lower()
