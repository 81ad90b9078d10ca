"""The wide search, in an expander that starts closed."""

from functools import partial
from time import perf_counter
from typing import Any

import streamlit as st

from calc.catalogs.load import Catalogs
from calc.charts.against_time import pace
from calc.cost.job import ends_of
from calc.cost.markets import MARKETS, PLAN_MARKETS
from calc.evaluate import Row
from calc.files.csv import tables as csv_tables
from calc.plan.figures import records
from calc.say.numbers import counted, duration, gib, percent, span, three, usd
from calc.say.place import card_name, cards, place
from calc.say.setting import setting
from calc.search import ranking
from calc.search.job_row import JobError, JobRow
from calc.search.reasons import reasons
from calc.search.wide import WideSearch, best, named, points, wide_search
from calc.search.widened import widened
from calc.units import GIB
from views.plan import search_form
from views.session import SESSION, job_state
from views.session.present_plan import Present
from views.shared.elements import button, segments
from views.shared.markdown import plain
from views.shared.row_words import paced_by
from views.shared.tables import columns_of, download, metric, show
from views.shared.texts import TEXTS
from views.shared.theme import Ink, verdict_words
from views.understand import comparisons

SLOW_SECONDS = 1.0
ABOUT = TEXTS["search"]["about"]
STOPPED = TEXTS["search"]["stopped"]
OLDER = TEXTS["search"]["older"]
COSTS, COST_NOTES = TEXTS["search"]["costs"], TEXTS["search"]["cost_notes"]
REASONS = {
    ranking.TIGHT: "are tight",
    ranking.EMULATED: "are emulated",
    ranking.UNKNOWN: "are not known to run, or how fast",
    ranking.OUTSIDE: "are outside the limits",
}


def panel(plan: Present, ink: Ink, catalogs: Catalogs) -> None:
    """An expander that searches only while it is open."""
    opened, icon = bool(st.session_state.get("allowed")), ":material/manage_search:"
    pane = st.expander(
        "Widen or narrow the search", icon=icon, on_change="rerun", key="wider", expanded=opened
    )
    if not pane.open:
        return
    with pane:
        st.markdown(ABOUT)
        if plan.row["problem"] and not plan.row["instance"]:
            st.info("The search starts from a plan: loosen what is in the way above first.")
        else:
            search_form.prepare(plan, catalogs)
            if search := _found(plan, catalogs, *search_form.form(plan, catalogs)):
                _results(search, plan, ink, catalogs)


def _found(
    plan: Present, catalogs: Catalogs, sets: dict[str, Any], limits: dict[str, float]
) -> dict[str, Any] | None:
    """The search of the session with its rows; None after a message that says why.

    A search that came with the link waits for its button: opening a link must not cost a shared
    server minutes.
    """
    state, key = st.session_state, (widened(plan.job, sets, limits, catalogs), catalogs.version)
    clicked, last = state.pop("search_now", False), state.get("found")
    if state["search_waits"] and not clicked:
        st.info("This search came with the link and has not run yet.", icon=":material/link:")
        button("Search", state.update, {"search_now": True}, key="again")
        return None
    state["search_waits"] = False
    if clicked or last is None or last["work"] != plan.scenario["work"]:
        state["found"] = last = _run(plan, catalogs, key)
    if last["problem"]:
        st.error(plain(last["problem"]), icon=":material/block:")
        return None
    if last["key"] != key:
        st.warning(OLDER, title="Search again to see today's", icon=":material/update:")
        button("Search again", state.update, {"search_now": True}, key="again")
    against = repr((plan.scenario, plan.market))
    if last["rows"] is None or (last["against"] != against and last["key"] == key):
        job = last["search"].ranked.job
        users = 0 if job["requests_per_second"] or job["ends"] else job["users"]
        last |= {
            "rows": reasons(best(last["search"], catalogs), plan.row, plan.market, users, catalogs),
            "against": against,
        }
    return last


