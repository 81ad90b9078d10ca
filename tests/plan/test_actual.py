"""What was paid beside what was planned: whose lines are whose, the causes, the budget's end."""

from datetime import date

import bills
import pandas as pd
import pytest
import yaml
from bills import as_csv, cur, line
from examples import steady, written
from hypothesis import given
from hypothesis import strategies as st

from calc.__main__ import main
from calc.commands.command import plan_rows
from calc.files.bills.bill_reader import bill_of
from calc.files.bills.small import typed_amount
from calc.plan.actual import CAUSES, actual, runway, runway_of_budget, with_attempts
from calc.plan.budgets import Budget
from calc.plan.figures import records
from calc.plan.matching import tag_value
from calc.say import actual as said

TODAY = date(2026, 12, 5)
CAUSE_COLUMNS = [f"{cause}_usd" for cause in CAUSES]
CHAT = {
    "scenario": "chat",
    "instance": "g6e.xlarge",
    "region": "us-east-1",
    "market": "on-demand",
    "work": "inference",
    "tokens_total": float("nan"),
    "instances": 2,
    "usd_per_hour": 4.0,
    "hours": 730.0,
    "usd": 2920.0,
    "attempts": 1.0,
    "runs_per_month": 1.0,
    "plan_months": 12,
    "is_once": False,
    "once_usd": float("nan"),
    "monthly_usd": 2920.0,
    "team": "nlp",
    "project": "",
}
TUNE = CHAT | {
    "scenario": "tune",
    "instance": "p5.48xlarge",
    "work": "training",
    "instances": 1,
    "usd_per_hour": 50.0,
    "hours": 20.0,
    "usd": 1000.0,
    "attempts": 2.0,
    "plan_months": 1,
    "is_once": True,
    "once_usd": 1000.0,
    "monthly_usd": float("nan"),
    "team": "vision",
}
PLANS = pd.DataFrame([CHAT, TUNE])


def compared(catalogs, lines, plans=PLANS, assigned=None):
    return actual(bill_of(as_csv(cur(lines)), "bill"), plans, catalogs, TODAY, assigned or {})


def of(result, plan):
    return next(row for row in records(result.table) if row["plan"] == plan)


def chat(usd=2.0, hours=1.0, day=1, **more):
    return line(day, usd, hours, instance="g6e.xlarge", **more)


def tune(usd=50.0, hours=1.0, **more):
    return line(1, usd, hours, **more)


def test_a_month_as_planned_is_as_planned(catalogs):
    """November: 30 days of 730 h a month of 30.4 days are 720 h of two instances at $2."""
    result = compared(catalogs, [chat(usd=1440.0 * 2, hours=1440.0)])
    row = of(result, "chat")
    assert row["planned_usd"] == pytest.approx(2920 * 30 / (365 / 12)) == pytest.approx(2880)
    assert (row["ratio"], row["cause"], row["basis"]) == (pytest.approx(1), "as-planned", "machine")
    assert row["planned_hours"] == pytest.approx(row["actual_hours"])
    assert [row[name] for name in CAUSE_COLUMNS] == pytest.approx([0] * len(CAUSE_COLUMNS))


@pytest.mark.parametrize(
    ("lines", "cause", "usd"),
    [
        ([tune(usd=1200.0, hours=20.0)], "price", 200),
        ([tune(usd=1200.0, hours=24.0)], "hours", 200),
        ([tune(usd=1500.0, hours=30.0)], "attempts", 500),  # an attempt is 10 h
        ([tune(usd=400.0, hours=20.0, usage="SpotUsage")], "market", -600),
        ([tune(usd=1000.0, hours=20.0), tune(250.0, 5.0, usage="UnusedBox")], "idle", 250),
        ([tune(usd=1000.0, hours=20.0), tune(usd=100.0, instance="", usage="EBS")], "other", 100),
        ([tune(usd=500.0, hours=20.0, instance="p4d.24xlarge")], "machine", -500),
    ],
)
def test_each_cause_by_hand(catalogs, lines, cause, usd):
    lines = [one | {"tags": {"plan": "Tune"}} for one in lines]
    row = of(compared(catalogs, lines), "tune")
    amounts = {name: row[f"{name}_usd"] for name in ("price", "hours", "attempts", "market")}
    amounts |= {name: row[f"{name}_usd"] for name in ("idle", "other", "machine")}
    assert amounts == {name: pytest.approx(usd if name == cause else 0) for name in amounts}
    assert (row["cause"], row["difference_usd"]) == (cause, pytest.approx(usd))


