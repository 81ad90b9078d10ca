"""The tab Schedule: the team's jobs with their dates on the machines that it has or may buy."""

from datetime import date
from functools import partial
from typing import Any

import pandas as pd
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from calc.catalogs.load import Catalogs
from calc.charts.team import on_chart
from calc.cost.markets import BY_USE
from calc.evaluate import Row
from calc.files.csv.tables import read_csv, to_csv
from calc.files.door import REFUSALS
from calc.mappings import Arguments
from calc.say.cases import summands
from calc.say.job import short_job
from calc.say.numbers import billed_usd, with_capital, with_noun, with_sign
from calc.scenarios.problems import TableError
from calc.schedule.plans_apart import PlansApart, plans_apart
from calc.schedule.schedule import Schedule, next_to_buy, schedule
from calc.schedule.team_tables import (
    EVERY,
    JOB_DATES,
    OWNED_MARKET,
    POOL_COLUMNS,
    as_text,
    first_pool,
    job_with_dates,
    with_pools_of,
)
from views.charts.team import team_chart
from views.compare_and_bill.compared_answers import compared_answers
from views.session import catalogs as session_catalogs
from views.session import job_state, kept_answers, reading
from views.session.present_plan import Present, present
from views.shared import elements, tables
from views.shared.elements import button, expander, show_error, theme_ink
from views.shared.markdown import plain

JOBS, POOLS = "team_jobs", "team_pools"
ABOUT = """Which job runs where and when, at the lowest cost. How long a job takes on a machine is
Plan's estimate, to the job's confidence. Machines that are already paid for cost the same whether
they are used or not."""
EMPTY = """Add the job of Plan or the answers of the bill, or open a CSV of jobs with `starts` and
`deadline`."""


def draw(title: DeltaGenerator) -> None:
    """The tab; its heading goes above the tabs, into `title`."""
    catalogs = session_catalogs.catalogs()
    state = st.session_state
    heading = title.container()
    title.caption(ABOUT)
    plan = present(catalogs)
    state.setdefault(JOBS, pd.DataFrame(columns=["job", "model", *JOB_DATES], dtype=object))
    state.setdefault(
        POOLS,
        as_text(pd.DataFrame([first_pool(plan.row)], columns=list(POOL_COLUMNS), dtype=object)),
    )
    first_step = st.container()
    controls = st.container(horizontal=True)
    jobs = _edit_table(JOBS, "Jobs", _job_columns(), ["job", *JOB_DATES])
    pools = _edit_table(POOLS, "Machines", _pool_columns(catalogs), list(POOL_COLUMNS))
    with controls:
        _buttons(plan, jobs, pools, catalogs)
    expander("Open a CSV of jobs or of machines", "team_open", _open_csv)
    if jobs.empty:
        heading.title("Who runs where and when", anchor=False)
        first_step.markdown(EMPTY)
        return
    try:
        placement, apart = _schedule_of(jobs, pools, catalogs)
    except TableError as error:
        heading.title("The tables are not ready", anchor=False)
        show_error(error)
        return
    heading.title(plain(_heading(placement)), anchor=False)
    _show_apart(apart, placement, pools)
    _show_schedule(placement)
    expander(
        "What one more instance would change", "team_next", partial(_next, jobs, pools, catalogs)
    )


def _buttons(plan: Present, jobs: pd.DataFrame, pools: pd.DataFrame, catalogs: Catalogs) -> None:
    """Draw what brings jobs into the table, and its CSV."""
    job = job_state.current().job
    row = job_with_dates(job, short_job(plan.options.job, catalogs), date.today(), plan.row)
    button(
        "Add the job of Plan",
        _add,
        [row],
        [plan.row],
        jobs,
        pools,
        icon="add",
        key="team_add",
        type="primary" if jobs.empty else "secondary",
        disabled=bool(plan.options.problem),
    )
    if kept_answers.entries():
        kept = compared_answers(catalogs)
        answers = [kept.records[place] for place in kept.ticked]
        button(
            f"Add {with_noun(len(answers), 'answer')} of the bill",
            _add_answers,
            answers,
            jobs,
            pools,
            catalogs,
            icon="add",
            key="team_add_kept",
        )
    tables.download(
        "Jobs as CSV", partial(to_csv, jobs), "headroom-jobs", "team_jobs_csv", type="tertiary"
    )


