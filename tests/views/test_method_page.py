"""The Method page: every number of the chosen scenario with its formula, also where there is little
to say.
"""

import re
from itertools import product

import pandas as pd
import pytest
from examples import catalogs, recorded
from pages import opened, page_text, run, title

from calc import estimate
from calc.charts.result_tables import COMPONENT_LABELS
from calc.columns import COMPONENTS
from calc.cost.markets import BY_USE
from calc.explain.bill_formulas import explain_bill
from calc.explain.times import EXPLAINED as TIMES
from calc.memory import block_forms
from calc.plan.bill import bill_rows
from calc.say.numbers import gib
from calc.units import GIB
from views.understand.method_panels import VECTORS

CATALOGS = catalogs()
PANELS_OF_TIME = tuple(name for names in TIMES.values() for name in names)
CARD = {"gpus": "1", "gpu": "h100-80gb-sxm", "instances_most": "", "days_most": ""}
ONE = {
    **CARD,
    "precision": "bf16",
    "optimizer": "adamw",
    "sharding": "none",
    "batch": "1",
    "accumulation_steps": "1",
    "recompute": "none",
}
QUERIES = recorded("cases/method_page.json")["queries"]


@pytest.fixture(scope="module", params=QUERIES, ids=str)
def app(request):
    return with_parts(opened("method", **QUERIES[request.param]))


def with_parts(app):
    """The tab with all of its parts open."""
    for part in (
        *COMPONENTS,
        *PANELS_OF_TIME,
        "layout",
        "phases",
        "range",
        "runs",
        "left_out",
        "sources",
    ):
        app.session_state[f"why_{part}"] = True
    return run(app)


def test_the_bill_of_every_market_has_its_formulas():
    """What the derivation comes to is the bill; the sum it shows is that of the numbers it
    shows.
    """
    run = {
        "model": "llama-3.1-8b",
        "instance": "p4d.24xlarge",
        "gpus": 8,
        "sharding": "zero3",
        "train_tokens": 1e9,
        "paid_ratio": 0.9,
    }
    month = {
        "work": "inference",
        "model": "llama-3.1-8b",
        "instance": "g6e.xlarge",
        "implementation": "vllm",
        "hours_per_month": 300,
    }
    month |= {"prompt_tokens": 1024, "endpoint_usd_per_million_output_tokens": 0.6}
    for scenario, market in product((run, month), (*BY_USE, "reserved-1y-no-upfront")):
        row = (
            bill_rows(
                pd.DataFrame([estimate(scenario, CATALOGS, solve=False)]).assign(market=market),
                CATALOGS,
            )
            .iloc[0]
            .to_dict()
        )
        if row["usd"] != row["usd"]:
            continue
        why = explain_bill(scenario, market, row, CATALOGS)
        tops = (
            why.formulas[why.formulas["step"] == 0]
            .set_index("component")["value"]
            .map(lambda value: float(value[0]))
        )
        assert tops["usd"] == pytest.approx(row["usd"])
        assert ("committed_usd" in tops) == (market in ("capacity-block", "reserved-1y-no-upfront"))
        assert ("endpoint_break_even_tokens" in tops) == (scenario is month)
        prices = why.facts[why.facts["column"].str.endswith("usd_per_hour")]
        assert prices["from"].str.startswith("catalogs/edited/prices.yaml").all()
        assert (prices["source"] != "").all()
        made = {row["formula"] for row in why.formulas.to_dict("records")} | set(
            why.facts["column"]
        )
        assert {name for row in why.formulas.to_dict("records") for name in row["reads"]} <= made


@pytest.mark.sample(3)
def test_every_component_range_phase_and_omission_is_said(app):
    titles = [expander.label for expander in app.expander]
    code = "\n".join(block.value for block in app.code)
    alive = [
        name
        for name in COMPONENTS
        if any(title.startswith(f"**{COMPONENT_LABELS[name]}**") for title in titles)
    ]
    assert "weights_bytes" in alive
    assert "overhead_bytes" in alive
    assert [name for name in alive if f"\n{name} = " not in f"\n{code}"] == []
    cells = "\n".join(str(cell) for table in app.table for cell in table.value.to_numpy().ravel())
    text = page_text(app)
    times = [name for name in PANELS_OF_TIME if f"\n{name} = " in f"\n{code}"]
    assert times in (["step_seconds"], list(PANELS_OF_TIME[1:]))
    for words in ("Plan for", "does not fit", "a full state dict", "Rajbhandari et al. 2019"):
        assert words in text
    assert app.header[0].value == "Memory at the peak"
    assert "https://arxiv.org/abs/" in cells + text
    assert re.search(r"catalogs/edited/models.yaml, \S+", cells)
    assert re.search(r"\d{4}-\d{2}-\d{2}", cells)


def test_the_headline_is_the_estimate():
    scenario = {"model": "gpt2", "precision": "bf16", "optimizer": "adamw", "sequence_tokens": 1024}
    app = opened("method", **ONE | {"model": "gpt2", "sequence_tokens": "1024"})
    row = estimate({**scenario, "gpu": ONE["gpu"]}, catalogs(), solve=False)
    assert title(app) == f"Where the {gib(row['needed_bytes'] / GIB)} on each GPU comes from"
    assert "all weights of GPT-2" in page_text(app)


def test_what_cannot_be_estimated_or_run_says_why_and_who_says_so():
    app = opened("method", **ONE | {"gpus": "8", "tensor_parallel": "3"})
    assert "there is no estimate to explain" in app.title[0].value
    assert app.error[0].value
    query = {
        "work": "inference",
        "implementation": "vllm",
        "model": "qwen3-0.6b",
        "precision": "bf16",
        "gpus": "1",
    }
    app = opened("method", **query, instance="g4dn.xlarge")
    text = page_text(app)
    assert "It does not run" in text
    assert "choose fp16" in text
    rules = next(table.value for table in app.dataframe if "verdict" in table.value)
    assert rules["verdict"].iloc[0] == "refuses"
    assert "check_if_supports_dtype" in rules["source"].iloc[0]


def test_the_plan_leads_to_formulas_and_sources():
    app = opened()
    app.session_state["all_types"] = True
    run(run(app).button(key="to_sources").click())
    assert title(app).startswith("Where the ")


def test_every_form_of_a_block_has_its_words():
    """Also those that few blocks have: what is saved of one sequence alone (Falcon, DeepSeek) or
    under 8-bit products.
    """
    assert set(VECTORS) == {*block_forms.VECTORS, *block_forms.MOMENTS}
    assert opened("method", goal="train", model="falcon-7b", batch="1").title
