"""The catalogs: every fact dated and sourced, prices as published, and a sentence with its cure for what is wrong."""

import re
import shutil
from datetime import date, timedelta
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import yaml
from jsonschema import Draft202012Validator

from calc.catalogs import checked
from calc.catalogs.commitments import COMMITMENTS
from calc.catalogs.load import CHOICES, FILES, FOLDER, CatalogError, add_models, load_catalogs, read_document
from calc.catalogs.sagemaker import COMPONENTS
from calc.catalogs.strict_yaml import read_strictly
from calc.cost.offers import is_old
from calc.plan.bill import price_facts
from views.wording.plan import day_text, price_age

TABLES = Path(__file__).parent / "published"
PUBLISHED = yaml.safe_load((TABLES / "prices.yaml").read_text("utf-8"))["prices"]
FAULTS = yaml.safe_load((TABLES / "catalog_faults.yaml").read_text("utf-8"))
CASES = [(instance, region) for instance, regions in PUBLISHED.items() for region in regions]
MARKETS = (
    "on_demand",
    "spot",
    "spot_newest",
    "interruption",
    "capacity_block",
    "commit_1y",
    "commit_3y",
    *COMMITMENTS.values(),
    *COMPONENTS,
)
DAY = re.compile(r"20\d\d-\d\d-\d\d")


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    return shutil.copytree(FOLDER, tmp_path_factory.mktemp("whole") / "catalogs")


@pytest.fixture
def broken(whole):
    """Replaces one text in one file and gives the sentence that loading then raises."""
    kept = {}

    def load(name, before, after):
        path = whole / f"{name}.yaml"
        kept[path] = text = path.read_text("utf-8")
        assert before in text
        path.write_text(text.replace(before, after, 1), "utf-8")
        with pytest.raises(CatalogError) as error:
            load_catalogs(whole)
        return str(error.value)

    yield load
    for path, text in kept.items():
        path.write_text(text, "utf-8")


@pytest.mark.parametrize(("instance", "region"), CASES)
def test_prices_equal_the_published_ones(catalogs, instance, region):
    rows = catalogs.prices.query("instance == @instance and region == @region")
    kept = catalogs.price_history.query("instance == @instance and region == @region")
    for market in ("on_demand", "spot"):
        published = PUBLISHED[instance][region][market]
        held = rows[f"{market}_usd_per_hour"].dropna().tolist()
        earlier = kept[kept["market"] == market]["usd_per_hour"].tolist()
        if published == "none":
            assert not held or rows[f"{market}_as_of"].item() > "2026-11-20"
        else:
            assert published in [*held, *earlier]


def test_every_price_has_a_date_a_source_and_a_basis(catalogs):
    prices = catalogs.prices
    for market in MARKETS:
        figure = "interruption_band" if market == "interruption" else f"{market}_usd_per_hour"
        held = prices[prices[figure] != ""] if market == "interruption" else prices[prices[figure].notna()]
        assert held[f"{market}_as_of"].str.fullmatch(DAY.pattern).all(), market
        assert (held[f"{market}_source"].str.len() > 10).all(), market
        none = prices.drop(held.index)
        assert (none[f"{market}_as_of"] == "").all(), market
    assert set(prices["on_demand_basis"]) <= {"", "published", "derived", "assumed"}
    assert set(prices["spot_basis"]) <= {"", "observed", "estimated"}


def test_prices_are_plausible(catalogs):
    prices = catalogs.prices
    money = prices.filter(like="usd_per_hour").to_numpy()
    assert np.nanmin(money) > 0
    seen = prices[prices["spot_basis"] == "observed"]
    assert (seen["spot_low_usd_per_hour"] <= seen["spot_usd_per_hour"]).all()
    assert (seen["spot_usd_per_hour"] <= seen["spot_high_usd_per_hour"]).all()
    assert not prices.duplicated(["instance", "region"]).any()


def test_old_prices_are_reported_not_failed(catalogs):
    """The age of prices is no fault of the code: it is said, and marked from the 91st day on."""
    days = pd.Series([catalogs.prices_as_of, "2020-01-01", ""])
    for age, old in ((0, False), (90, False), (91, True)):
        today = date.fromisoformat(catalogs.prices_as_of) + timedelta(days=age)
        assert is_old(days, today).tolist() == [old, True, False]
        said, warns = price_age({"market": ""}, catalogs, today)
        assert warns == old
        assert ("3 months old: check before renting" in said) == old
    eight_days = date.fromisoformat(catalogs.prices_as_of) + timedelta(days=8)
    assert is_old(days, eight_days, "spot").tolist() == [True, True, False]
    spot = {"instance": "g6e.xlarge", "region": "us-east-1", "market": "spot"}
    seen = date.fromisoformat(price_facts(spot, "spot", catalogs)["as_of"])
    assert [price_age(spot, catalogs, seen + timedelta(days=age)) for age in (7, 8)] == [
        (f"Price of {day_text(seen.isoformat())}", False),
        (f"Price of {day_text(seen.isoformat())}, 8 days old: check before renting", True),
    ]
    row = {"instance": "p6-b200.48xlarge", "region": "us-east-1"}
    for market in ("on-demand", "spot"):
        said, _ = price_age(row | {"market": market}, catalogs, date(2026, 11, 21))
        assert said.startswith(f"Price of {day_text(price_facts(row, market, catalogs)['as_of'])}, ")
    for market in ("on_demand", "spot"):
        assert (catalogs.prices[f"{market}_as_of"] <= catalogs.prices_as_of).all()


