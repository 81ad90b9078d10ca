"""An assumption that a row is said not to read changes nothing of it."""

import pandas as pd
import pytest
from examples import catalogs

from calc import estimate
from calc.plan.bill import bill_rows
from calc.studies.assumptions import assumptions_of

MARKET = {"training": "on-demand", "inference": "on-demand"}
ROWS = {
    "training": {
        "work": "training",
        "model": "llama-3.2-1b",
        "instance": "g6e.12xlarge",
        "gpus": 4,
        "sharding": "zero3",
        "train_tokens": 1e8,
    },
    "inference": {
        "work": "inference",
        "model": "llama-3.1-8b",
        "instance": "g6e.xlarge",
        "implementation": "vllm",
        "batch": 8,
    },
}
RESULTS = ("memory_bytes", "needed_bytes", "step_seconds", "tokens_per_second", "usd", "hours")


@pytest.mark.parametrize("work", ROWS)
def test_what_a_row_does_not_read_changes_none_of_its_figures(work):
    row, table = ROWS[work], catalogs().assumptions
    read = assumptions_of(row | {"market": MARKET[work]}, catalogs())
    rest = [name for name in table.index if name not in read]
    assert len(rest) >= 10
    changed = [row | {name: _other(table.loc[name])} for name in rest]
    frame = estimate(pd.DataFrame([row, *changed]), catalogs(), solve=False)
    assert (frame["problem"] == "").all()
    paid = bill_rows(frame.assign(market=MARKET[work], have=""), catalogs())
    for name in RESULTS:
        values = paid[name].to_numpy(dtype=float)
        assert values[1:] == pytest.approx([values[0]] * len(rest), nan_ok=True), name


def _other(entry):
    """Another value within the bounds of an assumption."""
    value, least, most = entry["value"], entry["least"], entry["most"]
    return min(max(value * 1.5, least + 1, 1), most) if value * 1.5 <= most else (least + value) / 2


def test_a_row_on_spot_reads_what_interruptions_take():
    several = ROWS["training"] | {"gpus": 8, "market": "spot"}
    assert {"restart_seconds", "interruption_together_ratio"} <= {
        *assumptions_of(several, catalogs())
    }


@pytest.mark.parametrize(
    ("row", "name"),
    [
        (ROWS["training"], "network_reach_ratio"),  # of two instances or more
        (ROWS["training"], "compile_element_ratio"),  # of compiled blocks
        (ROWS["inference"], "adapter_step_seconds"),  # of served adapters
    ],
)
def test_an_assumption_of_what_a_row_has_not_is_not_read(row, name):
    assert name not in assumptions_of(row | {"market": "on-demand"}, catalogs())
