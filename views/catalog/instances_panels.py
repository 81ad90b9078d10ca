"""Panels of the Instances page: switches, list, types side by side, one type by region."""

from typing import Any

import pandas as pd
import streamlit as st

from calc.catalogs.load import Catalogs
from calc.charts.lines import over_days
from calc.charts.tables import for_screen
from calc.cost import offers
from calc.cost.markets import MARKETS
from calc.evaluate import Row
from calc.say.numbers import about, counted, gib, is_missing, percent, three, usd
from calc.say.place import card_name
from calc.say.verdict import RUNS, fit_word
from calc.search import instances
from views.charts import price_history
from views.session import SESSION, job_state, kept
from views.session.present_plan import Present, look_at
from views.shared.elements import button, draw, segments
from views.shared.markdown import plain
from views.shared.tables import chosen_in, columns_of, grid, of_rows, text_table
from views.shared.texts import TEXTS
from views.shared.theme import INKS

MOST_SIDE_BY_SIDE = 6
OF_THE_JOB = ("instances_needed", "verdict", "usd")
KEY = "instance_list"
ORDERS = TEXTS["instances"]["orders"]
CAPTION = TEXTS["instances"]["caption"]
HISTORY = TEXTS["instances"]["history"]


def whole_catalog(answered: bool) -> bool:
    """Whether every instance type is shown, or those that run the job."""
    if not answered:
        return True
    views = {False: "For this job", True: "All of them"}
    st.session_state.setdefault("whole_catalog", False)
    return segments("Show", views, "whole_catalog", **SESSION)


def order(all_types: bool) -> str:
    """The visible switch of the order."""
    orders = [name for name in ORDERS if name != "job" or not all_types]
    key = "order_of_all" if all_types else "order_for_job"
    st.session_state.setdefault(key, orders[0])
    return st.segmented_control("First", orders, format_func=ORDERS.__getitem__, key=key, required=True, wrap=True, **SESSION)


def narrowed(catalogs: Catalogs) -> tuple[list[str], int]:
    """The families and the GPU memory of an instance that are asked for."""
    with st.popover("Narrow", icon=":material/filter_alt:"):
        every = sorted(catalogs.instances["family"].unique())
        families = st.multiselect("Families", every, key="families", placeholder="All", **SESSION)
        least = st.number_input("GPU memory of the instance, GiB at least", min_value=0, step=24, key="least_gib", **SESSION)
    return families, least


def listed(table: pd.DataFrame, by: str, all_types: bool) -> list[dict[str, Any]]:
    """The list; returns the rows that are ticked."""
    columns = columns_of("instance_types")
    columns["gib_per_usd"]["type_config"]["max_value"] = float(table["gib_per_usd"].max() or 1)
    frame = for_screen(table, [name for name in columns if name in table or name == "spot_discount_percent"])
    if not all_types:
        frame["verdict"] = [_verdict(row) for row in table.to_dict("records")]
    columns = {name: config for name, config in columns.items() if name in frame and not (all_types and name in OF_THE_JOB)}
    of_rows(KEY, (by, all_types, tuple(table["instance"])))
    look: dict[str, Any] = {"on_select": "rerun", "selection_mode": "multi-row", "height": 460 if len(frame) > 12 else "content"}
    grid(frame[list(columns)], columns, f"{len(frame)} instance types by {ORDERS[by].lower()}", KEY, **look)
    return [table.iloc[index].to_dict() for index in chosen_in(KEY) if index < len(table)]


