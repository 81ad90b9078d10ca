"""The Instances page: what AWS rents side by side, per hour, GPU, GiB and PFLOP; region against region."""

from functools import partial

import pandas as pd
import streamlit as st

from calc.charts import tables as chart_tables
from calc.cost import offers
from calc.doors import csv_tables
from calc.words import card_name
from views import tables
from views.charts import cost as cost_charts
from views.panels.chart import draw
from views.session import catalogs as session_catalogs
from views.session import job_state
from views.sidebar import sidebar
from views.theme import INKS
from views.wording.numbers import plain, usd

MEASURES = {"instance": "hour", "gpu": "GPU-hour", "gib": "GiB of GPU memory and hour", "pflop": "dense bf16 PFLOP/s and hour"}

catalogs = session_catalogs.catalogs()
ink = INKS[st.context.theme.type or "light"]
today = pd.Timestamp.today()

with st.sidebar:
    sidebar.regions(catalogs)
    measure = st.radio("Price per", list(MEASURES), format_func=MEASURES.get, key="measure", persist_state="session")
    families = st.multiselect(
        "Families", sorted(catalogs.instances["family"].unique()), key="families", placeholder="All", persist_state="session"
    )
    smallest = st.number_input("GPU memory of the instance, at least GiB", min_value=0, step=24, key="least_gib", persist_state="session")

here = next(iter(job_state.asked()["regions"]), catalogs.regions.index[0])
table = offers.offers(catalogs, [here])
wanted = table["gpu_gib"] >= smallest
table = table[wanted & table["family"].isin(families)] if families else table[wanted]
prices = offers.per(table, measure)
table = table.assign(per_on_demand=prices["on-demand"], per_spot=prices["spot"]).sort_values(
    ["per_on_demand", "per_spot"], na_position="last"
)

st.title("Instances side by side", anchor=False)
priced = table[table["per_on_demand"].notna()]
if len(priced):
    first = priced.iloc[0]
    st.markdown(
        plain(
            f"Cheapest per {MEASURES[measure]} in {here}: **{first['instance']}** "
            f"({first['gpus']:.0f} × {first['card']}), {usd(first['per_on_demand'])} on demand."
        )
    )
else:
    st.markdown(f"No instance of this choice has an on-demand price in {here}.")

drawn = table[table["per_on_demand"].notna() | table["per_spot"].notna()].head(24)
left, right = st.columns([3, 2])
with left:
    title = f"USD per {MEASURES[measure]}"
    if len(drawn):
        names = [
            f"{name} · {card}" for name, card in zip(drawn["instance"], (card_name(gpu, catalogs) for gpu in drawn["gpu"]), strict=True)
        ]
        draw(
            cost_charts.prices(ink, title, f"{title}, {here}"),
            chart_tables.two_markets(names, drawn["per_on_demand"], drawn["per_spot"]),
            f"Cheapest: {names[0]}",
            "instances_chart",
        )
        st.caption(f"{len(drawn)} of {len(table)} instance types, cheapest on demand first.")
with right:
    chosen = st.selectbox("Region against region for", list(table["instance"]), key="instance_of_regions", persist_state="session")
    everywhere = offers.offers(catalogs, catalogs.regions.index)
    everywhere = everywhere[everywhere["instance"] == chosen]
    regional = offers.per(everywhere, measure)
    everywhere = everywhere.assign(per_on_demand=regional["on-demand"], per_spot=regional["spot"]).sort_values(
        ["per_on_demand", "per_spot"], na_position="last"
    )
    sold = everywhere[everywhere["per_on_demand"].notna() | everywhere["per_spot"].notna()]
    if len(sold):
        names = [f"{region} · {catalogs.regions['name'][region]}" for region in sold["region"]]
        draw(
            cost_charts.prices(ink, title, f"{chosen} by region"),
            chart_tables.two_markets(names, sold["per_on_demand"], sold["per_spot"]),
            f"{chosen} is cheapest in {names[0]}",
            "regions_chart",
        )
    st.caption(f"{len(everywhere) - len(sold)} of {len(everywhere)} regions have no price for it.")

tables.offers(table.assign(old=offers.is_old(table["on_demand_as_of"], today)), MEASURES[measure])
tables.download(
    f"Instances as CSV ({len(table)} rows)", partial(csv_tables.to_csv, table), f"headroom-instances-{here}.csv", "instances_csv"
)
st.caption(
    "Linux, shared tenancy, USD before tax, storage and traffic. The table tells published, derived and assumed "
    "prices apart; spot is the median over the zones."
)
