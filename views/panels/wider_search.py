"""The wide search and the scenarios of a CSV, in an expander that starts closed."""

from functools import partial
from typing import Any

import pandas as pd
import streamlit as st

from calc.catalogs.load import Catalogs
from calc.charts.against_time import against_time, pace
from calc.cost.job import Job
from calc.cost.markets import MARKETS, PLAN_MARKETS
from calc.evaluate import Row
from calc.files.csv import tables as csv_tables
from calc.plan.figures import records
from calc.say.numbers import counted, duration, gib, is_missing, percent, span, three, usd
from calc.say.place import card_name, cards, place
from calc.say.setting import name_of, setting
from calc.search import ranking
from calc.search.wide import named, points
from calc.units import GIB
from views.charts import against_time as time_charts
from views.elements import button, draw
from views.panels import earlier
from views.session import catalogs as session_catalogs
from views.session import job_state, search_state
from views.session.present_plan import Present
from views.sidebar import search_form
from views.tables import columns_of, download, show
from views.theme import Ink, verdict_words
from views.wording.markdown import plain

BUDGET_USD_PER_HOUR = 10.0
ABOUT = (
    "The answers above compare layouts, micro-batches, recompute and instances. Here anything may vary: number formats, optimizers, "
    "software, LoRA, other regions, larger batches. A choice with nothing chosen is left to the answers."
)
REASONS = {
    ranking.TIGHT: "are tight",
    ranking.EMULATED: "are emulated",
    ranking.UNKNOWN: "are not known to run, or how fast",
    ranking.OUTSIDE: "are outside the limits",
}


def panel(plan: Present, ink: Ink, catalogs: Catalogs) -> None:
    """An expander that searches only while it is open."""
    opened, icon = bool(st.session_state.get("allowed")), ":material/manage_search:"
    pane = st.expander("Widen or narrow the search", icon=icon, on_change="rerun", key="wider", expanded=opened)
    if not pane.open:
        return
    with pane:
        st.markdown(ABOUT)
        if plan.row["problem"] and not plan.row["instance"]:
            st.info("The search starts from a plan: loosen what is in the way above first.")
        else:
            _search(plan, ink, catalogs)
        st.divider()
        earlier.preview(earlier.chooser(), catalogs)


def _search(plan: Present, ink: Ink, catalogs: Catalogs) -> None:
    search_form.prepare(plan, catalogs)
    if search_form.question(plan, catalogs) == "budget":
        _four_forms(plan, catalogs)
        return
    kept = search_state.shown(plan, catalogs, *search_form.form(plan, catalogs))
    if kept is None:
        return
    search, rows = kept["search"], kept["rows"]
    st.markdown(_counts(search, kept["seconds"]))
    if search.problem:
        st.info(plain(search.problem), icon=":material/lightbulb:")
        return
    before, numbered, firsts = search_state.before(plan, kept, catalogs), rows.set_index("candidate"), named(search)
    for (name, number), column in zip(firsts.items(), st.columns(len(firsts)), strict=True):
        with column, st.container(border=True):
            _card(name, numbered.loc[number].to_dict(), catalogs)
    st.caption(plain(_present(plan, before)))
    _frontier(points(search), plan, before, ink)
    _best_rows(rows, kept["work"] == "training", catalogs)
    name = f"headroom-search-{rows['model'].iloc[0]}-{kept['work']}.csv"
    download(f"Found plans as CSV ({len(rows)} rows)", partial(csv_tables.to_csv, rows), name, "search_csv")


def _counts(search: Any, seconds: float) -> str:
    """How many combinations were tried, and what became of them."""
    parts = [f"{search.counts[number]:,} {words}" for number, words in REASONS.items() if search.counts[number]]
    rest = search.tried - int(search.counts.sum())
    parts += [f"{rest:,} do not fit, or do not run there"] if rest > 0 else []
    return f"{search.tried:,} combinations in {duration(seconds)}: **{search.possible:,} possible**; {', '.join(parts)}."


