"""Fine-tune, then serve: twelve cases worked by hand, the tab with its link, and the command.

An hour of g6.xlarge costs $0.8048. A service of $730 a month costs $24 a day, since a month has 365
/ 12 days.
"""

from argparse import Namespace

import numpy as np
import pandas as pd
import pytest
from pages import address, opened, page_text, run, title, turned

from calc.answers.full_answer import full_answer as options
from calc.commands.tuned import main
from calc.plan.fine_tune_then_serve import (
    ENDPOINT,
    SUM,
    TunedPlan,
    break_even_day,
    break_even_tokens_per_day,
    by_day,
    by_month,
)
from calc.plan.plan_bill import plan_bill
from calc.say.cases import small_amounts
from calc.say.fine_tune_then_serve import (
    against_endpoint,
    months_as_written,
    plan_money,
    price_note,
    serving,
)
from calc.scenarios.problems import TableError
from calc.studies.fine_tune_then_serve import at_more_load, services, tuned_plan
from views.shared import tables

RUN = {
    "work": "training",
    "tokens_total": np.nan,
    "market": "on-demand",
    "have": "",
    "region": "us-east-1",
    "usd": 120.0,
    "usd_per_hour": 10.0,
    "hours": 12.0,
    "start_hours": 0.0,
    "runs_per_month": 1,
    "plan_months": 12,
}
SERVICE = RUN | {"work": "inference", "usd": 730.0, "usd_per_hour": 1.0, "hours": 730.0}
LORA = {"work": "training", "model": "llama-3.1-8b", "method": "lora", "train_tokens": 15e6}
SERVED = {"work": "inference", "model": "llama-3.1-8b", "users": 8}
MONTH = 730 * 0.8048


def plan(endpoint_usd_per_day, months=12, rounds=1, of_run=None, of_service=None):
    """A plan of given rows; the endpoint asks $2 for a million tokens."""
    bill = plan_bill(pd.DataFrame([RUN | (of_run or {}), SERVICE | (of_service or {})]))
    return TunedPlan(bill, months, rounds, endpoint_usd_per_day / 2 * 1e6, 100e6, 2.0)


def day_of(bills):
    return break_even_day(by_day(bills))


@pytest.fixture(scope="module")
def tuned(catalogs):
    row = options(LORA, catalogs).rows[0]
    return row, services(SERVED, row, 4, catalogs)


def test_adapters_share_a_service_where_that_is_cheaper(tuned, catalogs):
    shared, apart = tuned[1]
    assert (shared.copies, shared.adapters, apart.copies, apart.adapters) == (1, 4, 4, 0)
    assert (shared.usd_per_month, apart.usd_per_month) == pytest.approx((MONTH, 4 * MONTH))
    assert apart.options.job["users"] == 2  # of the eight
    assert (shared.options.rows[0]["precision"], apart.options.rows[0]["precision"]) == (
        "fp8",
        "bf16",
    )
    assert serving([shared, apart], catalogs).startswith(
        "To serve the tuned models: cheapest is one service with 4 adapters, 1 × g6.xlarge "
        "in 8 bits, $588 a month. 4 "
    )


def test_models_of_full_fine_tuning_cannot_share_a_service(tuned, catalogs):
    (only,) = services(SERVED, tuned[0] | {"tuning": "full"}, 3, catalogs)
    assert (only.copies, only.adapters, only.usd_per_month) == (3, 0, pytest.approx(3 * MONTH))
    assert "cannot share a service" in serving([only], catalogs)


def test_a_run_made_once_is_paid_in_the_first_month():
    """Two models at $120, then $730 a month: 970, 730 and so on; 240 + 12 x 730 = 9,000."""
    once = plan(0, of_run={"runs_per_month": 2, "plan_months": 1})
    months = by_month(once)
    assert months["usd"].tolist() == pytest.approx([970, *[730] * 11])
    assert months[SUM].iloc[-1] == pytest.approx(9000)
    assert by_day(once)[SUM].iloc[[0, 29, 364]].tolist() == pytest.approx(
        [240 + 24, 240 + 30 * 24, 9000]
    )
    assert plan_money(once) == "$970 in the first month, then $730 a month: $9,000 in 12 months"