def actions(ticked: list[dict[str, Any]], plan: Present, all_types: bool) -> None:
    """What may be done with the ticked rows, and what the plan looks at."""
    with st.container(horizontal=True, vertical_alignment="center"):
        names = [row["instance"] for row in ticked]
        label = "Use in plan" if len(ticked) < 2 else f"Plan with these {len(ticked)} only"
        button(label, _use, ticked, plan.options.board, icon="input", disabled=not ticked, type="primary", key="use")
        rows = [] if all_types else [plan.options.board.iloc[row["board_row"]].to_dict() for row in ticked]
        button("Keep ticked", kept.keep_all, rows, icon="bookmark_add", disabled=not rows or kept.is_full(), key="keep_ticked")
        row = plan.row
        present = f"In the plan now: {row['instances_needed']:.0f} × {row['instance']}." if row["instance"] else ""
        sentence = f"Ticked: {', '.join(names)}. " if names else "Tick one to use it in the plan, two to six to see them side by side. "
        st.caption(plain(sentence + present), width="content")


def _use(ticked: list[dict[str, Any]], board: pd.DataFrame) -> None:
    """Callback: look at the row of the job's board, or fix these instances by hand."""
    if len(ticked) == 1 and "board_row" in ticked[0]:
        look_at(board.iloc[ticked[0]["board_row"]].to_dict())
    else:
        job_state.choose(instance=[row["instance"] for row in ticked])
        look_at(None)


def side_by_side(ticked: list[dict[str, Any]], all_types: bool, catalogs: Catalogs) -> None:
    """Two to six types as columns."""
    rows = ticked[:MOST_SIDE_BY_SIDE]
    st.subheader("Side by side", anchor=False)
    lines = [
        {"": label, **dict(zip([row["instance"] for row in rows], map(plain, cells), strict=True))}
        for label, cells in _facts(rows, all_types, catalogs)
    ]
    text_table(lines, "The ticked instance types side by side")
    if len(ticked) > len(rows):
        st.caption(f"The first {len(rows)} of {counted(len(ticked), 'ticked type')}.")


def regions(instance: str, sold: list[str], here: str, catalogs: Catalogs) -> None:
    """One type in every region that sells it; a ticked region goes into the plan."""
    if st.session_state.get("regions_offered") != instance:  # what was ticked or is in the plan comes first
        st.session_state["regions_offered"] = st.session_state["instance_of_regions"] = instance
    chosen = st.selectbox("Instance", sold, key="instance_of_regions", **SESSION)
    table = instances.by_region(chosen, here, catalogs)
    if not len(table):
        st.info(f"No region of the catalog has a price of {chosen}.", icon=":material/public_off:")
        return
    columns = columns_of("instance_by_region", against_here_percent=f"Against {here}")
    key = f"regions_of_{chosen}"
    look: dict[str, Any] = {"on_select": "rerun", "selection_mode": "single-row", "height": "content"}
    grid(pd.DataFrame(for_screen(table, list(columns))), columns, f"{chosen} in {len(table)} regions, cheapest first", key, **look)
    _history(chosen, here, catalogs)
    places = chosen_in(key)
    region = table["region"].iloc[places[0]] if places and places[0] < len(table) else None
    with st.container(horizontal=True, vertical_alignment="center"):
        label = f"Use in plan in {region}" if region else "Use in plan"
        button(label, _move, chosen, region, icon="input", disabled=region is None, key="use_region")
        missing = len(catalogs.regions) - len(table)
        st.caption(f"{counted(missing, 'region')} of {len(catalogs.regions)} have no price for it.", width="content")


def _history(instance: str, region: str, catalogs: Catalogs) -> None:
    """What the instance asked over the days in the plan's region."""
    labels = {name: market.title for name, market in MARKETS.items()}
    table = over_days(offers.price_line(catalogs, instance, region), labels)
    if not len(table):
        st.caption(f"No price of {instance} in {region} is kept: `make prices` keeps one for each day on which it changed.")
        return
    ink = INKS[st.context.theme.type or "light"]
    first, last = table.iloc[0], table.iloc[-1]
    alt = f"{instance} in {region}, {len(table)} prices from {first['day']} to {last['day']}"
    draw(price_history.price_history(ink), table, alt, "price_history")
    st.caption(HISTORY.format(region=region))