SOME = st.lists(
    st.builds(
        line,
        day=st.integers(1, 30),
        usd=st.floats(0.01, 1e4),
        hours=st.floats(0.01, 500),
        instance=st.sampled_from(["p5.48xlarge", "p4d.24xlarge", "m5.large"]),
        usage=st.sampled_from(["BoxUsage", "SpotUsage", "UnusedBox", "EBSOptimized"]),
        kind=st.sampled_from(["Usage", "EdpDiscount"]),
        tags=st.just({"plan": "tune"}),
    ),
    min_size=1,
    max_size=8,
)


@steady(25)
@given(SOME)
def test_the_causes_sum_to_the_difference(catalogs, lines):
    result = compared(catalogs, lines)
    row = of(result, "tune")
    paid = sum(one["usd"] for one in lines)
    assert row["actual_usd"] == pytest.approx(paid)
    assert sum(row[name] for name in CAUSE_COLUMNS) == pytest.approx(paid - 1000, abs=1e-6)


def test_a_line_belongs_by_plan_tag_then_team_then_machine(catalogs):
    lines = [
        tune(1.0, tags={"plan": "chat"}),  # the tag counts more than the machine
        chat(2.0, tags={"team": "NLP"}),
        chat(4.0),
        chat(8.0, tags={"team": "search"}),  # another team's
        line(1, 16.0, instance="m5.large"),
        line(1, 32.0, instance="", usage="EBS:VolumeUsage", tags={"team": "nlp"}),
        line(1, 64.0, instance="", usage="EBS:VolumeUsage"),
        chat(128.0, region="eu-west-1"),  # another region's
    ]
    result = compared(catalogs, lines)
    assert of(result, "chat")["actual_usd"] == 1 + 2 + 4 + 32
    assert of(result, "tune")["lines"] == 0
    assert result.matched.unplanned["usd"].sum() == 8 + 16 + 64 + 128
    assert result.matched.open_groups == ()


def test_what_two_plans_may_be_is_asked_and_answered(catalogs):
    twin = CHAT | {"scenario": "search"}
    plans, lines = pd.DataFrame([CHAT, twin]), [chat(10.0), chat(5.0, tags={"plan": "other"})]
    result = compared(catalogs, lines, plans)
    labels = [group.label for group in result.matched.open_groups]
    assert labels == ["g6e.xlarge, us-east-1", "g6e.xlarge, us-east-1, plan other"]
    assert result.matched.open_groups[0].plans == ("chat", "search")
    assert result.table["actual_usd"].sum() == 0
    answered = compared(catalogs, lines, plans, {labels[0]: "search", labels[1]: "no such plan"})
    assert of(answered, "search")["actual_usd"] == 10
    assert of(answered, "search")["basis"] == "assigned"
    assert [group.label for group in answered.matched.open_groups] == labels[1:]
    none = compared(catalogs, lines, plans, dict.fromkeys(labels, ""))
    assert (none.matched.open_groups, none.matched.unplanned["usd"].sum()) == ((), 15)


def test_days_decide_between_plans_on_one_machine(catalogs):
    first, second = (
        TUNE | {"scenario": name, "starts": starts, "ends": ends}
        for name, starts, ends in (("a", "2026-11-01", "2026-11-07"), ("b", "2026-11-06", ""))
    )
    lines = [line(day, 10.0**place, 1.0) for place, day in enumerate((2, 6, 9))]
    result = compared(catalogs, lines, pd.DataFrame([first, second]))
    assert [of(result, name)["actual_usd"] for name in ("a", "b")] == [1, 100]
    assert of(result, "a")["basis"] == "time"
    assert [group.usd for group in result.matched.open_groups] == [10]


def test_only_the_days_of_a_plan_are_compared(catalogs):
    """A service from the 16th on has 15 of November's 30 days, and a run of December none."""
    late = CHAT | {"starts": "2026-11-16", "ends": ""}
    later = TUNE | {"starts": "2026-12-01", "ends": ""}
    result = compared(catalogs, [chat(usd=1440.0, hours=720.0)], pd.DataFrame([late, later]))
    assert of(result, "chat")["ratio"] == pytest.approx(1)
    assert of(result, "tune")["planned_usd"] == 0
    assert "nothing was planned for these days" in said.plan_sentence(of(result, "tune"))
    assert said.cause_label(of(result, "tune")) == "not planned for these days"