def test_cards_and_instances_are_what_the_driver_and_aws_report(catalogs):
    gpus, instances = catalogs.gpus, catalogs.instances
    assert gpus.loc["l4", "memory_bytes"] == 23034 * 2**20
    assert gpus.loc["h100-80gb-sxm", ["bandwidth_bytes_per_second", "bf16_flops_per_second"]].tolist() == [3.35e12, 989.4e12]
    assert instances.loc["p5.48xlarge", ["gpus", "vcpus", "nvlink_domain_gpus"]].tolist() == [8, 192, 8]
    assert instances.loc["p5.48xlarge", "network_bytes_per_second"] == 400e9
    assert instances.loc["g6f.large", ["gpus", "gpu_fraction", "gpu_memory_bytes"]].tolist() == [1, 0.125, 2861 * 2**20]
    assert instances.loc["g5g.xlarge", "arm"]
    assert len(gpus) == 36
    assert len(instances) >= 69
    assert not instances.index.str.startswith(("inf", "trn")).any()
    assert (instances["nvlink_domain_gpus"] >= 1).all()
    named = {column for names in gpus["unverified"] for column in names}
    assert named <= set(gpus.columns)


def test_every_fact_is_dated_and_sourced(catalogs):
    for table in (catalogs.gpus, catalogs.instances):
        assert table["checked_on"].str.fullmatch(DAY.pattern).all()
        assert (table["source"] != "").all()
    for name in FILES:
        assert catalogs.about[name]["source"], name
        assert DAY.fullmatch(catalogs.about[name]["checked_on"]), name


@pytest.mark.parametrize("name", FILES)
def test_each_file_names_its_schema_and_the_schema_is_valid(name):
    first = (FOLDER / f"{name}.yaml").read_text("utf-8").partition("\n")[0]
    assert first == f"# yaml-language-server: $schema=schema/{name}.json"
    schema = yaml.safe_load((FOLDER / "schema" / f"{name}.json").read_text("utf-8"))
    Draft202012Validator.check_schema(schema)


@pytest.mark.parametrize("fault", FAULTS["faults"], ids=lambda fault: fault["by"].strip() or fault["replace"].strip())
def test_a_broken_entry_is_one_sentence(broken, fault):
    said = broken(fault["file"], fault["replace"], fault["by"])
    assert said.startswith(f"catalogs/{fault['file']}.yaml, {fault['says']}")
    assert said.endswith(".")
    assert "\n" not in said


@pytest.mark.parametrize("case", FAULTS["misread"], ids=lambda case: case["text"])
def test_what_yaml_would_change_is_refused(case):
    with pytest.raises(CatalogError) as error:
        read_strictly(case["text"], "c.yaml")
    assert str(error.value) == case["says"]


def test_a_line_that_is_no_yaml_is_named():
    with pytest.raises(CatalogError, match=r"^c\.yaml, line 2: this is not YAML"):
        read_strictly("a: 1\nb: ]", "c.yaml")


UNFIT = {
    "an alias": "a: &one {b: 1}\nc: *one\n",
    "an alias of itself": "a: &one [*one]\n",
    "a billion laughs": "".join(f"a{step}: &a{step} [" + f"*a{step - 1}, " * 9 + "1]\n" for step in range(1, 30)).replace("*a0, ", "1, "),
    "brackets": "a: " + "[" * 20_000 + "]" * 20_000 + "\n",
    "nested maps": "".join(f"{' ' * step}a:\n" for step in range(3000)) + " " * 3000 + "1\n",
    "a long number": "a: " + "9" * 10_000 + "\n",
    "a size beyond all": "a: " + "9" * 26 + "\n",
}


@pytest.mark.parametrize("text", UNFIT.values(), ids=UNFIT)
def test_what_no_catalog_needs_is_refused_in_a_sentence(text):
    with pytest.raises(CatalogError) as error:
        read_strictly(text, "catalogs/x.yaml")
    assert str(error.value).startswith("catalogs/x.yaml")
    assert len(str(error.value)) < 300


