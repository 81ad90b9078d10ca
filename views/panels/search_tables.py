"""Results of a wide search: three cards, the frontier, a table of the best rows."""

from functools import partial
from typing import Any

import pandas as pd
import streamlit as st

from calc.catalogs.load import Catalogs
from calc.charts.against_time import against_time, pace
from calc.cost.job import Job
from calc.evaluate import Row
from calc.files.csv import tables as csv_tables
from calc.plan.figures import records
from calc.say.numbers import usd
from calc.say.place import card_name, place
from calc.say.setting import setting
from calc.search.wide import named, points
from views.charts import against_time as time_charts
from views.elements import button
from views.panels.chart import draw
from views.session import catalogs as session_catalogs
from views.session import job_state
from views.session.present_plan import Present
from views.tables import NUMBER, TEXT, download, show
from views.theme import Ink, verdict_words
from views.wording import search as search_words
from views.wording.markdown import plain

STEPS = "Of the whole run; a search keeps the tokens per step within a factor of 2 unless its limits say otherwise."
PROMPTS = "Of one arriving prompt at the steady rate, with its wait for the prompts before it."


def cards(kept: dict[str, Any], catalogs: Catalogs) -> None:
    """Cards of the cheapest run, the cheapest hour and the fastest, each with its reason."""
    rows = kept["rows"].set_index("candidate")
    firsts = named(kept["search"])
    for (name, number), column in zip(firsts.items(), st.columns(len(firsts)), strict=True):
        with column, st.container(border=True):
            _card(name, rows.loc[number].to_dict(), catalogs)


def _card(name: str, row: Row, catalogs: Catalogs) -> None:
    title, number, note, where, memory, how = search_words.card(name, row, catalogs)
    _metric(title, number, note)
    st.markdown(plain(where))
    st.caption(plain(f"{memory}. {how}"))
    st.markdown(plain(row["why"]))
    quality = f" Quality: {row['quality']}." if row["quality"] else ""
    st.caption(f"Price {search_words.basis(row)}.{quality}")
    _take_button(row, f"take_{name.replace(' ', '_')}")


def _metric(title: str, number: Any, note: Any) -> None:
    st.metric(title, plain(number), delta=plain(note), delta_color="off", delta_arrow="off")


def _take_button(row: Row, key: str) -> None:
    button("Make it the plan", _take, row, icon="input", key=key)


def _take(row: Row) -> None:
    """Callback: the row becomes the plan."""
    job_state.adopt(row, row["market"], session_catalogs.catalogs())


def frontier(kept: dict[str, Any], now: Present, before: Job, ink: Ink) -> None:
    """Cost against time of all that no other beats in both, and of the row looked at."""
    trains = kept["work"] == "training"
    table = points(kept["search"])
    table = table.assign(label=[place(row, with_region=True) for row in records(table)])
    if not now.row["problem"] and before.seconds[0] == before.seconds[0]:
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


def best_rows(kept: dict[str, Any], catalogs: Catalogs) -> None:
    """The best of every instance and market as a table; the chosen row in full."""
    rows = kept["rows"]
    rows = rows[rows["each"]].sort_values(["usd", "seconds"], kind="stable").reset_index(drop=True)
    trains = kept["work"] == "training"
    columns = {
        "place": TEXT("Where", pinned=True, width="medium"),
        "usd": NUMBER("USD for the run" if trains else "USD per month", format="$%,.2f"),
        "pace": NUMBER("Hours" if trains else "ms per token", format="%.3g"),
        **({} if trains else {"time_to_first_token_seconds": NUMBER("First token, s", format="%.3g", help=PROMPTS)}),
        **({"optimizer_steps": NUMBER("Optimizer steps", format="%,.0f", help=STEPS)} if trains else {}),
        "usd_per_hour": NUMBER("USD per hour", format="$%,.2f"),
        "setting": TEXT("Setting", width="large"),
        "why": TEXT("Why", width="large", help="Against the row looked at."),
        "quality": TEXT("Quality", help="What number formats and optimizer cost, where it is known."),
        "used_percent": st.column_config.ProgressColumn("Memory used", min_value=0, max_value=100, format="%.0f %%"),
        "verdict": TEXT("Verdict"),
        "card": TEXT("Card"),
        "gpus": NUMBER("GPUs used", format="%d"),
        "vcpus_needed": NUMBER("vCPUs of the quota", format="%d"),
        "price_is": TEXT("Price is", help="Published, derived or assumed; spot observed or estimated; and its date."),
        "interruption_band": TEXT("Interrupted in a month", help="The Spot Advisor's band; empty: not published."),
        "arm": st.column_config.CheckboxColumn("Arm"),
    }
    several = records(rows)
    added = {
        "place": [place(row, with_region=True) for row in several],
        "card": [card_name(gpu, catalogs) for gpu in rows["gpu"]],
        "setting": [setting(row, catalogs) for row in several],
        "verdict": verdict_words(rows["fits"]),
        "pace": pace(rows["seconds"], trains),
        "arm": catalogs.instances["arm"].reindex(rows["instance"]).to_numpy(),
        "price_is": [search_words.basis(row) for row in several],
    }
    alt = "The best on every instance and market"
    show(rows, columns, alt, "found_rows", added, on_select="rerun", selection_mode="single-row", height=420)
    chosen = st.session_state["found_rows"]["selection"]["rows"]
    if not chosen or chosen[0] >= len(rows):
        st.caption("Choose a row to read why in full, and to make it the plan.")
        return
    row = several[chosen[0]]
    with st.container(border=True):
        st.markdown(plain(f"**{place(row, with_region=True)}**: {search_words.price(row)}. {row['why']}"))
        st.caption(plain(setting(row, catalogs)))
        _take_button(row, "take_row")


def csv(rows: pd.DataFrame, work: Any) -> None:
    """The rows shown, with every column."""
    name = f"headroom-search-{rows['model'].iloc[0]}-{work}.csv"
    download(f"Found plans as CSV ({len(rows)} rows)", partial(csv_tables.to_csv, rows), name, "search_csv")


def four_forms(forms: Any, budget: Any, catalogs: Catalogs) -> None:
    """One load in four forms: the cheapest by the hour, and the fastest within the budget."""
    for at, (form, rows) in enumerate(forms.items()):
        if at % 2 == 0:
            pair = st.columns(2)
        row, *fastest = records(rows)
        with pair[at % 2], st.container(border=True):
            _metric(f"{form}, USD per hour", usd(row["usd_per_hour"]), search_words.within(row, budget))
            st.markdown(plain(search_words.in_place(row)))
            st.caption(plain(f"{search_words.memory(row, catalogs)}. {setting(row, catalogs)}"))
            if fastest and fastest[0]["candidate"] != row["candidate"]:
                st.markdown(plain(f"Fastest within the budget: {search_words.in_place(fastest[0])}"))
            _take_button(row, f"take_form_{at}")
