"""Team, owner and project from job to bill; budgets; quotas; the gate on all of them."""

import json
import re
import shlex
from datetime import date

import pandas as pd
import pytest
import yaml
from bills import as_csv, cur, line
from examples import written
from pages import address, opened, page_text, run, title
from test_compare_page import PLAIN, SERVED

from calc import estimate
from calc.__main__ import main
from calc.catalogs.strict_yaml import CatalogError
from calc.files.bills.bill_reader import bill_of
from calc.files.budgets import budgets_of, own_budgets
from calc.files.launch.kit import kits
from calc.plan.budgets import MONTH_DAYS, Budget, budget_use, by_team, months_in, with_gpu_hours
from calc.plan.matching import match, tag_value
from calc.plan.ownership import owned_rows
from calc.plan.quota_use import quota_use
from calc.say.budgets import use_sentence

NLP = Budget("nlp", "nlp", "", date(2026, 10, 1), date(2026, 12, 31), 6000.0, 500.0)
SERVICE = {
    "scenario": "chat",
    "team": "nlp",
    "project": "search",
    "instance": "p4d.24xlarge",
    "region": "us-east-1",
    "market": "on-demand",
    "instances": 2,
    "gpus": 16,
    "usd_per_hour": 40.0,
    "hours": 100.0,
    "runs_per_month": 1.0,
    "plan_months": 12,
    "is_once": False,
    "once_usd": float("nan"),
    "monthly_usd": 4000.0,
    "year_usd": 48000.0,
    "have": "",
}
RUN = SERVICE | {
    "scenario": "tune",
    "team": "Vision",
    "instance": "p5.48xlarge",
    "instances": 1,
    "usd_per_hour": 50.0,
    "hours": 10.0,
    "is_once": True,
    "once_usd": 500.0,
    "monthly_usd": float("nan"),
    "year_usd": 500.0,
    "plan_months": 1,
}


@pytest.fixture
def bill(catalogs):
    return with_gpu_hours(pd.DataFrame([SERVICE, RUN]), catalogs)


def test_gpu_hours_are_gpus_times_paid_hours(bill):
    """16 GPUs for 100 h; 8 GPUs for 10 h."""
    assert bill["monthly_gpu_hours"].tolist()[0] == 1600
    assert bill["once_gpu_hours"].tolist()[1] == 80


def test_gpu_hours_without_a_price_are_those_of_the_plan(catalogs):
    free = SERVICE | {"usd_per_hour": float("nan"), "monthly_usd": float("nan"), "have": "2 x"}
    assert with_gpu_hours(pd.DataFrame([free]), catalogs)["monthly_gpu_hours"][0] == 1600


def test_sums_by_team(bill):
    sums = by_team(bill).set_index("team")
    assert sums.loc["nlp", ["plans", "monthly_usd", "year_usd"]].tolist() == [1, 4000, 48000]
    assert sums.loc["Vision", "once_usd"] == 500
    assert pd.isna(sums.loc["Vision", "monthly_usd"])


def test_a_budget_counts_the_months_that_it_shares_with_the_plan(bill):
    begins = date(2026, 12, 1)
    (use,) = budget_use(bill, [NLP], begins)
    assert months_in(NLP, begins, SERVICE) == pytest.approx(31 / MONTH_DAYS)
    assert use.used_usd == pytest.approx(4000 * 31 / MONTH_DAYS)
    assert use.used_gpu_hours == pytest.approx(1600 * 31 / MONTH_DAYS)
    assert use.is_exceeded  # of GPU-hours alone
    (over,) = budget_use(bill, [NLP._replace(usd=100.0)], begins)
    assert isinstance(over.used_ratio, float)  # a whole 1 is 1 % of a progress bar
    assert over.used_ratio == 1
    assert use.left_usd > 0 > use.left_gpu_hours
    assert use_sentence(use) == (
        "nlp (team nlp, to 31 December 2026): $4,077 of $6,000 used (68 %), $1,923 left; "
        "1,631 of 500 GPU-hours used, 1,131 too much."
    )


@pytest.mark.parametrize(
    ("begins", "months"),
    [
        (date(2026, 9, 1), 92 / MONTH_DAYS),  # all of it
        (date(2027, 1, 1), 0),
        (date(2026, 12, 31), 1 / MONTH_DAYS),
    ],
)
def test_months_of_a_service(begins, months):
    assert months_in(NLP, begins, SERVICE) == pytest.approx(months)
    short = SERVICE | {"plan_months": 1}
    assert months_in(NLP, date(2026, 10, 1), short) == pytest.approx(1)
    assert months_in(NLP, begins, RUN) == float(months in (1 / MONTH_DAYS,))


