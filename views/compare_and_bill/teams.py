"""The tab Teams: whose the kept answers are, sums by team, and the teams' budgets."""

from datetime import date
from functools import partial
from typing import Any, Literal

import pandas as pd
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from calc.catalogs.load import Catalogs
from calc.files.budgets import EXAMPLE, budgets_of, own_budgets
from calc.files.csv.tables import to_csv
from calc.files.door import REFUSALS
from calc.plan.budgets import Budget, Use, budget_use, by_team, with_gpu_hours
from calc.plan.figures import records
from calc.plan.ownership import DAYS, LONGEST_OWNER, OWNERSHIP, day_of, owned_rows
from calc.say.budgets import budget_name, use_sentence
from calc.say.cases import Money, summands
from calc.say.numbers import is_missing, with_noun
from calc.scenarios.problems import quote_cell
from views.compare_and_bill.compare import NOTHING_TO_BILL, compared_answers
from views.compare_and_bill.the_bill import COLUMNS, HOURS, gpu_hours_words
from views.session import SESSION, is_phone, kept_answers, reading
from views.session import catalogs as session_catalogs
from views.session.present_plan import present
from views.shared import tables
from views.shared.elements import button, show_error
from views.shared.markdown import plain

NAME = "Teams"
BUDGETS, EDITOR = "team_budgets", "owners"
ABOUT = """Team, owner, project and days of each kept answer. They go into links, CSV files and the
shelf; the first three tag what `python -m calc launch` rents, and the days say when a plan uses a
budget and which lines of a bill are its. Budgets come from `budgets.yaml` in your own catalogs, or
from a file that you open here."""
KEEP_FIRST = "Keep an answer on Plan to say whose it is."
NO_TEAM = "no team"
PHONE_WIDTH = 140  # pixels of a plan's name, beside which the first field to type in is seen
ISO_DAY, AS_A_DAY = r"^\d{4}-\d{2}-\d{2}$", "A day, written as 2026-11-28"


def plans_in_bill(catalogs: Catalogs) -> pd.DataFrame:
    """The answers in the bill without a problem; the present one where nothing is kept."""
    if not kept_answers.entries() and is_missing(present(catalogs).row["memory_bytes"]):
        return pd.DataFrame()
    every = compared_answers(catalogs)
    rows = every.rows.iloc[every.ticked]
    return rows[rows["problem"] == ""]


def draw(title: DeltaGenerator) -> None:
    """The tab; its heading goes above the tabs, into `title`."""
    catalogs = session_catalogs.catalogs()
    rows = plans_in_bill(catalogs)
    if not len(rows):
        title.title("No plan to share out", anchor=False)
        title.markdown(NOTHING_TO_BILL)
        return
    bill = with_gpu_hours(owned_rows(rows, rows), catalogs)
    sums = by_team(bill)
    budgets = known_budgets()
    heading_place = title.container()
    title.caption(ABOUT)
    _owners()
    _sums(sums, bill, compared_answers(catalogs).money)
    uses = _uses(bill, budgets) if budgets else []
    heading_place.title(plain(heading(sums, uses)), anchor=False)
    _open_budgets(catalogs)


def heading(sums: pd.DataFrame, uses: list[Use]) -> str:
    """The heading: 2 teams share the bill, 1 budget is exceeded."""
    teams = int((sums["team"] != "").sum())
    over_budget = sum(use.is_exceeded for use in uses)
    shares = "shares" if teams == 1 else "share"
    head = f"{with_noun(teams, 'team')} {shares} the bill" if teams else "No team is named yet"
    if not uses:
        return head
    over = f"{with_noun(over_budget, 'budget')} {'is' if over_budget == 1 else 'are'} exceeded"
    return f"{head}, {over if over_budget else 'every budget is kept'}"


