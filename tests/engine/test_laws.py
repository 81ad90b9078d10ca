"""Laws of the catalogs: another folder reaches all numbers, what is dropped is freed, a file may
change under the app.
"""

import gc
import re
import shutil
import weakref

import pandas as pd
import pytest
from examples import entries, recorded

from calc import add_models, estimate, load_catalogs
from calc.catalogs.load import CLOSED, FILES, FOLDER
from calc.catalogs.rooms import path_of
from calc.cost.capacity_block_sizes import sizes_sold
from calc.cost.offers import price_change
from calc.cost.quotas import quota_for
from calc.models.huggingface.config import custom_entry, read_config
from calc.say.change import quality
from calc.scenarios.published_weights import scales_by_format

# Catalog, or section of one -> a field that results depend on, and a value that not all of its
# entries have.
CHANGES = recorded("cases/laws.json")["changes"]
SCENARIOS = (
    pd.DataFrame(recorded("cases/laws.json")["scenarios"])
    .assign(model=lambda rows: rows["model"].fillna("llama-3.2-1b"), instance="p5.48xlarge")
    .astype(object)
    .fillna("")
)


def numbers(catalogs):
    """All that the catalogs say: of a few scenarios, of what a price was, of a config that leaves
    fields out, of quality.
    """
    results = estimate(SCENARIOS, catalogs)
    assert (results["problem"] == "").all()
    then = price_change(catalogs, "p5.48xlarge", "us-east-1", "2024-01-01").then_usd
    entry = custom_entry(
        hidden=64,
        layers=2,
        heads=4,
        kv_heads=2,
        ffn=128,
        vocab=1000,
        name="bare",
        catalogs=catalogs,
    )
    sizes = {"d_model": 64, "num_layers": 2, "num_heads": 4, "d_ff": 128, "vocab_size": 1000}
    two_sided = read_config({"model_type": "t5", **sizes}, "two-sided", catalogs)
    padded = float(scales_by_format(catalogs)[1].sum())
    in_blocks = sizes_sold("capacity-block", catalogs).tolist()
    return (
        results,
        then,
        entry,
        two_sided,
        quality({"tuning": "lora"}, catalogs),
        in_blocks,
        quota_for("g6", catalogs),
        padded,
    )


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return shutil.copytree(FOLDER, tmp_path_factory.mktemp("another") / "catalogs")


def file_of(folder, name):
    return path_of(name.partition("/")[0], folder)


def changed(folder, name):
    """Write the change of a catalog into the folder; returns what stood there."""
    field, value = CHANGES[name]
    path = file_of(folder, name)
    kept = path.read_text("utf-8")
    text, times = re.subn(
        rf"(\b{field}: +(?:{{(?:only: \w+, )?(?:value|default): )?)(?:[-\d._e+]+|\"[^\"]*\")",
        rf"\g<1>{value}",
        kept,
    )
    assert times
    path.write_text(text, "utf-8")
    return kept


def test_every_catalog_has_its_change():
    assert set(CHANGES) == {*FILES, *(f"choices/{section}" for section in CLOSED)} - {"choices"}


@pytest.fixture(scope="module")
def before(catalogs):
    return numbers(catalogs)


@pytest.mark.long
@pytest.mark.sample(5)
@pytest.mark.parametrize("name", ["models", *(name for name in CHANGES if name != "models")])
def test_a_number_changed_in_another_folder_changes_a_result(catalogs, before, folder, name):
    kept = changed(folder, name)
    try:
        other = load_catalogs(folder)
    finally:
        file_of(folder, name).write_text(kept, "utf-8")
    results, *texts = numbers(other)
    assert other.version != catalogs.version
    assert not before[0].equals(results) or [*before[1:]] != texts


def test_another_folder_without_a_change_gives_the_same_numbers(before, folder):
    results, *texts = numbers(load_catalogs(folder))
    pd.testing.assert_frame_equal(before[0], results)
    assert [*before[1:]] == texts


def test_catalogs_with_added_models_are_freed_when_they_are_dropped(catalogs):
    """Twelve of them, each estimated: none stays, and nothing of them in the catalogs that they
    were added to.
    """
    entry = entries("models")["gpt2"]

    def used(number):
        added = add_models(catalogs, {f"mine-{number}": entry})
        assert (
            estimate(
                {"model": f"mine-{number}", "instance": "p5.48xlarge", "train_tokens": 1e9}, added
            )["problem"]
            == ""
        )
        assert added.base is catalogs
        return weakref.ref(added)

    first = [used(number) for number in range(4)]
    kept = len(catalogs.made)
    seen = [*first, *(used(number) for number in range(4, 12))]
    gc.collect()
    assert [reference() for reference in seen] == [None] * 12
    assert len(catalogs.made) == kept
