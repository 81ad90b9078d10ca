"""The plan's bill: runs and months by hand, a commitment paid to its end, sums by market, the
budget, link and CSV.
"""

import numpy as np
import pytest
from examples import recorded, table
from pages import address, opened, run

from calc.cost.terms import committed_copies
from calc.files.csv import tables as csv_tables
from calc.files.csv.earlier import earlier
from calc.plan.bill import bill_rows
from calc.plan.plan_bill import AgainstBudget, against_budget, paid_months, plan_bill
from calc.say.cases import Money
from views.compare_and_bill.the_bill import _against

RUN = {
    "model": "llama-3.1-8b",
    "instance": "p4d.24xlarge",
    "gpus": 8,
    "sharding": "zero3",
    "train_tokens": 1e9,
}
SERVICE = {
    "work": "inference",
    "model": "llama-3.1-8b",
    "instance": "g6e.xlarge",
    "implementation": "vllm",
    "batch": 8,
}
PLAN = recorded("cases/plan_bill.json")["plan"]


@pytest.fixture(scope="module")
def bill(catalogs):
    rows = table([scenario for scenario, _ in PLAN]).assign(market=[market for _, market in PLAN])
    return plan_bill(bill_rows(rows, catalogs)).set_index("scenario")


def test_runs_and_commitments_are_paid_as_often_as_they_are_made(bill):
    row = bill.loc["weekly run"]
    assert row["month_usd"] == pytest.approx(4 * row["run_usd_on_demand"])
    assert (row["quarter_usd"], row["year_usd"]) == pytest.approx(
        (3 * row["month_usd"], 5 * row["month_usd"])
    )
    assert bill.loc["on spot", "year_usd"] == pytest.approx(
        12 * bill.loc["on spot", "run_usd_spot"]
    )
    assert bill.loc["service", "quarter_usd"] == pytest.approx(3 * 730 * 1.861)
    row = bill.loc["base"]
    assert row["month_usd"] == pytest.approx(730 * 1.17243)
    assert row["year_usd"] == pytest.approx(12 * row["month_usd"])
    assert paid_months(12, 2, 1) == 12
    assert paid_months(12, 2, 0) == 2


def test_what_is_made_once_is_paid_once_and_a_budget_says_what_is_left(bill):
    once = plan_bill(bill.reset_index().assign(plan_months=1)).set_index("scenario")
    ends = once["work"] == "training"
    assert once["once_usd"][ends].tolist() == pytest.approx(once["year_usd"][ends].tolist())
    assert once["monthly_usd"][~ends].tolist() == pytest.approx(once["month_usd"][~ends].tolist())
    assert once[["once_usd", "monthly_usd"]].notna().sum(axis="columns").tolist() == [1] * len(once)
    assert bill["once_usd"].isna().all()  # each is at work for several months
    run = bill.loc["weekly run"]
    assert run["start_usd"] == pytest.approx(4 * run["start_hours"] * run["usd_per_hour"])
    total = bill["year_usd"].sum()
    assert against_budget(bill, 2 * total, "year") == pytest.approx((total, 0.5))
    assert against_budget(bill, total / 2, "year").left_usd == pytest.approx(-total / 2)


def test_a_base_on_a_plan_and_peaks_on_demand_are_two_lines(catalogs):
    """Two instances all month on a reserved term, three more for 100 hours on demand: worked by
    hand.
    """
    base = SERVICE | {"scenario": "base", "runs_per_month": 2}
    peaks = SERVICE | {"scenario": "peaks", "runs_per_month": 3, "hours_per_month": 100}
    rows = table([base, peaks]).assign(market=["reserved-1y-no-upfront", "on-demand"])
    mixed = plan_bill(bill_rows(rows, catalogs))
    assert mixed["month_usd"].sum() == pytest.approx(2 * 730 * 1.17243 + 3 * 100 * 1.861)
    assert mixed["month_usd"].sum() < 5 * 730 * 1.17243


@pytest.mark.parametrize("market", ["reserved-1y-no-upfront", "commit-1y"])
def test_runs_beyond_the_hours_of_a_month_pay_for_a_second_instance(catalogs, market):
    """Two runs of 519 h on p4d.24xlarge: 1,038 h a month are two instances at $13.92 for 730 h
    each, $20,325; one run is one.
    """
    rows = table(
        [RUN | {"train_tokens": 5e10, "runs_per_month": runs} for runs in (1, 2, 4)]
    ).assign(market=market)
    committed = plan_bill(bill_rows(rows, catalogs))
    assert committed["hours"].tolist() == pytest.approx([519.1] * 3, abs=0.1)
    assert committed["month_usd"].tolist() == pytest.approx(
        [10162.40, 20324.80, 30487.20], abs=0.01
    )
    assert committed["year_usd"].tolist() == pytest.approx(12 * committed["month_usd"])


def test_a_commitment_has_the_hours_of_its_work():
    """Whole copies: just enough for the hours of the runs, at least one; of a service as many as
    are set.
    """
    runs, hours = np.array([0.5, 1, 2, 2, 7.3, 3]), np.array([100, 730, 365, 365.1, 100, 50])
    assert committed_copies(np.ones(6), hours, runs).tolist() == [1, 1, 1, 2, 1, 1]
    assert committed_copies(np.zeros(2), np.array([730, 100]), np.array([3, 2])).tolist() == [3, 2]


def test_the_csv_of_a_plan_is_read_again_with_the_same_bill(bill, catalogs):
    rows = bill.reset_index()
    again = earlier(csv_tables.read_csv(csv_tables.to_csv(rows)), "plan.csv", catalogs, solve=False)
    assert not again.complaints
    assert plan_bill(again.rows)["year_usd"].tolist() == pytest.approx(rows["year_usd"].tolist())


KEPT = [
    "A~market~on-demand~model~gpt2~instance~g6e.xlarge~train_tokens~1000000000~runs_per_month~4~plan_months~6",
    "B~market~spot~model~llama-3.2-1b~instance~g6e.xlarge~train_tokens~1000000000",
]


def test_what_is_left_of_a_budget_is_rounded_as_the_bill_is():
    """$16,348 and what is left are the $20,000 of the budget."""
    assert _against(AgainstBudget(3652.4, 0.8174), Money(0)) == "82 % of the budget; $3,652 left."
    assert _against(AgainstBudget(-3652.4, 1.2), Money(0)) == "120 % of the budget; $3,652 over it."


def test_the_page_sums_what_is_ticked_against_a_budget():
    app = opened("compare", kept=KEPT, budget_usd="1000000", budget_for="quarter")
    (bar,) = app.get("progress")
    assert "of the budget; $" in bar.proto.text.replace("\\", "")
    assert [row[0].split(",")[:2] for row in app.table[0].value.to_numpy()] == [
        ["A", " 4 runs a month for 6 months"],
        ["B", " on spot"],
        ["**Together**"],
    ]
    assert address(app)["kept"] == KEPT
    run(app.number_input(key="budget_usd").set_value(0.01))
    assert "over it" in app.get("progress")[0].proto.text
    assert address(app)["budget_for"] == ["quarter"]