@pytest.mark.parametrize(
    "schema", ["", "{", "[]", "5", "{}", '{"properties": 3}', '{"properties": {"source": 3}}', '{"properties": {}, "type": "odd"}']
)
def test_a_schema_that_is_none_is_a_sentence(whole, schema):
    path = whole / "schema" / "heads.json"
    kept = path.read_text("utf-8")
    path.write_text(schema, "utf-8")
    with pytest.raises(CatalogError, match=r"^catalogs/schema/heads.json: it is not a schema"):
        load_catalogs(whole)
    path.write_text(kept, "utf-8")


def test_an_assumption_outside_its_range_is_a_sentence(broken):
    sentence = broken("assumptions", "overlap_ratio:                   {value: 0.85", "overlap_ratio:                   {value: 1.5")
    assert sentence == "catalogs/assumptions.yaml, entry overlap_ratio, field value: 1.5 is out of range; write a number from 0 to 1."


def test_plain_values_are_read_as_written():
    text = "a: 1_000\nb: 320.0e+9\nc: .inf\nd: 2026-07-20\ne: 'no'\nf: true\ng: [x, 2.5]\nh: H100"
    read = {"a": 1000, "b": 320e9, "c": np.inf, "d": "2026-07-20", "e": "no", "f": True, "g": ["x", 2.5], "h": "H100"}
    assert read_strictly(text, "c.yaml") == read


def test_a_missing_file_is_a_sentence(whole):
    (whole / "gpus.yaml").rename(whole / "away")
    with pytest.raises(CatalogError, match=r"^catalogs/gpus\.yaml: it cannot be read \(.*\); put the file back\.$"):
        load_catalogs(whole)
    (whole / "away").rename(whole / "gpus.yaml")


def test_the_version_follows_the_contents(catalogs, whole):
    assert load_catalogs(whole).version == catalogs.version
    (whole / "prices.yaml").write_text((whole / "prices.yaml").read_text("utf-8") + "\n", "utf-8")
    assert load_catalogs(whole).version != catalogs.version


def test_a_document_is_checked_once_and_each_caller_has_its_own(monkeypatch, whole):
    read_document(whole, "gpus")["gpus"].clear()
    seen = []
    monkeypatch.setattr("calc.catalogs.checked.check_schema", lambda _document, _schema, file: seen.append(file))
    assert "l4" in read_document(whole, "gpus")["gpus"]
    assert seen == []
    schema = whole / "schema" / "gpus.json"
    schema.write_bytes(schema.read_bytes() + b"\n")
    read_document(whole, "gpus")
    assert seen == ["catalogs/gpus.yaml"]


def test_a_checked_document_is_kept_on_disk_for_the_next_process(monkeypatch, tmp_path, whole):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    content, schema = (whole / "gpus.yaml").read_bytes(), (whole / "schema" / "gpus.json").read_bytes()
    checked._checked.cache_clear()
    first = checked.document_of(content, schema, "catalogs/gpus.yaml")
    (kept,) = (tmp_path / "headroom").iterdir()
    checked._checked.cache_clear()
    monkeypatch.setattr(checked, "read_strictly", None)  # no more asked
    assert checked.document_of(content, schema, "catalogs/gpus.yaml") == first
    monkeypatch.undo()
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    kept.write_text("{", "utf-8")
    checked._checked.cache_clear()
    assert checked.document_of(content, schema, "catalogs/gpus.yaml") == first
    assert kept.read_text("utf-8") != "{"
    monkeypatch.setenv("XDG_CACHE_HOME", "/dev/null")
    checked._checked.cache_clear()
    assert checked.document_of(content, schema, "catalogs/gpus.yaml") == first


def test_of_one_catalog_the_last_few_documents_stay(monkeypatch, tmp_path, whole):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    schema = (whole / "schema" / "heads.json").read_bytes()
    for lines in range(checked.KEPT_ON_DISK + 3):
        checked.document_of((whole / "heads.yaml").read_bytes() + b"\n" * lines, schema, "catalogs/heads.yaml")
    assert len(list((tmp_path / "headroom").iterdir())) == checked.KEPT_ON_DISK


def test_an_added_model_stands_for_its_id(catalogs):
    entries = yaml.safe_load((FOLDER / "models.yaml").read_text("utf-8"))["models"]
    name, other = list(entries)[:2]
    changed = add_models(catalogs, {name: entries[other], "my-model": entries[other]})
    assert len(changed.models) == len(catalogs.models) + 1
    assert changed.models.loc[name, "parameters"] == catalogs.models.loc[other, "parameters"]
    assert (changed.stacks["model"] == "my-model").sum() == (catalogs.stacks["model"] == other).sum()
    assert changed.version != catalogs.version
    assert "my-model" not in catalogs.models.index


def test_choices_are_numbers(catalogs):
    for name in CHOICES:
        table = getattr(catalogs, name)
        assert len(table), name
        assert table.index.is_monotonic_increasing, name
