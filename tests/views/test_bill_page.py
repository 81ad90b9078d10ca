"""Other ways to pay: what is paid for what, every price, how sure it is; assumptions that reach
every page.
"""

from datetime import date

import pytest
from examples import table
from pages import address, opened, page_text, run, title, turned

from calc import estimate
from calc.answers.full_answer import full_answer as options
from calc.plan.bill import bill_rows, on_markets
from calc.plan.figures import figures
from calc.plan.run_length import over_concurrency, over_tokens
from calc.say.numbers import billed_usd, percent
from calc.scenarios.inputs import DEFAULTS, inputs_by_name
from calc.speed.time_basis import BASES
from views.compare_and_bill import bill_lines, pay, prices
from views.shared.row_words import TIME_RESTS_ON, verdict
from views.sidebar.assumptions import ASKED_ABOVE

RUN = {
    "goal": "train",
    "model": "llama-3.1-8b",
    "instance": "p5.48xlarge",
    "gpus": "8",
    "sharding": "zero3",
    "batch": "1",
}
RUN |= {"accumulation_steps": "4", "recompute": "none", "run_tokens": "10000000000"}
RUN |= {"markets": "on-demand"}
QUOTA = "in N. Virginia: 192 vCPUs for 1 × p5.48xlarge; a new account has 0"
SERVE = {
    "goal": "serve",
    "model": "qwen2.5-32b",
    "instance": "p5.48xlarge",
    "users": "20",
    "prompt_tokens": "6000",
}


PANELS = (
    "paid_lines",
    "break_even",
    "availability",
    "small_lines",
    "run_length",
    "spot_details",
    "token_costs",
    "all_assumptions",
)


def bill(**query):
    """The tab with all of its panels open."""
    app = opened(**query)
    for name in PANELS:
        app.session_state[name] = True
    return turned(app, "pay")


def paid(app):
    """The lines of the bill as they stand in the table."""
    return [[str(cell).replace("\\", "") for cell in row] for row in app.table[0].value.to_numpy()]


def dollars(text):
    return float(text.strip("*$").replace(",", ""))


@pytest.fixture(scope="module")
def row(catalogs):
    """The answer to the same job as the page's."""
    names = ("goal", "model", "instance", "sharding", "recompute", "markets")
    job = {name: RUN[name] for name in names} | {
        name: float(RUN[name]) for name in ("gpus", "batch", "accumulation_steps")
    }
    return options(job | {"train_tokens": 1e10}, catalogs).answers.iloc[0].to_dict()


@pytest.mark.long
def test_a_run_says_what_is_paid_for_its_range_its_market_and_the_quota_that_it_needs(
    row,
):
    app = bill(**RUN, usd_most="1")
    assert app.warning[0].value  # outside a limit it is billed all the same
    line, start, total = paid(app)
    assert line[0] == "1 × p5.48xlarge in N. Virginia, on demand"
    assert line[1].startswith("10.0 billion tokens at")
    assert dollars(line[5]) + dollars(start[5]) == pytest.approx(
        row["run_usd_on_demand"], rel=0.005
    )
    assert dollars(total[5]) == pytest.approx(row["run_usd_on_demand"], rel=0.005)
    assert (
        title(app).replace("\\", "")
        == f"About {billed_usd(row['usd'])} once: Train Llama 3.1 8B on 10 billion tokens"
    )
    text = page_text(app)
    for heading in (
        "**Time**",
        "**Price**",
        "**Memory**",
        "Other runs",
        "tax",
        "check it before you sign",
    ):
        assert heading in text
    markets = app.dataframe[0].value.set_index("Paid as")
    assert markets["Cost"][["On demand", "Spot"]].tolist() == pytest.approx(
        [row["run_usd_on_demand"], row["run_usd_spot"]]
    )
    assert markets["Hours billed"]["Capacity block"] % 24 == 0
    assert (markets["Price of"] != "").equals(markets["Cost"].notna())
    assert f"(L-417A185B) {QUOTA}" in text
    assert "L-417A185B" in "\n".join(block.value for block in app.code)


@pytest.mark.long
def test_on_spot_what_interruptions_cost_is_a_line_each_and_they_sum(row):
    app = bill(**RUN | {"markets": "spot"})
    *lines, total = paid(app)
    assert [line[1].startswith("Work done twice") for line in lines].count(True) == 1
    assert sum(dollars(line[5]) for line in lines) == pytest.approx(dollars(total[5]), rel=0.01)
    assert dollars(total[5]) == pytest.approx(row["run_usd_spot"], rel=0.005)
    for phrase in ("**Interruptions**", "Daly 2006", f"(L-C4BD4855) {QUOTA}"):
        assert phrase in page_text(app)
    commands = "\n".join(block.value for block in app.code)
    assert ("L-C4BD4855" in commands, "get-spot-placement-scores" in commands) == (True, True)


