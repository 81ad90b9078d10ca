"""A service over a day: machines by hour by hand, laws, traces, growth, the command, the page."""

import gzip
from datetime import datetime

import numpy as np
import pytest
from examples import bill_row, steady, written
from hypothesis import given
from hypothesis import strategies as st
from pages import opened, page_text, run, title
from test_compare_page import PLAIN, SERVED

from calc.__main__ import main
from calc.files.door import REFUSALS
from calc.files.traces import curve_of, load_curves, trace_of
from calc.plan.lending import Window, free_windows, lent_pools
from calc.plan.load_day import MOST_MONTHS, Load, load_day, needed_units, unit_instances
from calc.say.load_day import day_sentences, hours_sentence, lending_sentence
from calc.scenarios.problems import TableError

ROW = {
    "instance": "g6e.xlarge",
    "market": "on-demand",
    "work": "inference",
    "tokens_total": float("nan"),
    "spare": 0.0,
    "spare_instances": 1.0,
    "standby_instances": 0.0,
    "instances": 4.0,
    "instances_needed": 4.0,
    "gpus": 4,
    "batch": 8,
    "tensor_parallel": 1,
    "pipeline_parallel": 1,
    "context_parallel": 1,
    "hours": 720.0,
    "usd_per_hour": 8.0,
    "start_hours": 0.25,
}
FLAT = (1.0,) * 24
HALF = (0.0,) * 12 + (1.0,) * 12


def day_of(catalogs, hours=HALF, row=ROW, growth=0.0, users=None, **more):
    return load_day(row, Load(hours, growth, users), catalogs, **more)


def test_half_a_day_by_hand(catalogs):
    """12 h of 4 and 12 h of 1 instance; 3 start 0.25 h ahead: 60.75 instance-hours a day."""
    day = day_of(catalogs)
    assert day.table["instances"].tolist() == [1] * 12 + [4] * 12
    assert day.gpu_hours_always == 30 * 24 * 4
    assert day.gpu_hours_scaled == 30 * 60.75
    assert (day.usd_always, day.usd_scaled) == (2 * 2880, 2 * 30 * 60.75)
    assert (day.peak_instances, day.mean_instances, day.starts_per_day) == (4, 2.5, 3)
    assert day.cold_start_seconds == 900


def test_scaled_to_zero_nothing_runs_and_all_are_started(catalogs):
    day = day_of(catalogs, to_zero=True)
    assert (day.zero_hours_per_day, day.starts_per_day) == (12, 4)
    assert day.gpu_hours_scaled == 30 * (48 + 1)


def test_a_plan_of_some_hours_says_that_the_day_is_theirs():
    assert hours_sentence(ROW | {"hours": 730.0}) == ""
    assert hours_sentence(ROW | {"hours": 176.0}).startswith("The plan runs 176 of the 730")


def test_a_flat_load_saves_nothing_and_starts_nothing(catalogs):
    day = day_of(catalogs, FLAT)
    assert day.gpu_hours_scaled == day.gpu_hours_always
    assert day_sentences(day, Load(FLAT), None)[1].endswith("scaling by the hour saves nothing.")
    assert day_sentences(day, Load(FLAT), None)[2] == "A start takes 15 min; the load needs none."


def test_a_replica_over_two_instances_starts_and_stops_whole(catalogs):
    row = ROW | {"instance": "p4d.24xlarge", "gpus": 32, "tensor_parallel": 16}
    assert unit_instances(row, catalogs) == 2
    day = day_of(catalogs, (0.3,) * 12 + (1.0,) * 12, row)
    assert day.table["instances"].tolist() == [2] * 12 + [4] * 12


def test_users_say_how_full_the_peak_is(catalogs):
    """16 in flight at the peak: 2 of 4 instances, 8 on each."""
    load = Load(HALF, users=16)
    assert needed_units(ROW, load, 1.0) == 2
    assert load_day(ROW, load, catalogs).peak_instances == 2