def _owners() -> None:
    """A table of the kept answers in which team, owner, project and days are typed."""
    if not kept_answers.entries():
        st.markdown(KEEP_FIRST)
        return
    entries = kept_answers.entries()
    table = pd.DataFrame(
        {"plan": [entry.name for entry in entries]}
        | {name: [getattr(entry, name) for entry in entries] for name in (*OWNERSHIP, *DAYS)},
        dtype=object,
    )
    text = st.column_config.TextColumn
    width: Literal["large"] | int = PHONE_WIDTH if is_phone() else "large"
    columns = {"plan": text("Plan", disabled=True, width=width)} | {
        name: text(name.capitalize(), max_chars=LONGEST_OWNER) for name in OWNERSHIP
    }
    columns |= {
        name: text(name.capitalize(), width="small", validate=ISO_DAY, help=AS_A_DAY)
        for name in DAYS
    }
    key = f"{EDITOR}_{hash(table.to_csv())}"
    st.data_editor(
        table,
        column_config=columns,
        hide_index=True,
        key=key,
        on_change=_save_owners,
        args=(key,),
    )


def _save_owners(key: str) -> None:
    """Callback: write the edited cells of the table into the kept answers."""
    for place, cells in st.session_state[key]["edited_rows"].items():
        texts = {name: str(text or "") for name, text in cells.items()}
        days = {name: day_of(text) for name, text in texts.items() if name in DAYS}
        kept_answers.own(int(place), **texts | days)


def _sums(sums: pd.DataFrame, bill: pd.DataFrame, money: Money) -> None:
    """A line for each team, in the columns of the bill that any of them has.

    Sums are those of what the lines of the bill show.
    """
    plans = dict(iter(bill.groupby("team")))
    lines = [
        {
            "Team": plain(row["team"] or NO_TEAM),
            "Plans": f"{row['plans']:.0f}",
            **{
                label: plain(summands(plans[row["team"]][name].tolist(), money)[1])
                for name, label in COLUMNS.items()
            },
            HOURS: gpu_hours_words(
                plans[row["team"]]["once_gpu_hours"].tolist(),
                plans[row["team"]]["monthly_gpu_hours"].tolist(),
            ),
        }
        for row in records(sums)
    ]
    table = pd.DataFrame(lines)
    columns = table.columns[(table != "").any()]
    tables.text_table(table[columns], "Dollars and GPU-hours by team")
    tables.download(
        "Sums as CSV", partial(to_csv, sums), "headroom-teams", "teams_csv", type="tertiary"
    )


def _uses(bill: pd.DataFrame, budgets: list[Budget]) -> list[Use]:
    """Each budget with what the plans take of it, if they begin on the day that is chosen."""
    st.header("Budgets", anchor=False)
    begins = st.date_input(
        "Plans without a start begin on", key="teams_begin", width=230, **SESSION
    )
    uses = budget_use(bill, budgets, begins if isinstance(begins, date) else date.today())
    for use in uses:
        if use.budget.usd is None:
            st.markdown(plain(use_sentence(use)))
            continue
        st.progress(use.used_ratio, plain(use_sentence(use)))
    return uses


def known_budgets() -> list[Budget]:
    """The budgets of one's own catalogs, and those of the file that was opened here."""
    own, left_out = own_budgets()
    for sentence in left_out:
        st.warning(plain(sentence), icon=":material/rule:")
    return [*own, *st.session_state.get(BUDGETS, [])]


def _open_budgets(catalogs: Catalogs) -> None:
    """The field for a file of budgets; a file that cannot be read costs one sentence."""
    if opened := st.session_state.get(BUDGETS):
        names = ", ".join(budget_name(budget) for budget in opened)
        st.caption(plain(f"Opened here: {names}."))
        button("Forget these budgets", _forget, key="budgets_forget", type="tertiary")
        return
    file: Any = st.file_uploader("Budgets (YAML)", type=["yaml", "yml"], key="budgets_file")
    st.caption(plain(f"As in {EXAMPLE}"))
    if file is None:
        return
    try:
        budgets = reading.read(
            budgets_of, file.getvalue(), quote_cell(file.name), catalogs=catalogs
        )
    except REFUSALS as error:
        show_error(error)
        return
    st.session_state[BUDGETS] = budgets
    st.rerun()


def _forget() -> None:
    """Callback: drop the budgets of the opened file."""
    st.session_state.pop(BUDGETS, None)
