"""A row's results depend on no other row: in large tables, where rows share what they have in
common, each equals its lone self.
"""

import numpy as np
import pandas as pd
import pytest
from examples import catalogs, entries, recorded

from calc import add_models, answer, estimate
from calc.engine.origins import Origins
from calc.engine.pipeline import COLUMNS, parts, sound_rows
from calc.engine.stages import MEMORY_RESULTS, memory, memory_keys
from calc.scenarios.inputs import INFERENCE_ONLY, TRAINING_ONLY, bounded_inputs
from calc.scenarios.lookups import work_of
from calc.table import ORIGINS, Table

CASES = recorded("cases/neighbors.json")
TEXTS, BASES, JOBS = CASES["texts"], CASES["bases"], CASES["jobs"]
COUNTS, AMOUNTS = (2, 3, 8, 64), (0.25, 0.75, 2, 5_000)


def values_of(name, column):
    """A few plausible values of an input; some make a row that cannot be estimated."""
    if name in TEXTS:
        return TEXTS[name]
    if column.kind in ("text", "choice"):
        words = column.choices or tuple(getattr(catalogs(), column.catalog).index)
        return words[:: max(1, len(words) // 4)][:5]
    return [
        number
        for number in (COUNTS if column.kind == "count" else AMOUNTS)
        if column.allows(np.array(number))
    ][:3]


@pytest.fixture(scope="module")
def scenarios():
    """Every input varied in turn from every base, each row with two counts of hours: half of the
    rows at least share their memory.
    """
    columns = {
        name: column
        for name, column in bounded_inputs(catalogs()).items()
        if name not in ("scenario", "work", "hours_per_month")
    }
    rows = [
        base | {name: value, "scenario": f"{number} {name}"}
        for number, base in enumerate(BASES)
        for name, column in columns.items()
        for value in values_of(name, column)
    ]
    return pd.DataFrame(
        [row | {"hours_per_month": hours} for row in rows for hours in (730, 200)], dtype=object
    )


@pytest.fixture(scope="module")
def results(scenarios):
    return estimate(scenarios, catalogs())


def differing(first, second):
    """The columns in which two tables differ, each with the first row that does."""
    assert list(first) == list(second)
    apart = {}
    for name in first:
        ours, theirs = first[name].to_numpy(dtype=object), second[name].to_numpy(dtype=object)
        unlike = np.flatnonzero(~((ours == theirs) | (pd.isna(ours) & pd.isna(theirs))))
        if len(unlike):
            apart[name] = int(unlike[0])
    return apart


def alone(frame, **how):
    """The rows of a table, each estimated in a table of its own."""
    return pd.concat(
        [estimate(frame.iloc[[row]], catalogs(), **how) for row in range(len(frame))],
        ignore_index=True,
    )


def chosen(scenarios):
    """One row for each input, from one base after another."""
    inputs = scenarios["scenario"].str.partition(" ")[2]
    numbers = scenarios["scenario"].str.partition(" ")[0].astype(int)
    order = {name: place % len(BASES) for place, name in enumerate(inputs.unique())}
    return scenarios.index[numbers == inputs.map(order)][::12]


@pytest.mark.long
def test_a_row_of_a_large_table_equals_its_lone_self(scenarios, results):
    rows = chosen(scenarios)
    assert len(rows) > 30
    assert (results["problem"] == "").mean() > 0.8
    assert differing(alone(scenarios.loc[rows]), results.loc[rows].reset_index(drop=True)) == {}


@pytest.mark.long
def test_sharing_changes_no_result(scenarios, results, monkeypatch):
    """Every row worked out on its own, none for another that is like it."""
    monkeypatch.setattr(Table, "distinct", lambda *_, **__: None)
    assert differing(estimate(scenarios, catalogs()), results) == {}


@pytest.fixture(scope="module", params=["training", "inference"])
def resolve(request, scenarios):
    """The rows of one kind of work that can be estimated, settled and ready for their memory, and
    that memory.
    """
    part = next(
        part for part in parts(scenarios, catalogs()) if work_of(part.table) == request.param
    )
    _, table = sound_rows(part)
    return table, memory(table | {})


# Inputs that stages of both kinds of work read and only one of them counts.
OTHER_WORK = {
    "training": set(INFERENCE_ONLY),
    "inference": {*TRAINING_ONLY, "asked_loss", "compile", "context_parallel"},
}


def inputs_behind(names, made_of):
    """The inputs that columns are made of; an input is made of none."""
    behind, waiting = set(names), list(names)
    while waiting:
        fresh = made_of.get(waiting.pop(), frozenset()) - behind
        behind |= fresh
        waiting += fresh
    return behind - set(made_of)


@pytest.mark.sample(2)
def test_every_input_of_memory_is_in_its_keys(resolve, monkeypatch):
    """Without the keys that an input decides, some row takes the memory of another."""
    table, right = resolve
    made_of, deciding = table[ORIGINS].made_of, Origins.deciding
    inputs = inputs_behind(memory_keys(table), made_of)
    assert len(inputs) > 40
    shared_freely = set()
    for name in inputs:
        monkeypatch.setattr(
            Origins,
            "deciding",
            lambda self, read, name=name: [
                key for key in deciding(self, read) if name not in inputs_behind([key], made_of)
            ],
        )
        merged = memory(table | {})
        if all(
            np.array_equal(merged[column], right[column], equal_nan=True)
            for column in MEMORY_RESULTS
        ):
            shared_freely.add(name)
    assert sorted(shared_freely - OTHER_WORK[work_of(table)]) == []


def test_the_keys_are_the_columns_read_as_they_are():
    """Those of several axes, and those made of one column, by what they are made of."""
    made_of = {
        "count": frozenset(["gpus", "batch"]),
        "trait": frozenset(["software"]),
        "by_stack": frozenset(["count", "model"]),
        "stack_width": frozenset(["model", "precision"]),
        "of_trait": frozenset(["trait"]),
    }
    origins = Origins(made_of, frozenset(["by_stack"]))
    assert origins.deciding(frozenset(["count", "gpus"])) == ("count", "gpus")
    assert origins.deciding(frozenset(["of_trait"])) == ("software",)
    assert origins.deciding(frozenset(["by_stack"])) == ("count", "model")
    assert origins.deciding(frozenset(["stack_width"])) == ("model", "precision")


@pytest.mark.long
def test_a_job_of_a_table_is_answered_as_alone():
    """Its answers among other jobs are its answers alone, from catalogs that remember none, and
    each is its own estimate.
    """
    together = answer(pd.DataFrame(JOBS), catalogs())
    fresh = add_models(catalogs(), {"another": entries("models")["gpt2"]})
    single = pd.concat([answer(job, fresh) for job in JOBS], ignore_index=True)[list(together)]
    assert differing(single, together) == {}
    again = alone(together, columns=[name for name in COLUMNS if name in together])
    assert differing(again, together[list(again)]) == {}