def _heading(placement: Schedule) -> str:
    """Return how many runs find a place, and their cost: 8 runs find a place, for $1,697."""
    runs, left_out = placement.runs, placement.left_out
    find = "finds" if len(runs) == 1 else "find"
    which = (
        f"{left_out} of {with_noun(len(runs), 'run')} {find} no place"
        if left_out
        else f"{with_noun(len(runs), 'run')} {find} a place"
    )
    return f"{which}, for {summands(placement.pools['usd'].tolist())[1]}"


def _show_apart(apart: PlansApart | None, placement: Schedule, pools: pd.DataFrame) -> None:
    """Draw the sum of each job's own cheapest plan where it is lower, with a button for it."""
    if apart is None or placement.left_out or not apart.saves(placement.usd):
        return
    with st.container(horizontal=True, vertical_alignment="center"):
        st.markdown(
            plain(
                f"Each job on its own cheapest plan costs {billed_usd(apart.usd)} in all, "
                f"{billed_usd(placement.usd - apart.usd)} less."
            ),
            width="content",
        )
        button("Add their machines", _add_machines, apart.rows, pools, icon="add", key="team_apart")


def _show_schedule(placement: Schedule) -> None:
    """Draw the chart of the runs, the problems of those without a place, and the machines."""
    st.caption(plain(f"{with_capital(placement.how)}."))
    table = on_chart(placement.runs)
    if len(table):
        places = [f"{row['label']} on {row['where']}" for row in table.to_dict("records")]
        ink = theme_ink()
        elements.draw(team_chart(ink), table, "; ".join(places).replace("\n", " "), "team_chart")
    problems = placement.runs["problem"]
    for problem in problems[problems != ""]:
        st.warning(plain(problem), icon=":material/rule:")
    columns = tables.columns_of("team_pools")
    tables.grid(
        placement.pools[list(columns)],
        columns,
        "Machines: taken, used, paid and not used, cost",
        "team_pools_shown",
    )
    tables.download(
        "Plan as CSV",
        partial(to_csv, placement.runs),
        "headroom-schedule",
        "team_csv",
        type="tertiary",
    )


def _next(jobs: pd.DataFrame, pools: pd.DataFrame, catalogs: Catalogs) -> None:
    """Draw what one more instance of each pool would place and cost."""
    rows = [
        {
            "Machines": row["pool"],
            "More runs": f"{row['placed_runs']:+d}",
            "Money": with_sign(row["usd"], billed_usd),
            "Known of the larger plan": row["how"],
        }
        for row in next_to_buy(jobs, pools, catalogs).to_dict("records")
    ]
    tables.text_table(
        pd.DataFrame(rows), "What one more instance of each group of machines changes"
    )


def _schedule_of(
    jobs: pd.DataFrame, pools: pd.DataFrame, catalogs: Catalogs
) -> tuple[Schedule, PlansApart | None]:
    """The plan of these tables, and that of each job alone; computed once for both tables."""
    key = (to_csv(jobs), to_csv(pools), catalogs)
    if st.session_state.get("team_placed", (None,))[0] != key:
        with st.spinner("Placing the jobs"):
            result = schedule(jobs, pools, catalogs), plans_apart(jobs, catalogs)
            st.session_state["team_placed"] = (key, result)
    return st.session_state["team_placed"][1]


def lend(pools: pd.DataFrame) -> None:
    """Callback: machines that are free at times join those of the schedule."""
    present = st.session_state.get(POOLS, pd.DataFrame(columns=list(POOL_COLUMNS)))
    names = set(pools["pool"])
    rest = present[~present["pool"].isin(names)]
    _replace(POOLS, as_text(pd.concat([rest, pools], ignore_index=True)))


