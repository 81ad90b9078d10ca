"""Tables and metrics: columns named, explained and formatted from the glossary, memory in GiB, cards as progress."""

import streamlit as st

from calc.charts import tables as chart_tables
from calc.columns import GLOSSARY
from calc.doors import csv_tables
from calc.plan.ranking import offered
from calc.scenarios.inputs import CATALOG_OF
from views.theme import verdict

NUMBER = st.column_config.NumberColumn
TEXT = st.column_config.TextColumn


def metric(label, value, note):
    """A number with a grey note under it, which is no change and wears no arrow."""
    st.metric(label, value.replace("$", "\\$"), delta=note, delta_color="off", delta_arrow="off", border=True)


def download(label, csv, file_name, key, **look):
    """A button that gives a CSV; `csv` makes its text only when it is pressed."""
    st.download_button(label, csv, file_name, mime="text/csv", on_click="ignore", icon=":material/download:", key=key, **look)


def column(name, label=None, kind=NUMBER, **more):
    """The column of a quantity with its meaning as help; _gib columns take the meaning of their bytes."""
    entry = GLOSSARY.get(name) or GLOSSARY.get(name.removesuffix("_gib") + "_bytes")
    return kind(label or entry.label, help=entry.meaning if entry else None, **more)


def _used(label="Memory used"):
    return st.column_config.ProgressColumn(
        label,
        min_value=0.0,
        max_value=100.0,
        format="%.0f %%",
        help="Estimated memory over the card's usable memory; over 100 % it does not fit.",
    )


def _money(name, label):
    return column(name, label, format="$%,.2f")


def csv(evaluate):
    """All scenarios, the largest batch and sequence among their columns, made when the download is asked for."""
    return csv_tables.to_csv(evaluate())


def scenarios(rows, names, period, key="scenarios"):
    """Every scenario, best first, with the reason where one is refused."""
    show(
        rows,
        {
            "name": TEXT("Scenario", pinned=True, width="medium"),
            "verdict": TEXT("Verdict"),
            "used_percent": _used(),
            "memory_gib": column("memory_bytes", "GiB per GPU", format="%.3g"),
            "memory_low_gib": column("memory_low_bytes", "from", format="%.3g"),
            "memory_high_gib": column("memory_high_bytes", "to", format="%.3g"),
            "usd": NUMBER(f"USD per {period}", format="$%,.2f", help="For the whole job; empty: no price is known."),
            "gpus": column("gpus", "GPUs", format="%d"),
            "instances_needed": column("instances_needed", "Instances", format="%d"),
            "max_batch": column("max_batch", "Largest batch", format="%d"),
            "max_sequence_tokens": column("max_sequence_tokens", "Longest sequence", format="%,d"),
            "peak_phase": column("peak_phase", "Peak in", TEXT),
            "problem": TEXT("Problem", width="large"),
        },
        "Scenarios, best first",
        key,
        {"name": names, "verdict": _verdicts(rows)},
    )


def instances(rows):
    """Every instance type with as many of it as hold the scenario, cheapest first."""
    show(
        rows,
        {
            "instance": TEXT("Instance", pinned=True),
            "instances_needed": column("instances_needed", "Needed", format="%d"),
            "verdict": TEXT("Verdict"),
            "usd_per_hour_on_demand": _money("usd_per_hour_on_demand", "On demand, USD/h"),
            "usd_per_hour_spot": _money("usd_per_hour_spot", "Spot, USD/h"),
            "used_percent": _used(),
            "spot_saving_percent": NUMBER("Spot saves", format="%.0f %%", help="1 minus spot over on demand."),
            "memory_gib": column("memory_bytes", "GiB per GPU", format="%.3g"),
            "card": TEXT("Card"),
            "gpus": column("gpus", "GPUs used", format="%d"),
            "gpus_paid": column("gpus_paid", "GPUs paid", format="%d"),
            "problem": TEXT("Problem", width="large"),
        },
        "Instances that hold the scenario, cheapest first",
        "instances",
        {"verdict": _verdicts(rows), "instances_needed": rows["instances_needed"].where(offered(rows))},
        height=480,
    )