def test_runs_that_repeat_are_paid_each_month():
    """Two models every month: 240 + 730 = 970; the second round begins on day 31, twice a month on
    day 16.
    """
    monthly = plan(0, of_run={"runs_per_month": 2})
    assert by_month(monthly)["usd"].tolist() == pytest.approx([970] * 12)
    assert by_month(monthly)[SUM].iloc[-1] == pytest.approx(11640)
    assert by_day(monthly)[SUM].iloc[[29, 30, 364]].tolist() == pytest.approx(
        [240 + 720, 480 + 744, 11640]
    )
    twice = plan(0, rounds=2, of_run={"runs_per_month": 4})
    assert by_day(twice)[SUM].iloc[[14, 15, 364]].tolist() == pytest.approx(
        [240 + 360, 480 + 384, 24 * 240 + 8760]
    )
    assert plan_money(monthly) == "$970 a month: $11,640 in 12 months"


def test_the_heading_and_the_months_add_up_what_the_bill_writes():
    """$3.05 and $383.98 a month are $36.60 and $4,607.76 a year: $37 and $4,608 in the bill."""
    uneven = plan(0, of_run={"usd": 3.05}, of_service={"usd": 383.98})
    table = months_as_written(uneven)
    assert (table["usd"].iloc[0], table[SUM].iloc[-1]) == (387, 4645)
    assert plan_money(uneven) == "$387 a month: $4,645 in 12 months"
    assert by_month(uneven)[SUM].iloc[-1] == pytest.approx(12 * 387.03)


def test_a_commitment_is_paid_after_the_plan_too():
    """$0.60 an hour for a year is $438 a month, in months 7 to 12 as well: 120 + 5,256 against 40 x
    182.5 = 7,300, or 3,650.
    """
    signed = {
        "market": "reserved-1y-no-upfront",
        "usd_per_hour": 0.6,
        "usd": 438.0,
        "plan_months": 6,
    }
    half = plan(40, months=6, of_run={"plan_months": 1}, of_service=signed)
    months = by_month(half)
    assert months["usd"].tolist() == pytest.approx([558, *[438] * 11])
    assert months[ENDPOINT].iloc[[5, 11]].tolist() == pytest.approx([7300, 7300])
    assert day_of(half) == 5  # 120 + 14.40 x 5 = 192 against 200
    # Ahead from day 22, behind at the end.
    assert np.isnan(day_of(plan(20, months=6, of_run={"plan_months": 1}, of_service=signed)))


def test_a_plan_that_never_costs_less_says_from_which_load_on():
    """$24 a day never beat $20; (120 + 8,760) / 365 = $24.33 a day are 12.16 million tokens at
    $2.
    """
    never = plan(20, of_run={"plan_months": 1})
    assert np.isnan(day_of(never))
    assert break_even_tokens_per_day(never) == pytest.approx(8880 / 365 / 2 * 1e6)


def test_a_plan_may_cost_less_from_the_first_day():
    assert day_of(plan(200)) == 1  # 120 + 24 against 200
    assert day_of(plan(143.9)) == 2


def test_a_repeated_run_before_the_day_counts():
    """$6 a day saved: $120 are back on day 20; the run of day 31 makes it 240, back on day 40; that
    of day 61 is 360 against 366.
    """
    repeated = plan(30)
    days = by_day(repeated).set_index("day")
    assert days[SUM].loc[[20, 31, 40, 61]].tolist() == pytest.approx([600, 984, 1200, 1824])
    assert days[ENDPOINT].loc[[20, 31, 40, 61]].tolist() == pytest.approx([600, 930, 1200, 1830])
    assert day_of(repeated) == 40
    assert day_of(plan(30, of_run={"plan_months": 1})) == 20


def test_without_a_price_per_token_there_is_no_day(catalogs):
    none = plan(30)._replace(endpoint_usd_per_million_tokens=np.nan)
    assert np.isnan(day_of(none))
    assert by_month(none)[ENDPOINT].isna().all()
    assert "is not known to sell this model by the token in N. Virginia" in against_endpoint(
        none, None, catalogs
    )


def test_machines_that_one_has_are_not_paid():
    have = {"have": "8 x h100-80gb-sxm", "usd": np.nan, "usd_per_hour": np.nan}
    yours = plan(30, of_run=have, of_service=have)
    assert by_month(yours)["usd"].tolist() == [0] * 12
    assert day_of(yours) == 1
    assert plan_money(yours) == "Nothing to pay: the machines are your own"
    assert np.isnan(day_of(plan(30, of_run=have | {"have": ""})))  # rented without a known price


def test_one_card_serves_no_two_models_of_their_own(catalogs):
    job = {"work": "inference", "model": "llama-3.1-8b", "users": 4, "have": "1 x h100-80gb-sxm"}
    apart = [services(job, {"tuning": "full"}, models, catalogs)[0].options for models in (1, 2)]
    assert apart[0].obstacle is None
    assert "not 1 to 512" in apart[1].obstacle.text