@pytest.mark.parametrize(
    ("growth", "most", "month"),
    [(0.1, 8, 8), (0.1, 4, 1), (0.1, 3, 0), (0.0, 4, np.nan), (0.0, 3, 0), (-0.1, 4, np.nan)],
)
def test_the_month_in_which_it_is_full(catalogs, growth, most, month):
    """4 x 1.1^7 = 7.8 fits into 8, 4 x 1.1^8 = 8.6 does not."""
    day = day_of(catalogs, growth=growth, most_instances=most)
    assert day.full_month == pytest.approx(month, nan_ok=True)
    words = day_sentences(day, Load(HALF, growth), most)[-1]
    said = {8: "until month 7", 1: "until month 0", 0: "do not cover today's peak"}
    assert said.get(month, f"for {MOST_MONTHS} months") in words


def test_a_commitment_is_paid_all_the_same(catalogs):
    day = day_of(catalogs, row=ROW | {"market": "commit-1y"})
    assert day.usd_scaled == day.usd_always
    assert day.gpu_hours_scaled < day.gpu_hours_always
    assert "You pay for the commitment either way" in day_sentences(day, Load(HALF), None)[1]


LOADS = st.lists(st.floats(0, 1e6), min_size=24, max_size=24).filter(
    lambda hours: max(hours) > 1e-3
)


@steady(30)
@given(LOADS, st.integers(1, 40), st.booleans())
def test_laws_of_a_day(catalogs, hours, instances, to_zero):
    row = ROW | {"instances": float(instances), "instances_needed": float(instances)}
    row |= {"gpus": instances, "start_hours": 0.0}
    day = day_of(catalogs, hours, row, to_zero=to_zero)
    units = day.table["instances"].to_numpy()
    assert units.max() == instances
    assert (units >= np.array(hours) / max(hours) * instances - 1e-6).all()
    assert day.gpu_hours_scaled <= day.gpu_hours_always * (1 + 1e-12)
    assert (units == 0).sum() == day.zero_hours_per_day
    turned = day_of(catalogs, hours[7:] + hours[:7], row, to_zero=to_zero)
    assert turned.gpu_hours_scaled == pytest.approx(day.gpu_hours_scaled)
    twice = day_of(catalogs, [2 * hour for hour in hours], row, to_zero=to_zero)
    assert twice.table["instances"].tolist() == units.tolist()


def test_the_estimate_of_a_service_has_all_that_a_day_reads(catalogs):
    row = bill_row(
        catalogs, work="inference", model="llama-3.1-8b", instance="g6e.xlarge", gpus=4, batch=8
    )
    day = load_day(row, Load(FLAT), catalogs)
    assert day.usd_always == pytest.approx(row["usd"])
    assert day.cold_start_seconds > 60


AZURE = (
    "TIMESTAMP,ContextTokens,GeneratedTokens\n"
    "2024-05-10 00:00:00.009930+00:00,2162,5\n"
    "2024-05-10 13:30:00.017335+00:00,2399,6\n"
    "2024-05-11 13:10:00.000000+00:00,1000,10\n"
    "2024-05-11 23:59:59.000000+00:00,439,3\n"
)
BURST = (
    "Timestamp,Model,Request tokens,Response tokens,Total tokens,Log Type\n"
    "5,ChatGPT,472,18,490,Conversation log\n"
    "45.5,ChatGPT,1087,230,1317,Conversation log\n"
    "90000,GPT-4,417,276,693,API log\n"
)


@pytest.mark.parametrize("packed", [False, True])
def test_azure_s_trace(packed):
    content = gzip.compress(AZURE.encode()) if packed else AZURE.encode()
    trace = trace_of(content, "azure.csv")
    assert (trace.name, trace.requests, trace.covered_hours) == ("Azure LLM inference trace", 4, 48)
    assert (trace.prompt_tokens, trace.answer_tokens) == (1500, 6)
    assert {hour: load for hour, load in enumerate(trace.hours) if load} == {0: 0.5, 13: 1, 23: 0.5}
    assert trace.peak_requests_per_second == pytest.approx(1 / 3600)
    assert trace.peak_to_mean == 12


