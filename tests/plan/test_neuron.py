"""Trainium and Inferentia: memory by hand, published rates alone, the command and the page."""

import pytest
from examples import bill_row, catalogs, written
from pages import opened, page_text

from calc.__main__ import main
from calc.plan.neuron import neuron, neuron_rows
from calc.say.neuron import neuron_sentences

PRETRAIN = {"model": "llama-3.1-8b", "instance": "p5.48xlarge", "gpus": 8, "sharding": "zero3"}
PRETRAIN |= {"train_tokens": 1e11, "sequence_tokens": 8192}
CHAT = {"work": "inference", "model": "llama-3-8b", "instance": "g6e.xlarge"}


def test_every_entry_leads_somewhere():
    file = neuron()
    assert {entry.chip for entry in file.instances.values()} <= file.chips.keys()
    for rate in file.rates:
        assert rate.instance in file.instances
        assert rate.model in catalogs().models.index
    sources = {str(one.source) for one in (*file.rates, *file.chips.values())}
    prices = {one.price_source for one in file.instances.values()}
    assert sources | prices == file.sources.keys()


def test_a_run_is_priced_at_the_published_rate_by_hand():
    """47.95 sequences of 8,192 tokens a second on 32 instances of $21.50 an hour."""
    rows = neuron_rows(bill_row(catalogs(), **PRETRAIN)).set_index("instance")
    run = rows.loc["trn1.32xlarge"]
    hours = 1e11 / (47.95 * 8192) / 3600
    assert run["hours"] == pytest.approx(hours, rel=1e-5)
    assert run["usd"] == pytest.approx(hours * 32 * 21.5, rel=1e-5)
    assert run["needed_gib"] == pytest.approx(8_030_261_248 * 16 / 2**30)
    assert (run["memory_gib"], run["instances_least"]) == (512, 1)
    assert rows.loc["trn1.2xlarge", "instances_least"] == 4
    assert rows["usd"].notna().sum() == 1
    assert not any(name.startswith("inf") for name in rows.index)  # which train nothing


@pytest.mark.parametrize(
    "row", [PRETRAIN | {"tuning": "lora", "sharding": "none"}, PRETRAIN | {"model": "qwen3-8b"}]
)
def test_without_a_published_rate_there_is_no_price(row):
    rows = neuron_rows(bill_row(catalogs(), **row))
    assert rows[["rate_tokens_per_second", "hours", "usd"]].isna().all(axis=None)


def test_a_service_has_the_rate_of_one_request():
    rows = neuron_rows(bill_row(catalogs(), **CHAT)).dropna(subset="rate_tokens_per_second")
    assert set(rows["rate_in_flight"]) == {1}
    assert rows["usd"].isna().all()
    assert rows["usd_per_million_tokens"].iloc[0] == pytest.approx(21.5 / 3600 / 157.25 * 1e6)


def test_trainium2_is_priced_as_it_is_sold():
    """47 tokens a second at $35.7608 an hour of a Capacity Block in Ohio."""
    rows = neuron_rows(bill_row(catalogs(), **CHAT | {"model": "llama-3.3-70b"}))
    rated = rows.dropna(subset="rate_tokens_per_second").iloc[0]
    assert rated[["instance", "memory_gib"]].tolist() == ["trn2.48xlarge", 1536]
    assert rated["usd_per_million_tokens"] == pytest.approx(35.7608 / 3600 / 47 * 1e6)
    assert "$211 a million tokens in a Capacity Block in us-east-2" in neuron_sentences(rows)[1]


@pytest.mark.usefixtures("read_once")
def test_the_command_and_the_page(tmp_path, capsys):
    plans, out = tmp_path / "plans.csv", tmp_path / "out.csv"
    plans.write_text(f"scenario,{','.join(CHAT)}\nchat,{','.join(CHAT.values())}\n", "utf-8")
    assert main(["neuron", str(plans), "-o", str(out)]) == 0
    assert "chat: 1 × trn1.32xlarge: 157 tokens a second as published" in capsys.readouterr().err
    assert written(out)[0]["instance"] == "inf1.24xlarge"
    app = opened("pay", goal="tune", model="qwen3-8b")
    app.session_state["neuron_open"] = True
    assert "AWS publishes no rate for this model" in page_text(app.run())
