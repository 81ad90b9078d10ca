"""Every number of the catalogs has its source, its day and its address."""

import re

import pytest

from calc.catalogs import figures
from calc.catalogs.sources import UNVERIFIED, columns_behind, sources_of
from calc.charts import catalog_tables
from calc.charts.result_tables import for_screen
from calc.cost.offers import entries_behind, offers
from calc.evaluate import formulas_of
from calc.say.addresses import with_addresses

DAY = re.compile(r"\d{4}-\d{2}-\d{2}")


def sourced(column, entries, catalogs):
    return [(source.text, source.day) for source in sources_of(column, entries, catalogs)]


def test_every_price_of_every_instance_and_region_has_a_source_and_a_day(catalogs):
    """No list of columns: those of the table that are prices."""
    table = offers(catalogs, catalogs.regions.index)
    prices = [name for name in table if name.endswith("_usd_per_hour")]
    assert len(prices) > 20
    for row in table.to_dict("records"):
        entries = entries_behind(row, catalogs)
        for name in prices:
            if row[name] > 0:
                (source,) = sources_of(name, entries, catalogs)
                assert source.text, name
                assert DAY.match(source.day), name
                assert (
                    source.place
                    == f"catalogs/edited/prices.yaml, {row['instance']}, {row['region']}"
                )


def test_every_number_of_a_model_a_card_and_an_instance_has_a_source_and_a_day(catalogs):
    for catalog in ("models", "gpus", "instances"):
        table = getattr(catalogs, catalog)
        numbers = [name for name in table.select_dtypes("number") if name != "gpu_memory_bytes"]
        for name in table.index:
            for column in numbers:
                (source,) = sources_of(column, {catalog: (name, table.loc[name])}, catalogs)
                assert source.text, (name, column)
                assert DAY.match(source.day), (name, column)


def test_a_figure_that_is_worked_out_has_the_sources_of_what_it_reads(catalogs):
    row = (
        offers(catalogs, ["us-east-1"])
        .set_index("instance", drop=False)
        .loc["p5.48xlarge"]
        .to_dict()
    )
    entries = entries_behind(row, catalogs)
    price, memory = (
        sourced("on_demand_usd_per_hour", entries, catalogs),
        [(catalogs.gpus.at[row["gpu"], "memory_source"], "2026-11-20")],
    )
    assert sourced("gpu_memory_gib", entries, catalogs) == memory
    of_all = sourced("gib_per_usd", entries, catalogs)
    assert set(price + memory) < set(of_all)
    assert sourced("spot_low_usd_per_hour", entries, catalogs) == sourced(
        "spot_usd_per_hour", entries, catalogs
    )
    assert (
        sourced("spot_discount_percent", entries, catalogs)
        == sourced("spot_usd_per_hour", entries, catalogs) + price
    )
    assert sources_of("no_such_column", entries, catalogs) == []
    assert columns_behind("weights_gib") == ["parameters"]
    for figure in formulas_of(figures):
        assert columns_behind(figure.__name__) != [figure.__name__]


def test_what_nobody_says_is_not_given_a_source(catalogs):
    name = next(name for name in catalogs.gpus.index if catalogs.gpus.at[name, "unverified"])
    row = catalogs.gpus.loc[name]
    (source,) = sources_of(row["unverified"][0], {"gpus": (name, row)}, catalogs)
    assert source.text == UNVERIFIED


def test_the_figures_of_a_table_are_those_of_their_formulas(catalogs):
    model = catalog_tables.models(catalogs, "llama-3.1-8b").iloc[0]
    assert model["weights_gib"] == pytest.approx(model["parameters"] * 2 / 2**30)
    card = for_screen(catalog_tables.card_table(catalogs), ["id", "card_pflops"]).set_index("id")[
        "card_pflops"
    ]
    assert card["h100-80gb-sxm"] == pytest.approx(
        catalogs.gpus.at["h100-80gb-sxm", "bf16_flops_per_second"] / 1e15
    )


@pytest.mark.parametrize(
    ("text", "address"),
    [
        (
            "skypilot-org/skypilot-catalog, catalogs/v9/aws/vms.csv, commit 2c3d7ea7",
            "https://github.com/skypilot-org/skypilot-catalog/blob/2c3d7ea7/catalogs/v9/aws/vms.csv",
        ),
        (
            "dstackai/dstack pull request 4063, lowest zone",
            "https://github.com/dstackai/dstack/issues/4063",
        ),
        ("Rajbhandari et al. 2019, arXiv 1910.02054; PyTorch", "https://arxiv.org/abs/1910.02054"),
        (
            "config.json as copied in cli99/llm-analysis model_configs",
            "https://github.com/cli99/llm-analysis",
        ),
        (
            "AWS Spot Instance Advisor, as copied by alexei-led/spotinfo, 2025-06-28",
            "https://github.com/alexei-led/spotinfo",
        ),
        ("as shown by instances.vantage.sh (Linux)", "https://instances.vantage.sh"),
        ("a page, https://example.org/a/b.", "https://example.org/a/b"),
        ("calibrated by validation/speed.py (PyTorch 2.13, bf16/fp8)", ""),
        ("general knowledge, without a source at hand", ""),
    ],
)
def test_a_source_names_its_address(text, address):
    parts = with_addresses(text)
    assert "".join(words for words, _ in parts) == text
    assert "".join(target for _, target in parts) == address