def _card(name: str, row: Row, catalogs: Catalogs) -> None:
    """The cheapest run, the cheapest hour or the fastest, with its reason and its button."""
    trains, hour = row["work"] == "training", usd(row["usd_per_hour"])
    money, time = usd(row["usd"]), duration(row["seconds"])
    period, work_time = ("", time) if trains else (" a month", f"{time} per token")
    title, number, note = {
        "cheapest": (f"Least money {'for the run' if trains else 'a month'}", money, f"{'in ' * trains}{work_time}, {hour} per hour"),
        "cheapest hour": ("Least money an hour", hour, f"{money}{period}{' in ' if trains else ', '}{work_time}"),
        "fastest": ("Fastest within the limits", work_time, f"{money}{period}, {hour} per hour"),
    }[name]
    _metric(title, number, note)
    st.markdown(plain(f"**{place(row, with_region=True)}**"))
    st.caption(plain(f"{_memory(row, catalogs)}. {setting(row, catalogs)}"))
    st.markdown(plain(row["why"]))
    quality = f" Quality: {row['quality']}." if row["quality"] else ""
    st.caption(f"Price {_basis(row)}.{quality}")
    _take_button(row, f"take_{name.replace(' ', '_')}")


def _metric(title: str, number: str, note: str) -> None:
    st.metric(title, plain(number), delta=plain(note), delta_color="off", delta_arrow="off")


def _take_button(row: Row, key: str) -> None:
    button("Make it the plan", _take, row, icon="input", key=key)


def _take(row: Row) -> None:
    """Callback: the row becomes the plan."""
    job_state.adopt(row, row["market"], session_catalogs.catalogs())


def _basis(row: Row) -> str:
    """Published, derived or assumed; spot observed or estimated; and the date of the price."""
    if row["market"] not in PLAN_MARKETS:
        return "as the catalog has it"
    key = MARKETS[row["market"]].key
    return f"{row[f'{key}_basis']}, {row[f'{key}_as_of']}"


def _memory(row: Row, catalogs: Catalogs) -> str:
    """8 × H100 SXM5 80GB, 61.2 GiB, 77 % of the card."""
    used = f"{gib(row['memory_bytes'] / GIB)}, {percent(row['memory_bytes'] / row['gpu_memory_bytes'])} of the card"
    return f"{cards(row, catalogs)}, {used}{', tight' if row['fits'] == 'tight' else ''}"


def _present(plan: Present, before: Job) -> str:
    """The plan that the rows are compared with."""
    row = plan.row
    if row["problem"]:
        return f"Row looked at: {row['problem']}"
    if is_missing(float(before.usd[0])):
        where = f"{row['instances_needed']:.0f} × {row['instance']}" if row["instance"] else f"{row['gpus']:.0f} GPUs"
        return f"Row looked at: {where}, without a price."
    when = f" in {duration(before.seconds[0])}" if row["work"] == "training" else " a month"
    ends = ["" if row["fits"] in ("yes", "tight") else " It does not fit.", f" It {row['misses']}." if row.get("misses") else ""]
    money = f"{usd(before.usd[0])}{when}, {usd(before.usd_per_hour[0])} per hour"
    return f"Row looked at: {before.instances[0]:.0f} × {row['instance']}, {MARKETS[plan.market].label}, {money}.{''.join(ends)}"


def _frontier(table: pd.DataFrame, plan: Present, before: Job, ink: Ink) -> None:
    """Cost against time of the plans that no other beats in both, with the row on view."""
    trains = plan.scenario["work"] == "training"
    table = table.assign(label=[place(row, with_region=True) for row in records(table)])
    if not plan.row["problem"] and before.seconds[0] == before.seconds[0]:
        present = {"kind": "now", "label": "Row looked at", "seconds": float(before.seconds[0]), "usd": float(before.usd[0])}
        table = pd.concat([table, pd.DataFrame([present])], ignore_index=True)
    drawn = against_time(table, trains)
    titles = ("hours of the run", "USD for the run") if trains else ("milliseconds per output token", "USD per month")
    edge = drawn[drawn["kind"] == "frontier"]
    alt = f"{len(edge)} plans that no other beats in both, from {usd(edge['usd'].min())} to {usd(edge['usd'].max())}"
    draw(time_charts.cost_against_time(ink, *titles), drawn, alt, "frontier")
    st.caption(
        "The line: the least that each time costs. Grey: others that are possible. Diamond: the row looked at. "
        "Spot counts its interruptions, and the spare instances of a service; capacity is not promised."
    )


