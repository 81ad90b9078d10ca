"""The Prices tab: every price of a region with its source; cards and all catalogs, closed."""

from functools import partial

import pandas as pd
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from calc.catalogs.load import Catalogs
from calc.charts import catalog_tables, result_tables
from calc.cost import offers
from calc.cost.markets import MARKETS
from calc.evaluate import Row
from views.session import SESSION, job_state
from views.session import catalogs as session_catalogs
from views.shared import tables
from views.shared.elements import expander, select
from views.shared.sources import source_table, with_links
from views.shared.texts import texts_beside

CATALOGS = texts_beside(__file__)["catalogs"]


def draw(title: DeltaGenerator) -> None:
    """The tab; its heading goes above the tabs, into `title`."""
    catalogs = session_catalogs.catalogs()
    region, families = _choose_region_and_families(catalogs)
    region_name = catalogs.regions["name"][region]
    table = _priced_offers(region, families, catalogs)
    priced_rows = table["on_demand_usd_per_hour"].notna().sum()
    spot = table["spot_usd_per_hour"].notna().sum()
    title.title(
        f"{region_name}: {priced_rows} of {len(table)} types have an On-Demand price, {spot} a "
        "Spot price",
        anchor=False,
    )
    st.markdown(
        f"{table['on_demand_old'].sum()} of the On-Demand prices are older than "
        f"{MARKETS['on-demand'].old_days} days: check them before "
        "you rent. `make prices` reads today's. An empty cell is not known; it is never zero."
    )
    source_table(
        table,
        tables.filled_columns(tables.columns_of("prices"), table),
        f"Prices of every instance type in {region_name}",
        "prices_table",
        lambda number: offers.entries_behind(table.iloc[number], catalogs),
        catalogs,
        height=560,
    )
    st.caption(
        "$ an instance-hour, Linux, shared tenancy, before tax, storage and traffic. "
        "Published: read from AWS or a named source. "
        "Derived: from the price of another region. Spot: the median of the zones, or "
        "estimated from the Spot Advisor's saving."
    )
    expander(f"Cards ({len(catalogs.gpus)})", "cards", partial(_cards, catalogs))
    expander(
        f"All {len(CATALOGS)} catalogs, every field",
        "all_catalogs",
        partial(_every_catalog, catalogs),
    )


def _choose_region_and_families(catalogs: Catalogs) -> tuple[str, list[str]]:
    """Draw the filters of the table; return the region and the families, none for all."""
    names = catalogs.regions["name"]
    first = next(iter(job_state.current().fields["regions"]), names.index[0])
    st.session_state.setdefault("prices_region", first)
    labels = {region: f"{name} ({region})" for region, name in names.items()}
    with st.container(horizontal=True, vertical_alignment="bottom"):
        region = select("Region", labels, "prices_region", width=280)
        every = sorted(catalogs.instances["family"].unique())
        families = st.multiselect(
            "Family", every, key="prices_families", placeholder="All", width=280, **SESSION
        )
    return region, families


def _priced_offers(region: str, families: list[str], catalogs: Catalogs) -> pd.DataFrame:
    """The instance types of a region by name, with on_demand_old and spot_old for stale prices."""
    table = offers.offers(catalogs, [region])
    table = table[table["family"].isin(families)] if families else table
    today = pd.Timestamp.today()
    stale = {}
    for name in ("on-demand", "spot"):
        key = MARKETS[name].key
        stale[f"{key}_old"] = offers.is_old(table[f"{key}_as_of"], today, name)
    return table.assign(**stale).sort_values("instance", ignore_index=True)


def _cards(catalogs: Catalogs) -> None:
    """Draw every card with memory, bandwidth and rate, starting with those that AWS rents."""
    table = catalog_tables.card_table(catalogs)
    columns = tables.columns_of("cards")
    source_table(
        table, columns, "Cards, those that AWS rents first", "cards_table", "gpus", catalogs
    )
    st.caption(
        "Memory as the card's driver reports it, a little under the number on the box. Rates "
        "are dense, without sparsity."
    )


def _every_catalog(catalogs: Catalogs) -> None:
    """Any catalog as it is."""
    name = select("Catalog", CATALOGS, "catalog", width=320)
    table = result_tables.catalog_table(catalogs, name)
    about = catalogs.about.get(name, {})
    source = about.get("source", "with each entry")
    days = about.get("checked_on", "the dates in the rows")
    st.markdown(
        f"{len(table):,} entries, checked on {days}. Source: {with_links(source)}. Version "
        f"{catalogs.version}."
    )
    source_table(
        table,
        _catalog_columns(table),
        f"Catalog of {CATALOGS[name].lower()}",
        f"catalog_{name}",
        name,
        catalogs,
        height=560,
    )
    for note in about.get("notes", []):
        st.caption(note)


def _catalog_columns(table: pd.DataFrame) -> Row:
    """The columns of a catalog: ids pinned, sizes in GiB."""
    labels = {
        name: name.removesuffix("_gib").replace("_", " ")
        for name in result_tables.screen_names(table.columns)
    }
    columns = {
        name: tables.NUMBER(f"{label}, GiB", format="%.4g") if name.endswith("_gib") else label
        for name, label in labels.items()
    }
    return columns | {next(iter(labels)): tables.TEXT(next(iter(labels)), pinned=True)}
