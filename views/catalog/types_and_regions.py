"""Ticked instance types next to each other; one type by region, and its price over time."""

import streamlit as st

from calc.catalogs.load import Catalogs
from calc.charts.lines import over_days
from calc.cost import offers
from calc.cost.markets import MARKETS
from calc.evaluate import Row
from calc.say.numbers import with_noun
from calc.say.place import region_name
from calc.studies.instances import by_region
from views.catalog import instances_words as words
from views.charts import price_history
from views.session import SESSION, job_state
from views.session.present_plan import look_at
from views.shared.elements import button, draw, theme_ink
from views.shared.markdown import plain
from views.shared.sources import source_table
from views.shared.tables import chosen_in, columns_of, text_table

MOST_SIDE_BY_SIDE = 6


def side_by_side(ticked_types: list[Row], of_job: list[Row | None], catalogs: Catalogs) -> None:
    """Two to six types as columns; `of_job` are the rows of the job on them."""
    types = ticked_types[:MOST_SIDE_BY_SIDE]
    st.header("Next to each other", anchor=False)
    lines = [
        {"": label, **dict(zip([row["instance"] for row in types], map(plain, cells), strict=True))}
        for label, cells in words.facts(types, of_job[:MOST_SIDE_BY_SIDE], catalogs)
    ]
    text_table(lines, "The ticked instance types next to each other")
    if len(ticked_types) > len(types):
        st.caption(f"The first {len(types)} of {with_noun(len(ticked_types), 'ticked type')}.")


def regions(instance: str, here: str, catalogs: Catalogs) -> None:
    """One type in every region that sells it; a ticked region goes into the plan."""
    # What was ticked or is in the plan comes first.
    if st.session_state.get("regions_offered") != instance:
        st.session_state["regions_offered"] = st.session_state["instance_of_regions"] = instance
    chosen = st.selectbox(
        "Type", list(catalogs.instances.index), key="instance_of_regions", width=320, **SESSION
    )
    table = by_region(chosen, here, catalogs)
    if not len(table):
        st.info(f"No region of the catalog has a price of {chosen}.", icon=":material/public_off:")
        return
    key = f"regions_of_{chosen}"
    columns = columns_of(
        "instance_by_region", against_here_percent=f"Against {region_name(here, catalogs)}"
    )
    alt = f"{chosen} in {len(table)} regions, cheapest first"
    source_table(
        table,
        columns,
        alt,
        key,
        lambda number: offers.entries_behind(table.iloc[number], catalogs),
        catalogs,
        row_selection="single-row",
        height="content",
    )
    places = chosen_in(key)
    region = table["region"].iloc[places[0]] if places and places[0] < len(table) else None
    with st.container(horizontal=True, vertical_alignment="center"):
        label = f"Use in plan in {region_name(region, catalogs)}" if region else "Use in plan"
        button(
            label, _move, chosen, region, icon="input", disabled=region is None, key="use_region"
        )
        missing = len(catalogs.regions) - len(table)
        st.caption(
            f"{with_noun(missing, 'region')} of {len(catalogs.regions)} have no price for it.",
            width="content",
        )
    _history(chosen, here, catalogs)


def _history(instance: str, region: str, catalogs: Catalogs) -> None:
    """Draw the price history of the instance in the region."""
    labels = {name: market.title for name, market in MARKETS.items()}
    name = region_name(region, catalogs)
    table = over_days(offers.price_line(catalogs, instance, region), labels)
    if not len(table):
        st.caption(
            f"No price of {instance} in {name} is kept: `make prices` keeps one for each day "
            f"on which it changed."
        )
        return
    ink = theme_ink()
    first, last = table.iloc[0], table.iloc[-1]
    alt = f"{instance} in {name}, {len(table)} prices from {first['day']} to {last['day']}"
    draw(price_history.price_history(ink), table, alt, "price_history")
    st.caption(words.HISTORY.format(region=name))


def _move(instance: str, region: str) -> None:
    """Callback: the job in that region, on that type."""
    job_state.choose(regions=[region], instance=[instance])
    look_at(None)