def test_burstgpt_s_trace_and_one_of_less_than_a_day():
    trace = trace_of(BURST.encode(), "burst.csv")
    assert (trace.name, trace.requests, trace.covered_hours) == ("BurstGPT", 3, 26)
    assert trace.hours[:3] == (1, 0.5, 0)
    short = trace_of(b"time,prompt_tokens,answer_tokens\n2026-11-28T09:00:00Z,10,20\n", "own.csv")
    assert (short.hours, short.covered_hours, short.answer_tokens) == ((), 1, 20)


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"a,b\n1,2\n", "not a file of requests"),
        (AZURE.replace("2024-05-10", "soon", 1).encode(), "is not a time"),
        (AZURE.replace(",2162,", ",many,").encode(), "many"),
        (AZURE.replace(",2162,", ",-2162,").encode(), "below 0"),
        (AZURE.replace(",2162,", ",inf,").encode(), "without end"),
        (AZURE.splitlines()[0].encode() + b"\n", "no request"),
        (BURST.replace("90000", "-3").encode(), "before its beginning"),
        (BURST.replace("90000", "9e9").encode(), "more than five years"),
        (gzip.compress(AZURE.encode())[:-12], "cannot be"),
        (b"\xff\xfe", "UTF-8"),
    ],
)
def test_a_bad_trace_is_one_sentence(content, words):
    with pytest.raises(TableError) as error:
        trace_of(content, "trace.csv")
    assert words in str(error.value)
    assert str(error.value).count("\n") == 0


@given(st.binary(max_size=300))
def test_anything_is_a_trace_or_one_sentence(content):
    try:
        hours = trace_of(b"time,prompt_tokens,answer_tokens\n" + content, "f").hours
    except REFUSALS as error:
        hours = (str(error).count("\n"),)
    assert len(hours) in (0, 1, 24)


def test_a_trace_of_a_week_begins_on_monday():
    """2024-05-10 is a Friday; a trace that counts seconds begins with its first day."""
    lines = [f"2024-05-{day:02d} 13:00:00,10,20" for day in range(10, 20)]
    head = "time,prompt_tokens,answer_tokens"
    trace = trace_of("\n".join([head, *lines[:4], *lines[4:], lines[0]]).encode(), "own.csv")
    assert {hour: load for hour, load in enumerate(trace.week) if load} == {
        13 + 24 * day: 1.5 if day == 4 else 1 for day in range(7)
    }
    seconds = [f"{86400 * day + 3600},10,20" for day in (0, 0, 6, 7)]
    counted = trace_of("\n".join([head, *seconds]).encode(), "own.csv")
    assert (counted.week[1], counted.week[6 * 24 + 1]) == (1.5, 1)


def test_a_week_has_its_weekend():
    week = curve_of("office", of_week=True)
    assert len(week) == 168
    assert (week[10], week[5 * 24 + 10]) == (1, 0.1)
    assert curve_of("+".join(["1"] * 168)) == (1,) * 168


def test_free_hours_are_lent_to_the_schedule(catalogs):
    """Half a day of 1 of 4 instances leaves 3 free for 12 hours; a week's weekend is one window."""
    day = day_of(catalogs)
    assert free_windows(day) == [Window(0, 12, 3)]
    row = ROW | {"scenario": "chat", "region": "us-east-1"}
    pools = lent_pools(row, free_windows(day), 24, datetime(2026, 12, 1), 2)
    assert pools[["starts", "ends", "instances"]].to_numpy().tolist() == [
        ["2026-12-01 00:00", "2026-12-01 12:00", 3],
        ["2026-12-02 00:00", "2026-12-02 12:00", 3],
    ]
    assert "3 instances are free for 12 hours from 0:00; runs could use 1,080 " in (
        lending_sentence(day, row)
    )
    assert free_windows(day_of(catalogs, FLAT)) == []
    week = day_of(catalogs, HALF * 5 + (0.0,) * 48)
    saturday = [window for window in free_windows(week) if window.starts == 5 * 24 + 12]
    assert saturday == [Window(5 * 24 + 12, 24, 3)]


