"""The tab Fine-tune, then serve: the runs and the service of their result as one bill."""

from typing import Any

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from calc.catalogs.load import Catalogs
from calc.charts.money import money_over_days
from calc.evaluate import Row
from calc.files.csv.tables import to_csv
from calc.plan.budgets import with_gpu_hours
from calc.plan.figures import records
from calc.plan.fine_tune_then_serve import (
    ENDPOINT,
    SUM,
    TunedPlan,
    break_even_day,
    by_day,
    by_month,
)
from calc.say import fine_tune_then_serve as tuned_words
from calc.say.cases import small_amounts
from calc.say.job import job_sentence, short_job
from calc.say.numbers import is_missing, usd
from calc.say.problem import problem_text
from calc.studies.fine_tune_then_serve import Service, at_more_load, services, tuned_plan
from views.charts.money import over_days
from views.compare_and_bill import the_bill
from views.session import SESSION, job_state, kept_answers, questions
from views.session import catalogs as session_catalogs
from views.session.job_state import KEYS
from views.session.present_plan import present
from views.session.worker import in_worker, options
from views.shared import elements, row_words, tables
from views.shared.elements import button, segments, show_error, theme_ink
from views.shared.markdown import plain
from views.sidebar import served
from views.sidebar.fields import number

FIRST = {"tuned_models": 1, "tuned_rounds": "1", "tuned_months": 12}
ROUNDS = {"0": "Once", "1": "Monthly", "2": "2 a month", "4": "4 a month"}
LOADS = {name: words for name, words in served.LOADS.items() if name != "tokens_total"}
WHOLE = 12  # months that are shown without scrolling
LINES = {SUM: "This plan", ENDPOINT: "Paid per token"}


def draw(title: DeltaGenerator) -> None:
    """The tab; its heading goes above the tabs, into `title`."""
    catalogs = session_catalogs.catalogs()
    state = st.session_state
    for name, first in FIRST.items():
        state[name] = state.get(name) or first
    run, run_job, problem = _run(catalogs)
    service_job = job_state.job_of_goal("serve")
    if is_missing(run["memory_bytes"]):
        title.title("No fine-tuning to plan", anchor=False)
        title.markdown(plain(row_words.on_screen(problem)))
        return
    possible = in_worker(service_job, catalogs, services, service_job, run, state["tuned_models"])
    heading = title.container()
    serving = options(service_job, catalogs).job
    title.caption(plain(f"{job_sentence(run_job, catalogs)} {job_sentence(serving, catalogs)}"))
    _questions(serving, catalogs)
    if obstacle := possible[0].options.obstacle:
        heading.title("No service for the tuned models", anchor=False)
        text = problem_text(obstacle, possible[0].options.resolved, catalogs)
        show_error(row_words.on_screen(text))
        return
    models = state["tuned_models"]
    rounds = int(state["tuned_rounds"])
    plan = tuned_plan(run, possible[0], models, rounds, state["tuned_months"], catalogs)
    plan = tuned_words.with_names(plan, catalogs)
    heading.title(plain(tuned_words.plan_money(plan)), anchor=False)
    if problem:
        st.warning(plain(row_words.on_screen(problem)), icon=":material/rule:")
    larger = in_worker(service_job, catalogs, at_more_load, plan, service_job, run, models)
    serves, endpoint = (
        tuned_words.serving(possible, catalogs),
        tuned_words.against_endpoint(plan, larger, catalogs),
    )
    elements.points([serves, endpoint])
    _plan(plan, catalogs)
    _keep_both(plan, run_job, possible[0], catalogs)


def _plan(plan: TunedPlan, catalogs: Catalogs) -> None:
    """Draw the bill of both, beside the cost since the start, and each month."""
    note = row_words.on_screen(plan.service["note"])
    st.caption(plain(f"{tuned_words.price_note(plan, catalogs)} {note}"))
    left, right = st.columns(2, gap="large")
    with left:
        money = tuned_words.money_of_plan(plan)
        the_bill.draw(with_gpu_hours(plan.bill, catalogs), [], money)
    with right:
        _chart(plan)
    _months(plan)


def _months(plan: TunedPlan) -> None:
    """Draw what each month costs; small amounts have cents."""
    columns = tables.columns_of("tuned_months")
    months = tuned_words.months_as_written(plan)[list(columns)]
    small = small_amounts(months.drop(columns="month"))
    columns |= {name: tables.with_cents(columns[name]) for name in small}
    height: Any = "content" if len(months) <= WHOLE else "auto"
    tables.grid(
        months,
        columns,
        "What each month costs, and the sums since the start",
        "tuned_by_month",
        height=height,
    )


def _run(catalogs: Catalogs) -> tuple[Row, Row, str]:
    """Row, job and problem of the fine-tuning: the answer on Plan, or of the same fields."""
    if job_state.current().fields["goal"] == "tune":
        plan = present(catalogs)
        return (
            {**plan.row, "market": plan.market, "have": plan.job.get("have")},
            plan.job,
            plan.options.problem,
        )
    answer = options(job_state.job_of_goal("tune"), catalogs)
    return {**answer.rows[0], "have": answer.job.get("have")}, answer.job, answer.problem


def _questions(job: Row, catalogs: Catalogs) -> None:
    """Draw the questions: how many models, how often, for how long, and their load."""
    left, right = st.columns(2, gap="large")
    with left:
        with st.container(horizontal=True, vertical_alignment="bottom"):
            st.number_input("Tuned models", 1, 1000, key="tuned_models", width=150, **SESSION)
            st.number_input("Months", 1, 120, key="tuned_months", width=150, **SESSION)
            number("Hours a month", KEYS.hours_per_month, "730", width=150, max_value=744.0)
        segments("Each is tuned", ROUNDS, "tuned_rounds", **SESSION)
    with right:
        measure = questions.load(may_end=False)
        served.load_in(measure, LOADS, catalogs, "Load of all together")
        served.amount(measure, job, catalogs)
        served.lengths(catalogs)


def _chart(plan: TunedPlan) -> None:
    """Dollars over days, against the price per token where it is known."""
    days = by_day(plan)
    day = break_even_day(days)
    table = money_over_days(days, LINES, day)
    if table.empty:
        return
    ends = f"{usd(days[SUM].iloc[-1])} for this plan, {usd(days[ENDPOINT].iloc[-1])} paid per token"
    crossing = (
        "the plan is never less" if is_missing(day) else f"the plan is less from day {day:,.0f} on"
    )
    alt = f"Cost since the start over {len(days):,} days: {ends} at the end; {crossing}"
    elements.draw(over_days(theme_ink()), table, alt, "tuned_days")


def _keep_both(plan: TunedPlan, run_job: Row, service: Service, catalogs: Catalogs) -> None:
    """Both answers kept with their runs, servers and months, on a click; the months as CSV."""
    rows = list(zip(records(plan.bill), (run_job, service.options.job), strict=True))

    def keep_both() -> None:
        for row, job in rows:
            kept_answers.keep(
                {**row, "in_bill": "yes"},
                row["scenario"],
                short_job(job, catalogs),
                is_planned=True,
            )

    with st.container(horizontal=True):
        is_done = all(kept_answers.is_kept(row) for row, _ in rows)
        button(
            "Keep both in the bill",
            keep_both,
            icon="bookmark_add",
            key="tuned_keep",
            disabled=is_done or kept_answers.is_full(),
        )
        tables.download(
            "Months as CSV",
            lambda: to_csv(by_month(plan)),
            "headroom-fine-tune-then-serve",
            "tuned_csv",
            type="tertiary",
        )
