"""The candidates of a job: layouts on instance types, rented on a market in a region."""

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Self

import numpy as np


@dataclass(frozen=True, eq=False, kw_only=True)
class LimitedFigures:
    """The figures that a job may limit, one value per row.

    The shape of each field is (rows,). A run is paid once, and a service by the month. Figures that
    depend on time are NaN if the time is not known.
    """

    hours: np.ndarray
    slow_hours: np.ndarray  # at the slow end of the range of time
    usd: np.ndarray
    usd_per_hour: np.ndarray
    billed_gpu_hours: np.ndarray
    step_tokens: np.ndarray
    first_token_seconds: np.ndarray
    token_seconds: np.ndarray
    limited_first_token_seconds: np.ndarray  # the mean or percentile that the limit holds for
    limited_token_seconds: np.ndarray
    slow_first_token_ratio: np.ndarray  # the slow end of the range of time over the estimate
    slow_token_ratio: np.ndarray
    load_ratio: np.ndarray  # the load of a service over what the row carries; 0 of work that ends

    def take(self, numbers: np.ndarray) -> Self:
        """Return some of the rows, given by number."""
        columns = {field.name: getattr(self, field.name) for field in fields(self)}
        return type(self)(
            **{name: _take_values(values, numbers) for name, values in columns.items()}
        )


@dataclass(frozen=True, eq=False, kw_only=True)
class Candidates(LimitedFigures):
    """The candidates of a grid as columns: one value per candidate.

    The shape of each field is (candidates,). The numbers of layouts, places and pairs are those of
    the grid (calc.search.grid); the numbers of markets and regions are positions in the lists of
    the job. `runs` is a position in calc.rules.support.RUNS, `fits` in calc.memory.fit.FITS, and
    both obtainability ranks are positions in calc.cost.obtainability.CLASSES.
    """

    pair_number: np.ndarray
    layout_number: np.ndarray
    place_number: np.ndarray
    market_number: np.ndarray
    region_number: np.ndarray
    gpus: np.ndarray
    tensor_parallel: np.ndarray
    pipeline_parallel: np.ndarray
    context_parallel: np.ndarray
    batch: np.ndarray
    accumulation_steps: np.ndarray
    instances: np.ndarray  # paid, of a capacity block its size
    instance_gpus: np.ndarray
    runs: np.ndarray
    fits: np.ndarray
    headroom_bytes: np.ndarray
    fit_probability: np.ndarray
    seconds: np.ndarray  # of the run, or of one token of a service
    billed_hours: np.ndarray
    price_age_days: np.ndarray
    obtainability_rank: np.ndarray  # of all instances of the candidate together
    single_obtainability_rank: np.ndarray  # of one instance of its type

    def __len__(self) -> int:
        """Return the number of candidates."""
        return len(self.usd)

    @classmethod
    def none(cls) -> "Candidates":
        """Return a table without a candidate."""
        return cls(**{field.name: np.empty(0) for field in fields(cls)})

    @classmethod
    def joined(cls, parts: Sequence["Candidates"]) -> "Candidates":
        """Return the candidates of all parts, in order."""
        if len(parts) < 2:
            return parts[0] if parts else cls.none()
        return cls(
            **{
                field.name: np.concatenate([getattr(part, field.name) for part in parts])
                for field in fields(cls)
            }
        )


def _take_values(values: np.ndarray, numbers: np.ndarray) -> np.ndarray:
    """Return values by number; one value that was spread over all rows takes no new memory."""
    is_spread = len(values) > 1 and values.strides == (0,)
    return np.broadcast_to(values[0], len(numbers)) if is_spread else values.take(numbers)
