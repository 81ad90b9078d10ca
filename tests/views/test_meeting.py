"""Compare & bill where a meeting ends: cases, what moves them, the decision, and what is shared."""

import re

import pandas as pd
import pytest
from examples import bill_row, catalogs
from pages import address, opened, page_text, run, turned, with_share

from calc.charts.bills import answers_table, measures, moves_table
from calc.cost.job import ends_of
from calc.files.link import link
from calc.files.link.short import BROKEN, NAME, expand, shorten
from calc.plan.cases import Cases, case_ratios, cases, moves, run_ratios, service_ratios
from calc.plan.figures import records
from calc.plan.plan_bill import plan_bill
from calc.say.cases import Money, hour_summands, money_of, range_words, summands, with_range

COMMON = "model~llama-3.1-8b~gpus~8~sharding~zero3~instance~p5.48xlarge~sequence_tokens~4096"
RUN = f"plain~market~on-demand~{COMMON}~train_tokens~150000000~plan_months~1"
EIGHT = f"8-bit~market~on-demand~{COMMON}~train_tokens~150000000~plan_months~1~optimizer~adamw-8bit"
SERVED = (
    "served~market~on-demand~work~inference~model~llama-3.1-8b~instance~g6e.xlarge"
    "~implementation~vllm~batch~8"
)
HOLD = {"model": "llama-3.1-8b", "instance": "p5.48xlarge", "gpus": 8, "sharding": "zero3"}
SERVE = {
    "work": "inference",
    "model": "llama-3.1-8b",
    "instance": "g6e.xlarge",
    "implementation": "vllm",
    "batch": 8,
}
DECISION = "Take 8-bit AdamW, since it costs less; Ana, against the training budget"


@pytest.fixture(scope="module")
def bill():
    import pandas as pd

    rows = [bill_row(catalogs(), **HOLD, train_tokens=1e9), bill_row(catalogs(), **SERVE)]
    frame = pd.DataFrame(rows).assign(have="", scenario=["a", "b"], job=["A", "B"], problem="")
    return plan_bill(frame)


def test_the_base_case_is_the_bill_and_lies_between_low_and_high(bill):
    found = cases(bill, "year_usd")
    assert found.base == pytest.approx(bill["year_usd"].sum())
    assert found.low <= found.base <= found.high
    dearer = cases(bill, "year_usd", 25)
    assert dearer.high == pytest.approx(1.25 * found.high)
    assert (dearer.low, dearer.base) == (found.low, found.base)
    amounts = bill["year_usd"].tolist()
    assert range_words(found, amounts, Money(0)).endswith(
        f", base {summands(amounts, Money(0))[1]}"
    )
    odd = [1_000.4, 1_000.4, 1_000.4]  # shown, they add up to 3,000, not to 3,001
    assert range_words(Cases(1.0, 5.0, 9.0), odd, Money(0)) == "$1 to $9, base $3,000"
    assert (
        range_words(Cases(21.5, 35, 61.5), [2.5, 32.5], Money(2)) == "$21.50 to $61.50, base $35.00"
    )
    assert [with_range(12, 9.81, 25, Money(0)), with_range(3.2, 2.5, 12, Money(2))] == [
        "$12 ($10 to $25)",
        "$3.20 ($2.50 to $12.00)",
    ]


def test_a_run_moves_with_its_time_and_attempts_and_a_service_with_its_throughput(bill):
    trained, served = records(bill)
    assert ends_of(trained)
    low, high = run_ratios(trained)
    assert low == pytest.approx(trained["run_low_hours"] / trained["run_hours"])
    assert high == pytest.approx(trained["run_high_hours"] / trained["run_hours"])
    assert case_ratios(trained)[1] == pytest.approx(2 * high, rel=1e-6)  # two attempts for one
    assert service_ratios(trained) == run_ratios(served) == (1.0, 1.0)
    assert service_ratios(served)[0] <= 1 <= service_ratios(served)[1]


def test_each_factor_moves_the_bill_around_its_base_and_the_largest_comes_first(bill):
    table = moves(bill, "year_usd", catalogs())
    base = bill["year_usd"].sum()
    assert {"hours", "attempts", "discount"} <= set(table["factor"])
    assert (table["low_usd"] <= base * 1.0001).all()
    assert (table["high_usd"] >= base * 0.9999).all()
    spans = table["high_usd"] - table["low_usd"]
    assert spans.is_monotonic_decreasing
    drawn = moves_table(table, bill["year_usd"], Money(0))
    assert drawn["base"].to_list() == pytest.approx([base] * len(table))


def test_an_end_that_moves_nothing_has_no_figure_though_the_rounded_lines_add_up_to_another_sum():
    bill_usd = pd.Series([45.4, 16_302.4, 75.4])  # written as 45 + 16,302 + 75 = 16,422
    ends = pd.DataFrame(
        {"factor": ["spot"], "low_usd": [bill_usd.sum()], "high_usd": [bill_usd.sum() + 100]}
    )
    drawn = moves_table(ends, bill_usd, Money(0)).iloc[0]
    assert (drawn["low_text"], drawn["high_text"]) == ("", "$16,522")


