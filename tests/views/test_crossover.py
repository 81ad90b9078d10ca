"""Own machines beside a price per token: lines by hand, crossings, what is left out."""

import altair as alt
import numpy as np
import pytest
from examples import bill_row, written
from pages import opened, page_text
from test_compare_page import SERVED

from calc.__main__ import main
from calc.plan.bill import month_generated_tokens
from calc.plan.crossover import MONTH_DAYS, Purchase, crossings, over_volume
from calc.say.crossover import NO_ENDPOINT, crossing_sentences
from views.charts.base import LARGE_COUNT, log_axis
from views.shared.theme import INKS


@pytest.fixture(scope="module")
def row(catalogs):
    made = bill_row(
        catalogs,
        work="inference",
        model="llama-3.1-8b",
        instance="g6e.xlarge",
        implementation="vllm",
        batch=32,
        sequence_tokens=2048,
        prompt_tokens=1024,
    )
    return made | {"endpoint_usd_per_million_tokens": 1.0}


def at(table, line, tokens):
    rows = table[table["line"] == line]
    return float(rows["usd"].to_numpy()[np.abs(rows["tokens"] - tokens).argmin()])


def test_each_line_by_hand(row, catalogs):
    table, can = over_volume(row, catalogs, Purchase(36_000, 36, 0.5)), month_generated_tokens(row)
    assert at(table, "per-token", can) == pytest.approx(can / 1e6)
    assert at(table, "always-on", can) == pytest.approx(row["usd"])
    assert at(table, "always-on", 2 * can) == pytest.approx(2 * row["usd"])
    assert at(table, "bought", can) == pytest.approx(1000 + 0.5 * row["hours"])
    half = table["tokens"].unique()[np.abs(table["tokens"].unique() - can / 2).argmin()]
    hours = row["hours"] * half / can + MONTH_DAYS * row["start_hours"]
    assert at(table, "when-used", half) == pytest.approx(row["usd_per_hour"] * hours)
    assert "commit-3y" not in set(table["line"])  # no price of it is known
    assert at(table, "commit-1y", can) < at(table, "always-on", can)


def test_while_used_never_costs_more_than_all_month(row, catalogs):
    wide = over_volume(row, catalogs).pivot_table(index="tokens", columns="line", values="usd")
    assert (wide["when-used"] <= wide["always-on"] * (1 + 1e-12)).all()
    assert (wide.diff().iloc[1:] >= -1e-9).all().all()  # more tokens never cost less


def test_crossings_are_where_the_lines_meet(row, catalogs):
    can = month_generated_tokens(row)
    dear = row | {"endpoint_usd_per_million_tokens": 3 * row["usd"] / can * 1e6}
    found = crossings(over_volume(dear, catalogs))
    assert found["always-on"] == pytest.approx(can / 3, rel=0.02)
    assert found["when-used"] < found["always-on"]
    cheap = row | {"endpoint_usd_per_million_tokens": 0.01 * row["usd"] / can * 1e6}
    assert all(np.isnan(tokens) for tokens in crossings(over_volume(cheap, catalogs)).values())
    first, *_, last = crossing_sentences(crossings(over_volume(cheap, catalogs)))
    assert "costs more than paying per token, up to all" in first
    assert "imported weights" in last  # whose price is not known, and the line says so


def test_without_a_price_per_token_nothing_crosses(row, catalogs):
    table = over_volume(row | {"endpoint_usd_per_million_tokens": float("nan")}, catalogs)
    assert "per-token" not in set(table["line"])
    assert crossing_sentences(crossings(table)) == [NO_ENDPOINT]
    assert "bought" not in set(table["line"])


@pytest.mark.usefixtures("read_once")
def test_the_command_and_the_page(tmp_path, capsys):
    plans, volumes = tmp_path / "plans.csv", tmp_path / "volumes.csv"
    plans.write_text(
        "scenario,work,model,instance,batch,implementation,sequence_tokens,prompt_tokens,endpoint_usd_per_million_output_tokens\n"
        "chat,inference,llama-3.1-8b,g6e.xlarge,32,vllm,2048,1024,1\n",
        "utf-8",
    )
    words = ["load", str(plans), "--volumes", str(volumes), "--bought", "40000"]
    assert main([*words, "-o", str(tmp_path / "day.csv")]) == 0
    lines = {row["line"] for row in written(volumes)}
    assert lines == {"always-on", "when-used", "commit-1y", "bought", "per-token"}
    assert "Rented while used: costs no more than paying per token from" in capsys.readouterr().err
    app = opened(
        "load",
        kept=[
            f"{SERVED}~sequence_tokens~2048~prompt_tokens~1024~endpoint_usd_per_million_output_tokens~1"
        ],
    )
    app.session_state["crossover_open"] = True
    app.run()
    assert not app.exception
    assert "Rented all month: " in page_text(app)


def test_the_axis_of_tokens_says_billion():
    """The letter G of d3's number format is a unit of physics."""
    axis = log_axis(alt.X("x:Q"), INKS["light"], "tokens", LARGE_COUNT).to_dict()["axis"]
    assert "replace(" in axis["labelExpr"]
    assert "'G', 'B'" in axis["labelExpr"]