def _edit_table(key: str, label: str, columns: Arguments, order: list[str]) -> pd.DataFrame:
    """A table that its reader edits; cells as text, empty ones as ''."""
    version = st.session_state.get(f"{key}_version", 0)
    st.markdown(f"**{label}**")
    table = st.data_editor(
        st.session_state[key],
        key=f"{key}_{version}",
        num_rows="dynamic",
        column_config=columns,
        column_order=order,
        hide_index=True,
    )
    return as_text(table)


def _replace(key: str, table: pd.DataFrame) -> None:
    state = st.session_state
    state[key], state[f"{key}_version"] = table, state.get(f"{key}_version", 0) + 1


def _add(rows: list[Row], answers: list[Row], jobs: pd.DataFrame, pools: pd.DataFrame) -> None:
    """Callback: more jobs, and the machines of their answers."""
    new = pd.DataFrame(rows, dtype=object)
    _replace(JOBS, as_text(pd.concat([jobs, new], ignore_index=True)))
    _replace(POOLS, with_pools_of(pools, answers))


def _add_machines(answers: list[Row], pools: pd.DataFrame) -> None:
    """Callback: the machines of these answers."""
    _replace(POOLS, with_pools_of(pools, answers))


def _add_answers(
    answers: list[Row], jobs: pd.DataFrame, pools: pd.DataFrame, catalogs: Catalogs
) -> None:
    """Callback: the jobs of kept answers with their machines and the days of the bill."""
    new = [
        job_with_dates(job, answer["job"], date.today(), answer)
        for answer, job in kept_answers.jobs_of(answers, catalogs)
    ]
    _add(new, answers, jobs, pools)


def _open_csv() -> None:
    """A CSV takes the place of the table whose columns it has."""
    file: Any = st.file_uploader(
        "CSV of jobs or machines", type="csv", key="team_file", label_visibility="collapsed"
    )
    if file is None or st.session_state.get("team_file_read") == file.file_id:
        return
    content = file.getvalue()
    is_pools = b"pool" in content.partition(b"\n")[0]
    try:
        table = reading.read(
            read_csv,
            content,
            file.name,
            "pool" if is_pools else "model",
            catalogs=session_catalogs.catalogs(),
        )
    except REFUSALS as error:
        show_error(error)
        return
    st.session_state["team_file_read"] = file.file_id
    columns = POOL_COLUMNS if is_pools else ("job", *JOB_DATES)
    table = table.reindex(columns=list(dict.fromkeys([*columns, *table.columns])), fill_value="")
    _replace(
        POOLS if is_pools else JOBS,
        table if is_pools else table.assign(every=table["every"].replace("", "once")),
    )
    st.rerun()


def _job_columns() -> Row:
    """The columns of the jobs' table."""
    text = st.column_config.TextColumn
    return {
        "job": text("Job", width="large"),
        "starts": text("Earliest start", help="A day, or a day and an hour: 2026-12-01 09:00."),
        "deadline": text("Deadline", help="A service runs from its start to here."),
        "every": st.column_config.SelectboxColumn("How often", options=list(EVERY), default="once"),
        "until": text("Until", help="The last day on which a repeated run may start."),
        "priority": text("Priority", help="1 is placed before 2."),
    }


def _pool_columns(catalogs: Catalogs) -> Row:
    """The columns of the machines' table."""
    text, choice = st.column_config.TextColumn, st.column_config.SelectboxColumn
    return {
        "pool": text("Name"),
        "instance": choice("Instance", options=list(catalogs.instances.index)),
        "region": choice("Region", options=list(catalogs.regions.index)),
        "instances": text("At most", help="Instances at once."),
        "market": choice("Paid as", options=[OWNED_MARKET, *BY_USE]),
        "starts": text("From"),
        "ends": text("To"),
        "usd": text(
            "$ for each, whole", help="For all the time, used or not: a block, a commitment."
        ),
        "usd_per_hour": text("$ an hour", help="Where it is not the market's."),
        "quota_vcpus": text("Quota, vCPUs"),
    }