def _best_rows(rows: pd.DataFrame, trains: bool, catalogs: Catalogs) -> None:
    """The best of every instance and market as a table; the chosen row in full."""
    rows = rows[rows["best_of_type"]].sort_values(["usd", "seconds"], kind="stable").reset_index(drop=True)
    several = records(rows)
    money, time = ("USD for the run", "Hours") if trains else ("USD per month", "ms per token")
    columns = columns_of("found_plans", usd=money, pace=time)
    del columns["time_to_first_token_seconds" if trains else "optimizer_steps"]
    added = {
        "place": [place(row, with_region=True) for row in several],
        "card": [card_name(gpu, catalogs) for gpu in rows["gpu"]],
        "setting": [setting(row, catalogs) for row in several],
        "verdict": verdict_words(rows["fits"]),
        "pace": pace(rows["seconds"], trains),
        "arm": catalogs.instances["arm"].reindex(rows["instance"]).to_numpy(),
        "price_is": [_basis(row) for row in several],
    }
    alt = "The best on every instance and market"
    show(rows, columns, alt, "found_rows", added, on_select="rerun", selection_mode="single-row", height=420)
    chosen = st.session_state["found_rows"]["selection"]["rows"]
    if not chosen or chosen[0] >= len(rows):
        st.caption("Choose a row to read why in full, and to make it the plan.")
        return
    row = several[chosen[0]]
    with st.container(border=True):
        money = f"{usd(row['usd'])} in {span(row['hours'])}" if trains else f"{usd(row['usd'])} a month"
        st.markdown(plain(f"**{place(row, with_region=True)}**: {money}. {row['why']}"))
        st.caption(plain(setting(row, catalogs)))
        _take_button(row, "take_row")


def _four_forms(plan: Present, catalogs: Catalogs) -> None:
    """One load in four forms: the cheapest by the hour, and the fastest within the budget."""
    st.session_state.setdefault("budget", BUDGET_USD_PER_HOUR)
    budget = st.number_input("USD per hour at most", 0.1, step=1.0, format="%.2f", key="budget", persist_state="session")
    for index, (form, rows) in enumerate(search_state.four_forms(plan, catalogs).items()):
        if index % 2 == 0:
            pair = st.columns(2)
        row, *fastest = records(rows)
        with pair[index % 2], st.container(border=True):
            gap = row["usd_per_hour"] - budget
            note = f"within, {usd(-gap)} to spare" if gap <= 0 else f"{usd(gap)} over the budget"
            _metric(f"{form}, USD per hour", usd(row["usd_per_hour"]), note)
            st.markdown(plain(_in_place(row)))
            st.caption(plain(f"{_memory(row, catalogs)}. {setting(row, catalogs)}"))
            if fastest and fastest[0]["candidate"] != row["candidate"]:
                st.markdown(plain(f"Fastest within the budget: {_in_place(fastest[0])}"))
            _take_button(row, f"take_form_{index}")
    model, length = name_of("model", plan.scenario["model"], catalogs), f"{plan.scenario['sequence_tokens']:,.0f} tokens"
    note = (
        f"{model}, {counted(int(plan.scenario['batch']), 'sequence')} of {length} at once, the same load in four forms; each is the "
        "least money an hour of all layouts on all instances, in the regions and on the markets that the search allows."
    )
    st.caption(plain(note))


def _in_place(row: Row) -> str:
    """The place of a plan, its price an hour, and its speed."""
    speed = f"{three(row['tokens_per_second'])} tokens per second"
    return f"**{place(row, with_region=True)}**, {usd(row['usd_per_hour'])} per hour (price {_basis(row)}); {speed}"