def _run(plan: Present, catalogs: Catalogs, key: tuple[JobRow, str]) -> dict[str, Any]:
    """Search; once it takes more than a second, with a bar and a button that stops it."""
    result = {"key": key, "work": plan.scenario["work"], "rows": None, "against": "", "problem": ""}
    started, holder = perf_counter(), st.empty()
    bars: list[Any] = []

    def progress(share: float) -> None:
        if perf_counter() - started > SLOW_SECONDS:
            if not bars:
                with holder.container(horizontal=True, vertical_alignment="center"):
                    bars.append(st.empty())
                    stopped = {"found": result | {"problem": STOPPED}}
                    button("Stop", st.session_state.update, stopped, icon="stop", key="stop_search")
            bars[0].progress(share, text="Trying every combination")

    try:
        search = wide_search(key[0], catalogs, progress)
    except JobError as error:
        return result | {"problem": str(error)}
    finally:
        holder.empty()
    return result | {"search": search, "seconds": perf_counter() - started}


def _results(finished: dict[str, Any], plan: Present, ink: Ink, catalogs: Catalogs) -> None:
    """How much was tried, the plans that stand out, cost against time, the best of each type."""
    search, rows = finished["search"], finished["rows"]
    parts = [
        f"{search.counts[number]:,} {words}"
        for number, words in REASONS.items()
        if search.counts[number]
    ]
    rest = search.tried - int(search.counts.sum())
    parts += [f"{rest:,} do not fit, or do not run there"] if rest > 0 else []
    tried = f"{search.tried:,} combinations in {duration(finished['seconds'])}"
    st.markdown(f"{tried}: **{search.possible:,} possible**; {', '.join(parts)}.")
    if search.problem:
        st.info(
            plain(f"In this search {search.problem[0].lower()}{search.problem[1:]}"),
            icon=":material/lightbulb:",
        )
        return
    numbered, firsts = rows.set_index("candidate"), named(search)
    for (name, number), column in zip(firsts.items(), st.columns(len(firsts)), strict=True):
        with column, st.container(border=True):
            _card(name, numbered.loc[number].to_dict(), catalogs)
    st.caption(plain(_present(plan)))
    _frontier(search, plan, ink, catalogs)
    _best_rows(rows, search.ranked.job["ends"], catalogs)
    name = f"headroom-search-{rows['model'].iloc[0]}-{finished['work']}.csv"
    download(
        f"Found plans as CSV ({len(rows)} rows)",
        partial(csv_tables.to_csv, rows),
        name,
        "search_csv",
    )


def _frontier(search: WideSearch, plan: Present, ink: Ink, catalogs: Catalogs) -> None:
    """Money or CO2e against time, as chosen above the chart."""
    cost = segments("Against time", COSTS, "found_cost", default="usd", **SESSION)
    table = points(search, catalogs, cost)
    edge = table.loc[table["kind"] == "frontier", cost]
    if edge.empty:
        st.info("The power of these machines is not known.")
        return
    least, most = (
        usd(value) if cost == "usd" else f"{three(value)} kg CO2e"
        for value in (edge.min(), edge.max())
    )
    alt = f"{len(edge)} plans that no other beats in both, from {least} to {most}"
    comparisons.frontier(
        table, plan, alt, ink, catalogs if table["region"].nunique() > 1 else None, cost
    )
    st.caption(COST_NOTES[cost])


def _card(name: str, row: Row, catalogs: Catalogs) -> None:
    """The cheapest run, the cheapest hour or the fastest, with its reason and its button."""
    ends, hour, money, time = (
        bool(ends_of(row)),
        usd(row["usd_per_hour"]),
        usd(row["usd"]),
        duration(row["seconds"]),
    )
    served = f"{time} per {paced_by(row)}"
    job, pace = (f"{money} in {time}", time) if ends else (f"{money} a month, {served}", served)
    title, number, note = {
        "cheapest": (
            f"Least money {'for the run' if ends else 'a month'}",
            money,
            f"{'in ' * ends}{pace}, {hour} per hour",
        ),
        "cheapest hour": ("Least money an hour", hour, job),
        "fastest": (
            "Fastest within the limits",
            pace,
            f"{money}{'' if ends else ' a month'}, {hour} per hour",
        ),
    }[name]
    metric(title, number, note, border=False)
    st.markdown(plain(f"**{place(row, catalogs)}**"))
    st.caption(plain(f"{_memory(row, catalogs)}. {setting(row, catalogs)}"))
    st.markdown(plain(row["why"]))
    quality = f" Quality: {row['quality']}." if row["quality"] else ""
    st.caption(f"Price {_basis(row)}.{quality}")
    _take_button(row, f"take_{name.replace(' ', '_')}", catalogs)


