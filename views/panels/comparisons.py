"""The charts of the Plan page and its tabs; a tab computes and draws only while it is open."""

import streamlit as st

from calc import phases_table
from calc.charts import tables as chart_tables
from calc.plan import ranking, scaling
from calc.words import card_name
from views import tables
from views.charts import cost as cost_charts
from views.charts import memory as memory_charts
from views.panels.chart import draw
from views.session import job_state
from views.theme import verdict_words
from views.wording import plan as plan_words
from views.wording.numbers import plain

SHOWN = 16
ROWS = 1000
TABS = ("Instances", "Scenarios", "Fits on", "Precisions", "Optimizers", "GPU counts", "Phases")


def stacked(rows, names, catalogs, ink, components, title, alt, key):
    """Stacked bars of memory by component, one per scenario that can be estimated."""
    table = chart_tables.by_component(rows, names, components)
    if table.empty:
        st.info("No scenario can be estimated; the table below says why.")
        return
    table["verdict_text"] = [plan_words.verdict_text(total, fits) for total, fits in zip(table["total_gib"], table["fits"], strict=True)]
    draw(memory_charts.memory_by_component(ink, components, title), table, alt, key, chart_tables.cards(rows, catalogs))


def cost_points(rows, names, ink, usd_title, alt):
    """Cost against memory; says how many rows have no price and are not drawn."""
    table = chart_tables.points(rows, names)
    unpriced = int(((rows["problem"] == "") & rows["usd"].isna()).sum())
    if len(table):
        draw(cost_charts.cost_against_memory(ink, usd_title), table.assign(verdict=verdict_words(table["fits"])), alt, "cost")
    else:
        st.info("No scenario has a price: choose an instance that is sold in this region.")
    if unpriced:
        st.caption(f"{unpriced} without a price in {rows['region'].iloc[0]}: not drawn here, kept in the table.")


def tabs(evaluate, ranked, best, catalogs, ink, components, market, period):
    """What holds the named scenario and how it compares; every tab starts from that scenario."""
    scenario = ranking.scenario_of(best)
    trains = scenario["work"] == "training"
    titles = [title for title in TABS if trains or title != "Optimizers"]
    panes = dict(zip(titles, st.tabs(titles, on_change="rerun", key="tab"), strict=True))
    precisions = job_state.possible_precisions(catalogs, job_state.asked())
    bodies = {
        "Instances": lambda: _instances(scenario, catalogs, ink),
        "Scenarios": lambda: _scenarios(evaluate, catalogs, market, period),
        "Fits on": lambda: _fits_on(scenario, catalogs, ink),
        "Precisions": lambda: _varied("precision", precisions, scenario, catalogs, ink, components),
        "Optimizers": lambda: _varied("optimizer", list(catalogs.optimizers.index), scenario, catalogs, ink, components),
        "GPU counts": lambda: _gpu_counts(ranked, best, catalogs, ink, market, period),
        "Phases": lambda: _phases(scenario, best, catalogs, ink, components),
    }
    for title, pane in panes.items():
        if pane.open:
            with pane:
                bodies[title]()


def _instances(scenario, catalogs, ink):
    rows = scaling.instance_table(scenario, catalogs)
    holding = rows[ranking.offered(rows)]
    st.markdown(plain(plan_words.instances(holding, rows, scenario)))
    left, right = st.columns([3, 2])
    with left:
        tables.instances(rows)
    with right:
        priced = holding[holding["usd_per_hour_on_demand"].notna() | holding["usd_per_hour_spot"].notna()].head(SHOWN)
        names = [f"{count:.0f} × {name}" for count, name in zip(priced["instances_needed"], priced["instance"], strict=True)]
        table = chart_tables.two_markets(names, priced["usd_per_hour_on_demand"], priced["usd_per_hour_spot"])
        if len(table):
            draw(
                cost_charts.prices(ink, "USD per hour for the whole job", "Cheapest instances that hold it"),
                table,
                f"Cheapest: {names[0]}",
                "instance_prices",
            )