def test_a_plan_with_days_of_its_own_counts_by_them():
    december = SERVICE | {"starts": "2026-12-01", "ends": "2026-12-15"}
    assert months_in(NLP, date(2026, 10, 1), december) == pytest.approx(15 / MONTH_DAYS)
    assert months_in(NLP, date(2026, 10, 1), SERVICE | {"starts": "", "ends": ""}) > 3
    assert months_in(NLP, date(2026, 10, 1), RUN | {"starts": "2027-01-01"}) == 0


def test_whose_budget_it_is(bill):
    vision, every = NLP._replace(team="vision"), NLP._replace(team="", project="SEARCH")
    begins = date(2026, 12, 1)
    assert [use.plans for use in budget_use(bill, [vision, every], begins)] == [1, 2]
    assert budget_use(bill, [vision], begins)[0].used_usd == 500


GOOD = b"budgets:\n  nlp-q4: {team: nlp, starts: 2026-10-01, ends: 2026-12-31, usd: 5}\n"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (GOOD.replace(b"usd: 5", b"usd: -5"), "out of range"),
        (GOOD.replace(b", usd: 5", b""), "neither usd nor gpu_hours"),
        (GOOD.replace(b"2026-12-31", b"2026-09-31"), "a day does not exist"),
        (GOOD.replace(b"2026-12-31", b"2026-09-30"), "ends before it starts"),
        (GOOD.replace(b"usd", b"eur"), "this field is unknown"),
        (b"budgets: {}", "this is empty"),
        (b"teams: {}", "budgets"),
        (b"\xff", "not UTF-8"),
        (b"a: [", ""),
        (b"x" * 300_000, "more than 200 kB"),
    ],
)
def test_a_bad_file_of_budgets_is_one_sentence(text, words):
    with pytest.raises(CatalogError) as error:
        budgets_of(text, "b.yaml")
    assert words in str(error.value)
    assert "\n" not in str(error.value)
    assert str(error.value).startswith("b.yaml")


def test_budgets_of_one_s_own_folder_and_a_faulty_file_that_is_left_out(tmp_path, monkeypatch):
    monkeypatch.setenv("HEADROOM_CATALOGS", str(tmp_path))
    assert own_budgets() == ([], ())
    (tmp_path / "budgets.yaml").write_bytes(GOOD)
    assert [budget.id for budget in own_budgets()[0]] == ["nlp-q4"]
    (tmp_path / "budgets.yaml").write_bytes(b"budgets: {}")
    budgets, left_out = own_budgets()
    assert (budgets, len(left_out)) == ([], 1)
    assert "left out" in left_out[0]


def test_quotas_are_summed_by_region_and_own_machines_take_none(catalogs):
    owned = SERVICE | {"have": "2 x p4d.24xlarge"}
    away = RUN | {"region": "us-west-2", "market": "spot"}
    uses = quota_use(pd.DataFrame([SERVICE, RUN, owned, away]), catalogs)
    assert [(use.code, use.region, use.needed) for use in uses] == [
        ("L-417A185B", "us-east-1", 2 * 96 + 192),
        ("L-C4BD4855", "us-west-2", 192),
    ]


def test_plans_of_other_days_do_not_share_a_quota(catalogs):
    days = (("2026-10-01", "2026-10-09"), ("2026-10-09", "2026-10-20"), ("2026-10-10", ""))
    rows = [RUN | {"starts": starts, "ends": ends} for starts, ends in days]
    (use,) = quota_use(pd.DataFrame(rows), catalogs)
    assert use.needed == 2 * 192


def test_cells_become_texts_of_bounded_length():
    cells = pd.DataFrame({"team": [" nlp ", None], "owner": ["x" * 99, "b"]}, dtype=object)
    rows = owned_rows(pd.DataFrame({"a": [1, 2]}), cells)
    assert rows["team"].tolist() == ["nlp", ""]
    assert rows["owner"].str.len().tolist() == [60, 1]
    assert rows["project"].tolist() == ["", ""]


def test_cells_that_are_no_days_are_none():
    cells = pd.DataFrame({"starts": [" 2026-12-01", "2026-12-01 08:00", "soon", None]})
    rows = owned_rows(pd.DataFrame({"a": [1, 2, 3, 4]}), cells)
    assert rows["starts"].tolist() == ["2026-12-01", "", "", ""]
    assert rows["ends"].tolist() == [""] * 4


PLANS = """\
scenario,team,owner,work,model,instance,gpus,precision,batch,sequence_tokens,prompt_tokens
chat,nlp,ana,inference,llama-3.1-8b,g6e.xlarge,1,bf16,8,2048,1024
more,vision,bo,inference,llama-3.1-8b,g6e.xlarge,1,bf16,8,2048,1024
"""