@pytest.mark.parametrize("basis", BASES)
def test_how_sure_the_time_is_follows_the_row(row, catalogs, basis):
    market = on_markets(row, catalogs).iloc[0].to_dict()
    reason = "a card whose shares of the data sheet are taken from another class of card"
    sentence = bill_lines.how_sure(
        row | {"time_basis": basis, "time_reason": reason}, market, date(2026, 11, 20), catalogs
    )[0]
    assert TIME_RESTS_ON[basis] in sentence
    assert reason in sentence
    assert ("calibrated" in sentence) == (basis == "calibrated")


@pytest.mark.bench
def test_serving_is_billed_by_the_month_and_by_the_token():
    app = bill(**SERVE, answer_tokens="1000")
    assert "a month: Serve Qwen2.5 32B, 20 requests in flight, " in title(app)
    shown = {metric.label for metric in app.metric}
    assert shown == {
        "First token",
        "Each further token",
        "Million prompt tokens",
        "Million generated tokens",
    }
    assert paid(app)[0][2] == "730 h"
    assert "set “Load to serve”" in page_text(app)
    run(app.get_by_key("served_tokens_per_second").set_value(2_000.0))
    assert "2,000 tokens a second take" in page_text(app)


@pytest.mark.bench
def test_the_bill_is_of_the_row_looked_at(catalogs):
    other = options({"model": "llama-3.1-8b", "train_tokens": 1.5e8}, catalogs).board.iloc[3]
    app = bill(looked=f"instance~{other['instance']}~market~on-demand~gpus~{other['gpus']:.0f}")
    assert (
        paid(app)[0][0]
        == f"{other['instances_needed']:.0f} × {other['instance']} in N. Virginia, on demand"
    )
    assert dollars(paid(app)[-1][5]) == pytest.approx(other["usd"], rel=0.005)


@pytest.mark.bench
@pytest.mark.long
def test_every_assumption_is_an_input_like_any_other_in_a_group_that_is_closed():
    app = bill(**RUN)
    run(app.get_by_key("all_assumptions_shown").set_value(True))
    assert {name for name in inputs_by_name() if name not in DEFAULTS} - {*ASKED_ABOVE} <= {
        field.key for field in app.number_input
    }
    assert not opened("pay", **RUN).number_input  # the group is closed
    before = paid(app)
    run(app.get_by_key("utilization").set_value(0.4))
    assert paid(app) != before
    assert address(app)["utilization"] == ["0.4"]
    assert "computed with 40 % of the card's rate, as you set it" in page_text(app)
    # And reaches the plan page from a link.
    assert address(opened(restart_seconds="7200"))["restart_seconds"] == ["7200"]


def test_a_plan_without_a_price_says_so(catalogs):
    scenario = {"model": "llama-3.2-1b", "gpu": "h100-80gb-sxm", "train_tokens": 1e8}
    unpriced = bill_rows(table([scenario]).assign(market="on-demand"), catalogs).iloc[0].to_dict()
    markets = on_markets(unpriced, catalogs)
    work = "Fine-tune Llama 3.2 1B on 100 million tokens"
    assert pay.heading(unpriced, work) == f"No price is known: {work}"
    assert (
        prices.cheapest(markets, "on-demand", "training") == "No price of any kind is known for it."
    )
    assert "none is known on demand" in " ".join(
        bill_lines.how_sure(unpriced, markets.iloc[0].to_dict(), date(2026, 11, 20), catalogs)
    )


def test_cost_over_tokens_is_that_of_the_estimate_and_more_at_once_make_a_token_cheaper(catalogs):
    scenario = {"model": "llama-3.1-8b", "instance": "p5.48xlarge", "gpus": 8, "sharding": "zero3"}
    row = estimate(scenario | {"train_tokens": 1e10}, catalogs, solve=False)
    table = over_tokens(scenario | {"train_tokens": 1e9}, catalogs)
    last = table[table["tokens"] == table["tokens"].max()].set_index("line")["usd"]
    usd = {
        "on demand": row["run_usd_on_demand"],
        "spot, interruptions counted": row["run_usd_spot"],
    }
    assert last[list(usd)].to_dict() == pytest.approx(usd)
    assert table["now"].sum() == 2
    served = {
        "work": "inference",
        "model": "qwen2.5-32b",
        "implementation": "vllm",
        "instance": "p5.48xlarge",
        "gpus": 8,
    }
    served |= {"tensor_parallel": 8, "sequence_tokens": 8192, "prompt_tokens": 6000, "batch": 20}
    table = over_concurrency(served, "on-demand", catalogs)
    assert table["usd"].is_monotonic_decreasing
    assert table["milliseconds"].is_monotonic_increasing
    assert table[table["now"]]["sequences"].tolist() == [20]


def test_another_market_becomes_the_plans():
    app = bill()
    run(app.selectbox(key="use_market").select_index(0))
    assert app.session_state["markets"] == ["spot"]
    assert "on spot" in page_text(app)


def test_the_share_of_the_card_is_that_of_the_board(catalogs):
    """The bill divides what must fit, not what the allocator caches beyond it, by the card."""
    row = options({"work": "training", "model": "llama-3.1-8b"}, catalogs).rows[0]
    share = f"{percent(figures(row).used_ratio)} of the card"
    assert share in page_text(opened("pay"))
    assert share in verdict(row)