def _move(instance: str, region: str) -> None:
    """Callback: the job in that region, on that type."""
    job_state.choose(regions=[region], instance=[instance])
    look_at(None)


def heading(table: pd.DataFrame, all_types: bool) -> str:
    """18 instance types fit this job, 4 are tight."""
    if all_types:
        return f"{counted(len(table), 'instance type')} with GPUs"
    counts = [(table["fits"] == "yes").sum(), (table["fits"] == "tight").sum(), (table["fits"] == "no").sum()]
    fits, tight, too_small = map(int, counts)
    if not fits + tight:
        return "No instance type fits this job"
    sentences = [f"{counted(fits, 'instance type')} fit{'s' if fits == 1 else ''} this job"]
    sentences += [f"{tight} {'is' if tight == 1 else 'are'} tight"] * (tight > 0)
    return ", ".join([*sentences, *[f"{too_small} too small"] * (too_small > 0)])


def best(table: pd.DataFrame, by: str, here: str) -> str:
    """What is first in the order, and by what figure."""
    if not len(table):
        return ""
    row = table.iloc[0].to_dict()
    name = f"**{row['instance']}** ({row['gpus']:.0f} × {row['card']})"
    figures = {
        "memory": ("gib_per_usd", "Most GPU memory per dollar", lambda value: f"{three(value)} GiB for each dollar an hour"),
        "compute": (
            "pflops_per_usd",
            "Most compute per dollar",
            lambda value: f"{three(value)} dense bf16 PFLOP/s for each dollar an hour",
        ),
        "hour": ("on_demand_usd_per_hour", "Lowest price", lambda value: f"{usd(value)} an hour on demand"),
        "job": ("usd", "Least money for the job", lambda value: f"about {about(value)} with {row['instances_needed']:.0f} of them"),
    }
    column, claim, say = figures[by]
    if is_missing(row[column]):
        return f"No on-demand price is known in {here}."
    return f"{claim}: {name}, {say(row[column])}."


def _verdict(row: Row) -> str:
    """Fits, tight, too small; a word of its own for what is emulated or not known to run."""
    return RUNS.get(row.get("runs", ""), "") or fit_word(row["fits"])


def _facts(rows: list[Row], all_types: bool, catalogs: Catalogs) -> list[tuple[str, list]]:
    """Label and one cell per instance type, for those that are ticked."""
    table = [
        ("Card", [f"{row['gpus']:.0f} × {card_name(row['gpu'], catalogs)}" for row in rows]),
        ("GPU memory", [gib(row["gpu_gib"]) for row in rows]),
        ("USD per hour on demand", [usd(row["on_demand_usd_per_hour"]) for row in rows]),
        ("USD per hour on spot", [usd(row["spot_usd_per_hour"]) for row in rows]),
        ("Spot saves", [percent(row["spot_discount_ratio"]) for row in rows]),
        ("Taken back in a month", [row["interruption_band"] or "not published" for row in rows]),
        ("GPU memory per dollar and hour", [gib(row["gib_per_usd"]) for row in rows]),
        ("Dense bf16 PFLOP/s", [three(row["bf16_pflops"]) for row in rows]),
        ("vCPUs of the quota", [f"{row['vcpus']:,.0f}" for row in rows]),
        ("Quota on demand", [row["on_demand_quota"] for row in rows]),
        ("CPU memory", [gib(row["host_gib"]) for row in rows]),
        ("Between the GPUs", [row["interconnect"] for row in rows]),
        ("Processor", ["Arm" if row["arm"] else "x86" for row in rows]),
    ]
    job = [
        ("Needed for the job", [f"{row['instances_needed']:.0f}, {_verdict(row)}" for row in rows]),
        ("Money for the job", [usd(row["usd"]) for row in rows]),
    ]
    return [(label, [cell or "–" for cell in cells]) for label, cells in (table if all_types else job + table)]
