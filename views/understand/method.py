"""The Method page: the memory and the bill of a scenario, formula by formula."""

import pandas as pd
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from calc import phases_table
from calc.charts import tables as chart_tables
from calc.charts.tables import COMPONENT_LABELS
from calc.columns import COMPONENTS, GLOSSARY
from calc.explain.bill import explain_bill
from calc.explain.derivation import explain, rules_that_apply
from calc.memory import overhead
from calc.memory.moments import components_of
from calc.plan.bill import billed
from calc.say.numbers import gib, is_missing, percent
from calc.say.setting import name_of, setting
from calc.say.verdict import FITS_MEANING, range_text
from calc.units import GIB
from views.charts import memory as memory_charts
from views.session import catalogs as session_catalogs
from views.session.present_plan import as_set, present
from views.shared import elements, row_words
from views.shared.markdown import plain
from views.shared.theme import FITS, INKS
from views.understand import method_panels as panel
from views.understand import method_words


def draw(title: DeltaGenerator) -> None:
    """The tab; its heading goes above the tabs, into `title`."""
    catalogs = session_catalogs.catalogs()
    ink = INKS[st.context.theme.type or "light"]

    plan = as_set(present(catalogs), catalogs)
    row, scenario = pd.Series(plan.row), plan.scenario
    model = name_of("model", row["model"], catalogs)

    if is_missing(row["memory_bytes"]):
        title.title(plain(f"{model}: there is no estimate to explain"), anchor=False)
        st.error(plain(plan.options.problem), icon=":material/block:")
        return

    why = explain(scenario, catalogs, method_words.written)
    total = float(row["memory_bytes"])
    title.title(plain(f"Where the {gib(total / GIB)} per GPU of {model} come from"), anchor=False)
    if plan.options.problem:
        st.warning(plain(plan.options.problem), icon=":material/rule:")
    st.markdown(plain(setting(row, catalogs)))
    first_sentence = method_words.prose(why.says).split(". ")[0].removesuffix(".") + "."
    st.markdown(
        f"The estimate is the largest moment of the {why.phase} phase: {first_sentence} Each part "
        "is shown as it is computed: its formula in the columns it reads, then today's numbers put in, idle terms left out. "
        "How far such estimates are from what was measured: Accuracy, under Reference."
    )

    st.subheader("At the peak, component by component", anchor=False)
    tops = why.formulas[why.formulas["step"] == 0].set_index("component")
    largest = max(COMPONENTS, key=lambda name: row[name])
    for name in COMPONENTS:
        if not row[name] > 0:
            continue
        chain = why.formulas[why.formulas["component"] == name]
        label = f"**{COMPONENT_LABELS[name]}** · {gib(row[name] / GIB)} · {percent(row[name] / total)}"
        with st.expander(label, expanded=name == largest, key=f"why_{name}"):
            st.markdown(f"{GLOSSARY[name].meaning}.")
            st.code(method_words.derivation(chain), language="python", wrap_lines=True)
            panel.facts(why.facts[why.facts["column"].isin(method_words.columns_read(chain))])
            if name == "activations_bytes":
                panel.block(why.blocks)
            if tops["equation"][name] != tops["today"][name]:
                st.caption("The whole formula, with the terms that are idle in this scenario:")
                st.code(f"{name} = {tops['equation'][name]}", language="python", wrap_lines=True)
    absent = [COMPONENT_LABELS[name].lower() for name in components_of(row["work"]) if not row[name] > 0]
    if absent:
        st.caption(f"None at this moment: {', '.join(absent)}. They may be alive in another phase, below.")

    chain = why.formulas[why.formulas["component"] == "layout"]
    with st.expander("**Shared by several components**: counts on one GPU", key="why_layout"):
        st.code(method_words.derivation(chain), language="python", wrap_lines=True)
        panel.facts(why.facts[why.facts["column"].isin(method_words.columns_read(chain))])

    st.subheader("Phase by phase", anchor=False)
    left, right = st.columns([2, 3])
    allocated = tuple(name for name in components_of(row["work"]) if name != "overhead_bytes")
    with left:
        phases = chart_tables.by_phase(phases_table(scenario, catalogs), allocated)
        phases["phase_text"] = [gib(value) for value in phases["phase_gib"]]
        rules = chart_tables.card_rules(row.to_frame().T, catalogs)
        elements.draw(memory_charts.phases(ink, allocated), phases, f"The peak is in the {why.phase} phase", "method_phases", rules)
    with right:
        panel.moments(why.moments)
        st.caption(
            "Between the first and the last block of a stack memory is linear, so only the ends are looked at; the largest "
            "row is the estimate. Context and allocator slack come on top."
        )

    st.subheader("The range and the verdict", anchor=False)
    low, high = row["memory_low_bytes"] / GIB, row["memory_high_bytes"] / GIB
    st.markdown(
        f"Expect {range_text(low, high)}. The middle, {gib(total / GIB)}, is what nvidia-smi shows on a roomy card: "
        "the allocated peak and its overhead. The range carries what no formula knows: how the allocator cuts segments, "
        f"what kernels take inside one call, versions of drivers and libraries. The figure is {row['memory_basis']}; the range is "
        "wider where a figure is derived from source alone, and twice as wide beyond all that was simulated or published."
    )
    software = catalogs.implementations.loc[row["implementation"]]
    st.caption(f"What {software['name']} does is known from release {software['releases']}; a newer one may differ.")
    st.caption(method_words.prose(overhead.__doc__.split("\n\n")[1]))
    with st.expander("Formulas of the range", key="why_range"):
        for name in ("memory_low_bytes", "memory_high_bytes"):
            st.code(method_words.derivation(why.formulas[why.formulas["component"] == name]), language="python", wrap_lines=True)
    st.markdown("\n".join(f"- **{FITS[name][0]}**: {meaning}." for name, meaning in FITS_MEANING.items()))

    bill = billed(pd.DataFrame([plan.row]).assign(market=plan.market), catalogs).iloc[0].to_dict()
    if not is_missing(bill["usd"]):
        st.subheader("What it costs", anchor=False)
        st.markdown(plain(method_words.bill(bill)))
        costs = explain_bill(scenario, plan.market, bill, catalogs, method_words.written)
        for name, chain in costs.formulas.groupby("component", sort=False):
            with st.expander(plain(method_words.cost_title(chain.iloc[0])), key=f"why_{name}"):
                st.code(method_words.derivation(chain), language="python", wrap_lines=True)
                panel.facts(costs.facts[costs.facts["column"].isin(method_words.columns_read(chain))])
        if row["work"] == "inference":
            st.caption(row_words.TOKEN_TIMES)

    if row["runs"]:
        st.subheader("Does it run there", anchor=False)
        st.markdown(plain(f"{method_words.RUNS_MEANING[row['runs']]} {row['note']}"))
        panel.rules(rules_that_apply(scenario, catalogs))

    st.subheader("What is left out", anchor=False)
    st.markdown("\n".join(f"- {sentence}" for sentence in method_words.LEFT_OUT))

    st.subheader("Sources", anchor=False)
    st.markdown("\n".join(f"- {what}: [{who}]({url})" for what, who, url in method_words.SOURCES))
    st.caption(f"Catalog {catalogs.version}. How far the estimate is from what PyTorch allocates: the Accuracy page.")