@pytest.fixture
def files(tmp_path):
    (tmp_path / "plans.csv").write_text(PLANS, "utf-8")
    (tmp_path / "budgets.yaml").write_bytes(GOOD)
    return tmp_path


@pytest.mark.usefixtures("read_once")
def test_the_commands_sum_by_team_and_check_budgets_and_quotas(files, capsys):
    plans, budgets = str(files / "plans.csv"), str(files / "budgets.yaml")
    out = str(files / "out.csv")
    words = [plans, "--budgets", budgets, "--begin", "2026-12-01"]
    assert main(["teams", *words, "-o", out]) == 0
    assert [row["team"] for row in written(files / "out.csv")] == ["nlp", "vision"]
    assert "unknown" not in (error := capsys.readouterr().err)
    assert error.startswith("nlp-q4 (team nlp, to 31 December 2026): $1,385 of $5.00 used")
    assert main(["gate", *words, "--quota", "L-DB2E81BA=4"]) == 3
    broken = capsys.readouterr().out.splitlines()
    assert broken[0].startswith("budget nlp-q4 (team nlp")
    assert broken[1].endswith("in us-east-1: 8 vCPUs needed at once, allowed 4.")
    later = [plans, "--budgets", budgets, "--begin", "2027-01-01", "--quota", "L-DB2E81BA=8"]
    assert main(["gate", *later]) == 0
    assert main(["gate", plans, "--quota", "many"]) == 2
    first, *rows = PLANS.splitlines()
    for day, status in (("2027-01-01", 0), ("soon", 2)):
        dated = "\n".join([f"{first},starts", *(f"{row},{day}" for row in rows)])
        (files / "plans.csv").write_text(dated, "utf-8")
        assert main(["gate", *words]) == status
    assert "'soon' in starts is not a date; write it as 2026-11-28." in capsys.readouterr().err


def test_a_kept_answer_carries_its_team_in_the_link_and_the_page_sums_by_team():
    owned = SERVED.replace("~market", "~team~nlp~owner~Ana B~project~search~market", 1)
    app = opened("teams", kept=[PLAIN, owned])
    assert title(app) == "1 team shares the bill"
    teams = {str(row[0]): row[1] for row in app.table[0].value.to_numpy()}
    assert teams == {"nlp": "1", "no team": "1"}
    together = opened("teams", kept=[PLAIN, SERVED]).table[0].value["12 months"].iloc[0]
    assert together == opened("compare", kept=[PLAIN, SERVED]).table[0].value["12 months"].iloc[
        -1
    ].strip("*")
    heads = ["Team", "Plans", "Once", "A month", "12 months", "GPU-hours"]
    assert [*app.table[0].value.columns] == heads  # those of the bill
    alone = opened("teams", kept=[PLAIN]).table[0].value
    assert [*alone.columns] == [name for name in heads if name != "A month"]  # a phone has no room
    assert any("team~nlp~owner~Ana B~project~search" in text for text in address(app)["kept"])


def test_the_days_of_a_kept_answer_are_in_the_link_and_one_that_is_none_is_ignored():
    dated = SERVED.replace("~market", "~team~nlp~starts~2026-12-01~ends~soon~market", 1)
    app = opened("teams", kept=[dated])
    (kept,) = address(app)["kept"]
    assert "~starts~2026-12-01~" in kept
    assert "ends" not in kept
    assert "ends=soon" in page_text(app)


@pytest.mark.long
def test_a_file_of_budgets_is_opened_on_the_page_and_forgotten():
    app = opened("teams", kept=[SERVED.replace("~market", "~team~nlp~market", 1)])
    later = GOOD.replace(b"2026-12-31", b"2099-12-31")
    run(app.file_uploader(key="budgets_file").set_value(("b.yaml", later, "text/yaml")))
    assert title(app) == "1 team shares the bill, 1 budget is exceeded"
    assert "nlp-q4 (team nlp, to 31 December 2099)" in page_text(app)
    run(app.date_input(key="teams_begin").set_value(date(2018, 1, 1)))
    assert title(app) == "1 team shares the bill, every budget is kept"
    run(app.button(key="budgets_forget").click())
    run(app.file_uploader(key="budgets_file").set_value(("b.yaml", b"budgets: {}", "text/yaml")))
    assert "this is empty" in app.error[0].value


def kit_of(row, catalogs, tool="vllm", **texts):
    row = estimate(row, catalogs) | texts
    return next(kit for kit in kits(row, catalogs) if kit.id == tool)