def test_a_tag_that_no_plan_has_is_never_matched_by_machine_alone(catalogs):
    result = compared(catalogs, [chat(10.0, tags={"plan": "other"})])
    assert result.matched.open_groups[0].plans == ("chat",)


def test_a_bill_of_the_present_month_is_compared_to_its_last_day(catalogs):
    result = actual(
        bill_of(as_csv(cur([chat(96.0, 48.0, day=1), chat(96.0, 48.0, day=2)])), "bill"),
        PLANS,
        catalogs,
        date(2026, 11, 3),
        {},
    )
    assert (result.first_day, result.last_day) == ("2026-11-01", "2026-11-02")
    assert of(result, "chat")["ratio"] == pytest.approx(1)


def test_dollars_without_hours_have_no_cause(catalogs):
    result = actual(typed_amount(3500, 0, "chat"), PLANS, catalogs, TODAY, {})
    row = of(result, "chat")
    assert (row["ratio"], row["cause"]) == (pytest.approx(3500 / 2920), "not-split")
    assert all(pd.isna(row[name]) for name in (*CAUSE_COLUMNS, "attempts_seen", "actual_hours"))


def test_typed_hours_are_those_of_all_instances_together(catalogs):
    row = of(actual(typed_amount(2920, 730, "chat"), PLANS, catalogs, TODAY, {}), "chat")
    assert (row["actual_hours"], row["cause"]) == (1460, "as-planned")


def test_a_budget_ends_at_the_bill_s_rate(catalogs):
    result = compared(catalogs, [chat(usd=3000.0, hours=1500.0)])
    left = runway(result, 10_000)
    assert (left.spent_usd, left.usd_per_day, left.left_usd) == (3000, 100, 7000)
    assert left.ends_on == date(2027, 2, 8)  # 70 days after 30 November
    assert runway(result, 1e9).ends_on is None
    assert runway(result, 2000).ends_on == date(2026, 11, 20)
    assert runway(result._replace(last_day="9999-12-31"), 1e7).ends_on is None  # no day after it


def test_a_team_s_budget_ends_at_the_rate_of_its_plans(catalogs):
    """November has $1,500 of nlp; $50 a day leave 90 days of $6,000."""
    result = compared(catalogs, [chat(usd=1500.0, hours=750.0), tune(usd=900.0, hours=18.0)])
    nlp = Budget("q4", "nlp", "", date(2026, 10, 1), date(2027, 3, 31), 6000.0, None)
    left = runway_of_budget(result, PLANS, nlp)
    assert (left.spent_usd, left.usd_per_day, left.ends_on) == (1500, 50, date(2027, 2, 28))
    assert said.budget_sentence(nlp, left, result.first_day) == (
        "q4 (team nlp, to 31 March 2027): $1,500 of $6,000 is spent; at $50 a day the budget ends "
        "on 28 February 2027. What was spent before 2026-11-01 is not in the bill."
    )
    rich = nlp._replace(usd=20_000.0)  # 121 days at $50 remain after November
    assert "at $50 a day $12,450 is left at its end" in said.budget_sentence(
        rich, runway_of_budget(result, PLANS, rich), ""
    )
    assert runway_of_budget(result, PLANS, nlp._replace(usd=None)) is None
    assert runway_of_budget(result, PLANS, nlp._replace(starts=date(2027, 1, 1))) is None


def test_a_team_pays_what_carries_its_tag_and_is_in_no_plan(catalogs):
    """Storage with a tag of the team counts for its budgets, for others' it does not."""
    storage = line(1, 300.0, 9.0, "", "EBS:VolumeUsage.gp3", tags={"team": "R-D"})
    result = compared(catalogs, [chat(usd=1500.0, hours=750.0), storage])
    november = (date(2026, 11, 1), date(2026, 11, 30))
    spent = {
        team: runway_of_budget(result, PLANS, Budget("q", team, "", *november, 9e3, None)).spent_usd
        for team in ("R&D", "nlp", "")
    }
    assert spent == {"R&D": 300, "nlp": 1500, "": 1800}


def test_attempts_are_fed_back(catalogs):
    result = compared(catalogs, [tune(usd=1500.0, hours=30.0)])
    assert of(result, "tune")["attempts_seen"] == 3
    assert with_attempts(PLANS, result)["attempts"].tolist() == [1, 3]