def _take_button(row: Row, key: str, catalogs: Catalogs) -> None:
    button("Make it the plan", job_state.adopt, row, row["market"], catalogs, icon="input", key=key)


def _basis(row: Row) -> str:
    """Published, derived or assumed; spot observed or estimated; and the date of the price."""
    if row["market"] not in PLAN_MARKETS:
        return "as the catalog has it"
    key = MARKETS[row["market"]].key
    return f"{row[f'{key}_basis']}, {row[f'{key}_as_of']}"


def _memory(row: Row, catalogs: Catalogs) -> str:
    """8 × H100 SXM5 80GB, 61.2 GiB, 77 % of the card."""
    used = (
        f"{gib(row['memory_bytes'] / GIB)}, "
        f"{percent(row['memory_bytes'] / row['gpu_memory_bytes'])} of the card"
    )
    return f"{cards(row, catalogs)}, {used}{', tight' if row['fits'] == 'tight' else ''}"


def _present(plan: Present) -> str:
    """The plan that the rows are compared with."""
    row = plan.row
    if row["problem"]:
        return f"Row looked at: {row['problem']}"
    where = place(row) if row["instance"] else counted(int(row["gpus"]), "GPU")
    time = f"in {span(row['hours'])}" if ends_of(row) else "a month"
    missed = f" It {row['misses']}." if row.get("misses") else ""
    fits = "" if row["fits"] in ("yes", "tight") else " It does not fit."
    return (
        f"Row looked at: {where}, {usd(row['usd'])} {time}, {usd(row['usd_per_hour'])} per "
        f"hour.{fits}{missed}"
    )


def _best_rows(rows: Any, ends: bool, catalogs: Catalogs) -> None:
    """The best of every instance and market as a table; the chosen row in full."""
    rows = (
        rows[rows["best_of_type"]]
        .sort_values(["usd", "seconds"], kind="stable")
        .reset_index(drop=True)
    )
    several = records(rows)
    money, time = ("USD for the run", "Hours") if ends else ("USD per month", "ms per token")
    columns = columns_of("found_plans", usd=money, pace=time)
    del columns["time_to_first_token_seconds" if ends else "optimizer_steps"]
    added = {
        "place": [place(row, catalogs) for row in several],
        "card": [card_name(gpu, catalogs) for gpu in rows["gpu"]],
        "setting": [setting(row, catalogs) for row in several],
        "verdict": verdict_words(rows["fits"]),
        "pace": pace(rows["seconds"], ends),
        "arm": catalogs.instances["arm"].reindex(rows["instance"]).to_numpy(),
        "price_is": [_basis(row) for row in several],
    }
    look: dict[str, Any] = {"on_select": "rerun", "selection_mode": "single-row", "height": 420}
    show(rows, columns, "The best on every instance and market", "found_rows", added, **look)
    chosen = [
        several[index]
        for index in st.session_state["found_rows"]["selection"]["rows"]
        if index < len(several)
    ]
    if not chosen:
        st.caption("Choose a row to read why in full, and to make it the plan.")
    for row in chosen:
        with st.container(border=True):
            cost = (
                f"{usd(row['usd'])} in {span(row['hours'])}"
                if ends
                else f"{usd(row['usd'])} a month"
            )
            st.markdown(plain(f"**{place(row, catalogs)}**: {cost}. {row['why']}"))
            st.caption(plain(setting(row, catalogs)))
            _take_button(row, "take_row", catalogs)