def test_named_curves_and_24_numbers():
    for name in load_curves().curves:
        assert len(curve_of(name)) == 24
    assert curve_of("+".join(["2"] * 24)) == (2.0,) * 24
    for wrong in ("night", "1+2", "+".join(["0"] * 24), "+".join(["-1"] * 24)):
        with pytest.raises(TableError, match="is not the load of a day"):
            curve_of(wrong)


PLANS = """scenario,work,model,instance,gpus,precision,batch,sequence_tokens,prompt_tokens
tune,training,llama-3.1-8b,p4d.24xlarge,8,bf16-mixed,1,2048,
chat,inference,llama-3.1-8b,g6e.xlarge,4,bf16,8,2048,1024
"""


@pytest.mark.usefixtures("read_once")
def test_the_command_writes_the_hours_of_the_first_service(tmp_path, capsys):
    plans, trace, out = (tmp_path / name for name in ("plans.csv", "trace.csv", "out.csv"))
    plans.write_text(PLANS, "utf-8")
    trace.write_text(AZURE, "utf-8")
    words = ["load", str(plans), "--growth", "10", "--most", "8", "-o", str(out)]
    assert main([*words, "--curve", "office"]) == 0
    assert [row["instances"] for row in written(out)][8:11] == ["3", "4", "4"]
    assert "8 instances cover the peak until month 7, at 10 % growth a month" in (
        capsys.readouterr().err
    )
    assert main([*words, "--trace", str(trace)]) == 0
    assert "4 requests in 48 hours, 1,500 prompt and 6 answer tokens each" in (
        capsys.readouterr().err
    )
    for wrong in (["--curve", "x"], ["--curve", "flat", "--trace", "x"], ["--scenario", "tune"]):
        assert main([*words, *wrong]) == 2
        assert capsys.readouterr().err.count("\n") == 1
    lent = tmp_path / "lent.csv"
    more = ["--curve", "office", "--week", "--lend", str(lent), "--begin", "2026-12-01"]
    assert main([*words, *more]) == 0
    assert len(written(out)) == 168
    pools = written(lent)
    assert {pool["market"] for pool in pools} == {"owned"}
    run = "job,model,method,train_tokens,starts,deadline,instance\nnight,llama-3.1-8b,lora,1e7,"
    jobs = tmp_path / "jobs.csv"
    jobs.write_text(f"{run}2026-12-01,2026-12-05,g6e.xlarge\n", "utf-8")
    assert main(["schedule", str(jobs), str(lent), "-o", str(out)]) == 0
    assert written(out)[0]["pool"] == "chat 2026-12-01"


def test_the_page_shows_the_day_of_a_kept_service():
    app = opened("load", kept=[PLAIN, SERVED.replace("~batch~8", "~batch~8~gpus~4", 1)])
    assert title(app).startswith("1 to 4 instances, ")
    run(app.segmented_control(key="load_curve").set_value("flat"))
    assert title(app) == "4 instances at every hour"
    run(app.toggle(key="load_week").set_value(True))
    run(app.segmented_control(key="load_curve").set_value("office"))
    run(app.button(key="load_lend").click())
    assert len(app.session_state["team_pools"]) >= 7
    run(app.segmented_control(key="load_curve").set_value("flat"))
    run(app.number_input(key="load_most").set_value(3))
    assert "3 instances do not cover today's peak." in page_text(app)
    run(app.segmented_control(key="load_curve").set_value("own"))
    run(app.text_input(key="load_hours").set_value("1+2"))
    assert "is not the load of a day" in app.error[0].value