def test_charts_hold_every_answer_that_has_the_measure(bill):
    rows = records(bill)
    assert measures(rows, catalogs()) == ["once", "month", "hours", "token", "memory"] or measures(
        rows, catalogs()
    ) == [*("month", "hours", "token", "memory")]
    memory = answers_table(rows, [0], "memory", Money(0), catalogs())
    assert memory["label"].to_list() == ["Llama 3.1 8B\na", "Llama 3.1 8B\nb"]
    alone = answers_table(rows[:1], [0], "memory", Money(0), catalogs())
    assert alone["label"].to_list() == ["a"]
    long = [row | {"scenario": "Pure bf16 with Adafactor · g6e.xlarge"} for row in rows[:1]]
    lines = answers_table(long, [0], "memory", Money(0), catalogs())["label"].iloc[0]
    assert lines == "Pure bf16 with Adafactor\ng6e.xlarge"  # all of it, in lines that fit
    assert memory["is_ticked"].to_list() == [True, False]
    assert (memory["full"] >= memory["value"]).all()
    assert memory["full"].nunique() == 2  # the cards differ
    assert (memory["low"] <= memory["high"]).all()


def test_one_rounding_serves_all_amounts_of_a_screen():
    small, large = money_of([6.61, 46.38], 52.99), money_of([6.61, 2455.1], 29_619)
    assert [small(6.61), small(46.38), small(0.3)] == ["$6.61", "$46.38", "$0.30"]
    assert [large(6.61), large(2455.1), large(0.3)] == ["$7", "$2,455", "under $1"]
    assert summands([6.61, 65.08], large) == (["$7", "$65"], "$72")
    assert large.change(46.38, 37.72) == -8  # as $46 and $38 read, though −$8.66 is nearer


@pytest.mark.parametrize("write", [summands, hour_summands])
@pytest.mark.parametrize(
    "values",
    [[33.93, 7050.4, 12.5], [0.4, 0.4, 0.4], [float("nan"), 49.5, 50.5], [116.5, 117.5], []],
)
def test_what_is_shown_adds_up(values, write):
    texts, total = write(values)
    shown = [float(text.strip("$").replace(",", "")) for text in texts if text]
    assert len(texts) == len(values)
    assert (sum(shown) if shown else 0) == pytest.approx(
        float(total.strip("$").replace(",", "") or 0), abs=1e-9
    )


def test_a_short_link_says_the_same_and_a_broken_one_says_so():
    query = link.compose({"model": "llama-3.1-8b", "kept": []}) | {"kept": [RUN, EIGHT, SERVED]}
    short = shorten(query)
    assert list(short) == [NAME]
    assert len(short[NAME][0]) < len("".join(query["kept"]))
    assert expand(short) == (query, "")
    by_names = {f"{kind}_{amount}": ["1"] for kind in "abcdef" for amount in ("tokens", "seconds")}
    assert shorten(by_names).keys() == {NAME}  # long by its names alone
    assert shorten({"v": ["3"]}) == {"v": ["3"]}
    for text in (short[NAME][0][:-9], "!", "", "é", "eJwDAAAAAAE"):
        assert expand({NAME: [text], "v": ["3"]}) == ({"v": ["3"]}, BROKEN)
    app = opened(z=short[NAME][0])
    assert len(app.session_state["kept"]) == 3
    assert BROKEN in page_text(opened(z="zzz"))


def test_the_decision_and_the_bill_leave_the_room_in_minutes_link_and_rows():
    app = opened("compare", kept=[RUN, EIGHT, SERVED])
    app = run(app.text_input(key="decision").set_value(DECISION))
    assert address(app)["decision"] == [DECISION]
    codes = [code.value for code in with_share(app).code]
    minutes = next(code for code in codes if code.startswith("## $"))
    assert DECISION in minutes.splitlines()[2]
    for name in ("plain", "8-bit", "served"):
        assert f"| {name} |" in minutes
    assert "Low takes the fast end" in minutes
    assert "Together" in minutes
    again = opened(
        "compare", **{name: text for name, text in address(app).items() if name != "view"}
    )
    assert again.text_input(key="decision").value == DECISION
    amounts = [
        [float(number.replace(",", "")) for number in re.findall(r"\$([\d,.]+)", text)]
        for text in app.table[0].value["12 months"]
    ]
    *lines, together = [amount[0] for amount in amounts if amount]
    assert sum(lines) == pytest.approx(together)


def test_a_wall_has_larger_letters_and_no_sidebar():
    app = opened("compare", kept=[RUN, EIGHT])
    plain = [chart.proto.spec for chart in app.get("vega_lite_chart")]
    app = run(app.toggle(key="wall").set_value(True))
    large = [chart.proto.spec for chart in app.get("vega_lite_chart")]
    assert len(plain) == len(large) >= 4
    assert all('"fontSize": 24' in spec for spec in large)
    assert any("font-size: 22px" in part.proto.body for part in app.get("html"))
    app = turned(app, "team")
    assert any("font-size: 22px" in part.proto.body for part in app.get("html"))


def test_a_link_with_a_budget_and_no_period_is_of_a_year():
    app = opened("compare", kept=[RUN], budget_usd="30000")
    assert not app.exception
    assert (app.number_input(key="budget_usd").value, app.selectbox(key="budget_for").value) == (
        30_000,
        "year",
    )