def _scenarios(evaluate, catalogs, market, period):
    """Every scenario, and why where one cannot be estimated; only here are the largest batch and sequence solved."""
    ranked = ranking.rank(evaluate(), market, period)
    rows = ranked.head(ROWS)
    tables.scenarios(rows, chart_tables.labels(rows, catalogs), period)
    if len(ranked) > ROWS:
        st.caption(f"{ROWS:,} of {len(ranked):,} scenarios shown, best first; the CSV holds them all.")


def _fits_on(scenario, catalogs, ink):
    rows = scaling.fits_on(scenario, catalogs)
    held = rows[rows["gpus_needed"].notna()]
    st.markdown(plan_words.fits_on(held, rows, scenario))
    left, right = st.columns(2)
    with left:
        sold = held[held["on_aws"]]
        table = sold.assign(
            label=[card_name(gpu, catalogs) for gpu in sold["gpu"]],
            rank=range(len(sold)),
            verdict=verdict_words(sold["fits"]),
            needed_text=[plan_words.needed(row) for _, row in sold.iterrows()],
        )
        draw(
            memory_charts.fits_on(ink),
            table[["label", "rank", "gpus_needed", "verdict", "needed_text"]],
            f"{len(held)} of {len(rows)} cards can hold it",
            "fits_on",
        )
        st.caption("Cards that AWS rents; the table has every card of the catalog.")
    with right:
        tables.cards(rows)


def _varied(name, values, scenario, catalogs, ink, components):
    rows = scaling.over(scenario, catalogs, name, values)
    rows = rows[rows["problem"] == ""].sort_values("memory_bytes", kind="stable")
    names = chart_tables.labels(rows, catalogs, always=(name,))
    title = f"Memory per GPU by component, each {name}"
    smallest = names[0] if len(names) else "none"
    stacked(rows, names, catalogs, ink, components, title, f"Smallest: {smallest}", f"varied_{name}")
    tables.meanings(name, rows[name], catalogs)


def _gpu_counts(ranked, best, catalogs, ink, market, period):
    """Memory for each setting on the named instance; cost for each instance with the named setting."""
    sound = ranked[ranked["problem"] == ""]
    place, setting = ["instance", "gpu"], ["precision", "optimizer", "kv_precision"]
    settings = sound[(sound[place] == best[place]).all(axis=1)].drop_duplicates(setting).head(8)
    places = sound[(sound[setting] == best[setting]).all(axis=1)].drop_duplicates(place).head(8)
    left, right = st.columns(2)
    with left:
        table, rows = _over_gpus(settings, catalogs, market, period)
        draw(
            memory_charts.memory_over_gpus(ink), table, plan_words.first_fit(table), "memory_over_gpus", chart_tables.cards(rows, catalogs)
        )
    with right:
        table, rows = _over_gpus(places, catalogs, market, period)
        priced = table[table["usd"].notna()]
        if len(priced):
            draw(
                cost_charts.cost_over_gpus(ink, plan_words.usd_title(market, period)),
                priced,
                plan_words.first_fit(priced),
                "cost_over_gpus",
            )
        else:
            st.info("Cost needs an instance with a price: choose one in the sidebar.")
    st.caption(f"Circle: fits. Diamond: tight. Cross: does not fit. {plan_words.spread(ranking.scenario_of(best))}")


def _over_gpus(chosen, catalogs, market, period):
    rows = scaling.over_gpus(chosen, catalogs)
    rows = rows[rows["problem"] == ""]
    names = chart_tables.plan_names(chosen, catalogs)
    table = chart_tables.against_gpus(rows, [names[number] for number in rows["plan"]], ranking.in_period(rows, market, period))
    return table.assign(verdict=verdict_words(table["fits"])), rows


def _phases(scenario, best, catalogs, ink, components):
    allocated = tuple(name for name in components if name != "overhead_bytes")
    table = chart_tables.by_phase(phases_table(scenario, catalogs), allocated)
    table["phase_text"] = [plan_words.verdict_text(total, "") for total in table["phase_gib"]]
    cards = chart_tables.cards(best.to_frame().T, catalogs)
    draw(memory_charts.phases(ink, allocated), table, f"The peak is in the {best['peak_phase']} phase", "phases", cards)
    st.caption(
        f"The largest phase, {best['peak_phase']}, is the estimate; context and allocator slack come on top. "
        f"Scenario: {plan_words.setting(best, catalogs)}."
    )