SERVED_ROW = {
    "work": "inference",
    "model": "llama-3.1-8b",
    "instance": "g6e.xlarge",
    "implementation": "vllm",
    "batch": 8,
}


def tags_of(kit):
    """The tags of what aws.sh starts, as the AWS CLI gets them from the shell."""
    words = shlex.split(kit.files["aws.sh"], comments=True)
    instance, volume = json.loads(words[words.index("--tag-specifications") + 1])
    assert instance["Tags"] == volume["Tags"]
    return {tag["Key"]: tag["Value"] for tag in instance["Tags"]}


def test_a_kit_tags_what_it_rents_and_the_bill_finds_the_plan_by_it(catalogs):
    kit = kit_of(SERVED_ROW | {"scenario": "chat #1"}, catalogs, team="nlp", project="search")
    tags = {"plan": "chat -1", "team": "nlp", "project": "search"}
    assert tags_of(kit) == tags
    assert yaml.safe_load(kit.files["sky.yaml"])["resources"]["labels"] == tags
    bill = bill_of(as_csv(cur([line(instance="g6e.xlarge", tags=tags)])), "bill")
    plans = pd.DataFrame([SERVICE | {"scenario": "chat #1"}, SERVICE | {"scenario": "chat #2"}])
    assert match(bill, plans, {}).lines["of_plan"].tolist() == ["chat #1"]


TRAINED_ROW = {
    "work": "training",
    "model": "llama-3.1-8b",
    "instance": "p5.48xlarge",
    "gpus": 16,
    "sharding": "zero3",
    "train_tokens": 1e8,
}


def test_a_team_s_kit_names_its_account_and_its_queue(catalogs):
    row = estimate(TRAINED_ROW, catalogs) | {"team": "R&D / NLP", "project": "47.11"}
    for kit in kits(row, catalogs):
        words = shlex.split(kit.files["aws.sh"], comments=True)
        (group,) = json.loads(words[words.index("--tag-specifications") + 1])
        tags = [{"Key": "team", "Value": "R-D / NLP"}, {"Key": "project", "Value": "47.11"}]
        assert group == {"ResourceType": "placement-group", "Tags": tags}
        assert kit.differences == []  # the files of the clusters say nothing else than the others
        options = re.findall(r"^#SBATCH --(\S+)=(\S+)", kit.files["slurm.sh"], re.M)
        assert dict(options) == {
            "job-name": "plan",
            "account": "r-d-nlp",
            "wckey": "47-11",
            "nodes": "2",
            "ntasks-per-node": "1",
            "gpus-per-node": "8",
            "mem": "0",
        }
        assert "\n#SBATCH --exclusive\n" in kit.files["slurm.sh"]  # else a task has one core
        service, job = yaml.safe_load_all(kit.files["kueue.yaml"])
        assert {one["metadata"]["namespace"] for one in (service, job)} == {"hyperpod-ns-r-d-nlp"}
        queue = job["metadata"]["labels"]["kueue.x-k8s.io/queue-name"]
        (container,) = job["spec"]["template"]["spec"]["containers"]
        assert queue == "hyperpod-ns-r-d-nlp-localqueue"
        assert (job["spec"]["completions"], container["resources"]["limits"]) == (
            2,
            {"nvidia.com/gpu": 8, "vpc.amazonaws.com/efa": 32},
        )
    assert {"slurm.sh", "kueue.yaml"}.isdisjoint(
        kit_of(TRAINED_ROW, catalogs, "transformers").files
    )
    assert "kueue.yaml" not in kit_of(SERVED_ROW, catalogs, team="nlp").files


def test_a_kit_without_names_has_no_tags(catalogs):
    kit = kit_of(SERVED_ROW, catalogs)
    assert "--tag-specifications" not in kit.files["aws.sh"]
    assert "labels" not in yaml.safe_load(kit.files["sky.yaml"])["resources"]


@pytest.mark.parametrize(
    "text", ["' ; touch trapped ; '", "$(touch trapped)", "a\n`touch trapped`", '"}]; x', "- y: &z"]
)
def test_a_hostile_name_is_one_value_of_a_tag(catalogs, text):
    kit = kit_of(SERVED_ROW, catalogs, team=text, owner=text)
    assert tags_of(kit) == {"team": tag_value(text), "owner": tag_value(text)}
    labels = yaml.safe_load(kit.files["sky.yaml"])["resources"]["labels"]
    assert labels == {"team": tag_value(text), "owner": tag_value(text)}
    assert not set("'\"$`;\n&{}()") & set(tag_value(text))
    (account,) = re.findall(r"^#SBATCH --account=(.*)$", kit.files["slurm.sh"], re.M)
    assert re.fullmatch("[a-z0-9-]+", account)
