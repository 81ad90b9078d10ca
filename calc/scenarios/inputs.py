"""The columns that a scenario may set: kind, default and catalog of each (columns.yaml)."""

from dataclasses import dataclass, replace

import numpy as np

from calc.catalogs.caches import cached_per_catalogs
from calc.catalogs.load import Catalogs
from calc.columns import ASSUMPTIONS, ENTRIES
from calc.mappings import Json

HUGE = 1e15


@dataclass(frozen=True)
class Input:
    """One scenario column: the values that it takes and the meaning of an empty cell."""

    name: str
    kind: str  # text, choice, count, number, amount
    default: object = ""
    choices: tuple = ()
    catalog: str = ""  # the table of Catalogs with its words
    least: float = 0
    most: float = HUGE

    def allows(self, values: np.ndarray) -> np.ndarray:
        """Return which of these numbers the column accepts."""
        above = (values >= self.least) if self.kind == "amount" else (values > self.least)
        return (
            above & (values <= self.most) & ((self.kind != "count") | (values == np.floor(values)))
        )


def _input(name: str, entry: Json) -> Input:
    """An input by its entry in the glossary."""
    kind = entry.get("kind", "text")
    default = entry.get("default", "" if kind in ("text", "choice") else None)
    return Input(
        name,
        kind,
        default,
        tuple(entry.get("choices", ())),
        entry.get("catalog", ""),
        most=entry.get("most", HUGE),
    )


def _only(*readers: str) -> tuple[str, ...]:
    """Return the inputs that only these kinds of work or methods read."""
    return tuple(name for name, entry in ENTRIES["inputs"].items() if entry.get("only") in readers)


INPUTS = tuple(_input(name, entry) for name, entry in ENTRIES["inputs"].items())
BY_NAME = {column.name: column for column in INPUTS}
CATALOG_OF = {
    column.name: column.catalog for column in INPUTS if column.catalog and column.kind == "text"
}
# Closed lists.
LIST_OF = {
    column.name: column.catalog for column in INPUTS if column.catalog and column.kind == "choice"
}
TRAINING_ONLY = _only("training", "lora")
INFERENCE_ONLY = _only("inference")
LORA_ONLY = _only("lora", "adapters")
SAME_AS_SEQUENCE = (
    "decoder_tokens",
    "prompt_tokens",
)  # lengths that follow the sequence where they are not named
# Assumptions of time and cost: a column of the name sets each, else
# catalogs/edited/assumptions.yaml has its value.
ASSUMED = {name: Input(name, "amount", None) for name in ASSUMPTIONS} | {
    "utilization": Input("utilization", "amount", None, least=0.001, most=1),
    "start_seconds": Input("start_seconds", "amount", None, most=86_400),
}
DEFAULTS = {column.name: column.default for column in INPUTS}


def inputs_by_name() -> dict[str, Input]:
    """Every column that a scenario may set, the assumptions of time and cost among them."""
    return BY_NAME | ASSUMED


@cached_per_catalogs("assumptions")
def bounded_inputs(catalogs: Catalogs) -> dict[str, Input]:
    """The columns of inputs_by_name; assumptions have the bounds of their catalog."""
    bounds = catalogs.assumptions[["least", "most"]].to_dict("index")
    return inputs_by_name() | {name: replace(ASSUMED[name], **bounds[name]) for name in ASSUMPTIONS}