def cards(rows):
    """Every card of the catalog with how many of it are needed."""
    show(
        rows,
        {
            "name": TEXT("Card", pinned=True),
            "gpus_needed": NUMBER("GPUs needed", format="%d", help="Fewest that hold the scenario; empty: 1,024 do not."),
            "verdict": TEXT("Verdict"),
            "used_percent": _used(),
            "memory_gib": column("memory_bytes", "GiB per GPU", format="%.3g"),
            "gpu_memory_gib": column("gpu_memory_bytes", "Usable GiB", format="%.3g"),
            "on_aws": st.column_config.CheckboxColumn("On AWS"),
            "problem": TEXT("Problem", width="large"),
        },
        "Cards and how many of each hold the scenario",
        "cards",
        {"verdict": _verdicts(rows)},
        height=480,
    )


def meanings(name, values, catalogs):
    """What each value of a choice means and what it costs in quality, from its catalog."""
    catalog = getattr(catalogs, CATALOG_OF[name]).loc[list(values)]
    show(
        catalog[[column for column in ("name", "meaning", "quality_note") if column in catalog]],
        {
            "name": TEXT(name.capitalize(), pinned=True),
            "meaning": TEXT("What it is", width="large"),
            "quality_note": TEXT("Quality", width="medium"),
        },
        f"What each {name} means",
        f"meanings_{name}",
    )


def _verdicts(rows):
    verdicts = zip(rows["fits"], rows["runs"], rows["problem"], strict=True)
    return ["refused" if problem else verdict(fits, runs) for fits, runs, problem in verdicts]


def show(rows, columns, alt, key, added=None, **more):
    """The named columns of the rows, and those that are added, and no others."""
    added = added or {}
    table = chart_tables.for_screen(rows, [name for name in columns if name not in added]).assign(**added)
    st.dataframe(table[list(columns)], column_config=columns, hide_index=True, alt=alt, key=key, placeholder="–", **more)


def offers(rows, measure):
    """Instance types of a region with their prices and where these come from."""
    show(
        rows,
        {
            "instance": TEXT("Instance", pinned=True),
            "card": TEXT("Card"),
            "gpus": NUMBER("GPUs", format="%d"),
            "gpu_gib": NUMBER("GPU memory, GiB", format="%.3g", help="Of all GPUs of the instance, as the driver reports it."),
            "per_on_demand": NUMBER(f"On demand, USD per {measure}", format="$%,.4g"),
            "per_spot": NUMBER(f"Spot, USD per {measure}", format="$%,.4g"),
            "on_demand_usd_per_hour": NUMBER("On demand, USD/h", format="$%,.2f"),
            "spot_usd_per_hour": NUMBER("Spot, USD/h", format="$%,.2f", help="Median over the zones."),
            "spot_low_usd_per_hour": NUMBER("Spot, lowest zone", format="$%,.2f"),
            "spot_high_usd_per_hour": NUMBER("Spot, highest zone", format="$%,.2f"),
            "spot_saving_percent": NUMBER("Spot saves", format="%.0f %%"),
            "interruption_band": TEXT("Interrupted in a month", help="How often such instances were taken back: the Spot Advisor's band."),
            "capacity_block_usd_per_hour": NUMBER("Capacity block, USD/h", format="$%,.2f"),
            "bf16_pflops": NUMBER("Dense bf16 PFLOP/s", format="%.3g"),
            "vcpus": NUMBER("vCPUs of the quota", format="%d"),
            "host_gib": NUMBER("Host memory, GiB", format="%d"),
            "arm": st.column_config.CheckboxColumn("Arm"),
            "on_demand_basis": TEXT("Price is", help="published, derived (from another region's price) or assumed"),
            "on_demand_as_of": TEXT("On demand of"),
            "old": st.column_config.CheckboxColumn("Check price", help="Older than 90 days."),
            "spot_basis": TEXT("Spot is", help="observed, or estimated from the Spot Advisor's saving"),
            "spot_as_of": TEXT("Spot of"),
            "on_demand_source": TEXT("Source", width="large"),
        },
        "Instance types and their prices",
        "offers",
        height=420,
    )


def raw(table, name):
    """A catalog as it is: ids pinned, sizes in GiB."""
    shown = chart_tables.screen_names(table.columns)
    config = {each: each.replace("_", " ") for each in shown}
    config |= {
        each: NUMBER(each.removesuffix("_gib").replace("_", " ") + ", GiB", format="%.4g") for each in shown if each.endswith("_gib")
    }
    config[shown[0]] = TEXT(shown[0], pinned=True)
    show(table, config, f"Catalog of {name.lower()}", f"catalog_{name}", height=600)