def test_tax_and_credits_are_said_beside_the_plans(catalogs):
    lines = [chat(10.0), line(1, 3.0, kind="Tax", instance=""), line(1, -2.0, kind="Refund")]
    result = compared(catalogs, lines)
    assert (result.tax_usd, result.credit_usd) == (3, -2)
    assert of(result, "chat")["actual_usd"] == 10
    assert said.beside_sentences(result) == [
        "Not compared: $3.00 tax and −$2.00 credits and refunds."
    ]


def test_names_become_values_of_tags():
    assert tag_value("8 bits · p5, run #2") == "8 bits - p5- run -2"
    assert len(tag_value("x" * 999)) == 256


SERVED = "scenario,work,model,instance,gpus,precision,batch,sequence_tokens,prompt_tokens"
ROW = "chat,inference,llama-3.1-8b,g6e.xlarge,1,bf16,8,2048,1024"


@pytest.fixture
def files(tmp_path):
    (tmp_path / "plans.csv").write_text(f"{SERVED}\n{ROW}\n", "utf-8")
    lines = [chat(900.0, 400.0, day=1), chat(900.0, 320.0, day=30)]
    (tmp_path / "bill.csv.gz").write_bytes(as_csv(cur(lines, bills.LEGACY), packed=True))
    return tmp_path


@pytest.mark.usefixtures("read_once")
def test_the_command_says_what_was_paid_and_why(files, capsys):
    words = ["actual", str(files / "bill.csv.gz"), "--plans", str(files / "plans.csv")]
    table, again = files / "table.csv", files / "again.csv"
    assert main([*words, "--budget", "5000", "--table", str(table), "--attempts", str(again)]) == 0
    out = capsys.readouterr().out.splitlines()
    assert out[0] == "AWS Cost and Usage Report: 2 lines, 2026-11-01 to 2026-11-30."
    assert out[2].startswith("chat: $1,800 paid, $1,340 planned, 34 % more (matched by instance")
    assert out[2].endswith("+$460 a price per hour other than planned.")
    assert out[-1].endswith("at $60 a day the budget ends on 22 January 2027.")
    assert written(table)[0]["cause"] == "price"
    assert written(again)[0]["attempts"] == "1"


@pytest.mark.usefixtures("read_once")
@pytest.mark.parametrize(
    ("more", "sentence"),
    [
        ([], "needs a bill"),
        (["bill.csv.gz", "--usd", "3"], "not both"),
        (["bill.csv.gz", "--assign", "p5"], "names no plan"),
        (["bill.csv.gz", "--from", "May"], "is not a date"),
        (["plans.csv"], "is a plan and not a bill"),
        (["missing.csv"], "No such file"),
    ],
)
def test_what_the_command_cannot_use_is_one_sentence(files, capsys, more, sentence):
    paths = [str(files / word) if word.endswith((".csv", ".gz")) else word for word in more]
    assert main(["actual", *paths, "--plans", str(files / "plans.csv")]) == 2
    error = capsys.readouterr().err
    assert sentence in error
    assert error.count("\n") == 1


TUNED = "scenario,model,tuning,instance,gpus,train_tokens,runs_per_month,plan_months"


@pytest.mark.usefixtures("read_once")
@pytest.mark.parametrize(("slower", "written_readings"), [(1.25, 1), (40.0, 0)])
def test_hours_of_a_run_correct_its_time_as_a_calibration(
    tmp_path, capsys, catalogs, slower, written_readings
):
    """A run that took a quarter longer, its start as planned; one 40 times as long is another."""
    plans, target = tmp_path / "plans.csv", tmp_path / "calibration.yaml"
    plans.write_text(f"{TUNED}\ntune,llama-3.1-8b,lora,g6e.xlarge,1,150000000,1,1\n", "utf-8")
    (row,) = records(plan_rows(str(plans), catalogs))
    hours = row["start_hours"] + slower * (row["hours"] - row["start_hours"])
    words = ["actual", "--usd", "50", "--hours", str(hours), "--plan", "tune"]
    assert main([*words, "--plans", str(plans), "--calibration", str(target)]) == 0
    assert target.exists() == bool(written_readings)
    if written_readings:
        (reading,) = yaml.safe_load(target.read_text("utf-8"))["calibration"].values()
        assert (reading["quantity"], reading["model"]) == ("time", "llama-3.1-8b")
        assert reading["ratio"] == pytest.approx(slower, rel=1e-3)
    else:
        assert "far outside their range" in capsys.readouterr().err