def test_a_service_of_some_hours_pays_and_generates_for_them(tuned, catalogs):
    """220 hours: 220 x 0.8048 = $177 a month, and 220 / 730 of the tokens."""
    row, (shared, _) = tuned
    all_month = tuned_plan(row, shared, 4, 0, 12, catalogs)
    by_hours, _ = services(SERVED | {"hours_per_month": 220}, row, 4, catalogs)
    short = tuned_plan(row, by_hours, 4, 0, 12, catalogs)
    assert by_month(short)["service_usd"].tolist() == pytest.approx([220 * 0.8048] * 12)
    assert short.tokens_per_day == pytest.approx(all_month.tokens_per_day * 220 / 730)


@pytest.mark.bench
@pytest.mark.long
def test_a_discount_lowers_the_plan_and_not_the_price_per_token(tuned, catalogs):
    """Bedrock lists $0.22 for a million tokens in and out: with 1,024 in for 512 out $0.66 for a
    million out.
    """
    row = options(LORA | {"paid_ratio": 0.9}, catalogs).rows[0]
    assert row["usd"] == pytest.approx(0.9 * tuned[0]["usd"])
    least = services(SERVED | {"paid_ratio": 0.9}, row, 4, catalogs)[0]
    less = tuned_plan(row, least, 4, 1, 12, catalogs)
    assert by_month(less)["usd"].tolist() == pytest.approx(
        [0.9 * (4 * tuned[0]["usd"] + MONTH)] * 12
    )
    assert less.endpoint_usd_per_million_tokens == pytest.approx(0.22 + 2 * 0.22)
    assert "not of a tuned one" in price_note(less, catalogs)
    assert less.endpoint_usd_per_day == pytest.approx(less.tokens_per_day * 0.66 / 1e6)
    larger = at_more_load(less, SERVED | {"paid_ratio": 0.9}, row, 4, catalogs)
    assert larger.tokens_per_day > less.tokens_per_day
    assert (
        f"never becomes cheaper. At {larger.tokens_per_day / 1e6:.1f} million tokens a day"
        in against_endpoint(less, larger, catalogs)
    )


def test_amounts_below_ten_dollars_have_cents_in_the_table_of_months():
    months = pd.DataFrame({"runs_usd": [5.5, 0.0], "sum_usd": [5.5, 1365.5]})
    assert small_amounts(months) == ["runs_usd"]
    column = tables.with_cents(tables.columns_of("tuned_months")["runs_usd"])
    assert column["type_config"]["format"] == "$%,.2f"


@pytest.mark.long
def test_the_tab_its_link_and_the_bill_of_what_is_kept_say_the_same():
    app = opened(
        "tuned",
        method="lora",
        examples="5000",
        tuned_models="4",
        tuned_months="12",
        tuned_rounds="1",
    )
    heading = title(app)
    assert heading.endswith("in 12 months")
    assert "All served adapters are on the GPUs" in page_text(app)
    run(app.button(key="tuned_keep").click())
    assert app.button(key="tuned_keep").disabled
    link = address(app)
    assert (link["tuned_models"], link["tuned_rounds"], link["view"], len(link["kept"])) == (
        ["4"],
        ["1"],
        ["tuned"],
        2,
    )
    monthly, year = heading.replace("\\", "").split(" in ")[0].split(" a month: ")
    together = turned(app, "compare").table[0].value.iloc[-1]
    assert [together["A month"], together["12 months"]] == [
        f"**\\{usd}**" for usd in (monthly, year)
    ]


@pytest.mark.long
def test_the_command_writes_a_row_for_each_month(tmp_path, capsys, catalogs):
    jobs, months = tmp_path / "jobs.csv", tmp_path / "months.csv"
    jobs.write_text(
        "goal,model,method,train_tokens,requests_per_second\ntune,llama-3.1-8b,lora,15000000,\nserve,llama-3.1-8b,,,5\n"
    )
    arguments = Namespace(jobs=str(jobs), output=str(months), models=4, rounds=0, months=3)
    assert main(arguments, catalogs) == 0
    table = pd.read_csv(months)
    assert table["service_usd"].tolist() == pytest.approx([730 * 3.36312] * 3)
    assert table["runs_usd"].tolist()[1:] == [0, 0]
    assert (
        "To serve the tuned models: cheapest is one service with 4 adapters"
        in capsys.readouterr().err
    )
    jobs.write_text("goal,model\ntune,llama-3.1-8b\n")
    with pytest.raises(TableError, match="give it one row that trains and one that serves"):
        main(arguments, catalogs)
