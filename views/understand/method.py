"""The Method tab: memory, time and bill of the plan, formula by formula, with every source."""

from functools import partial

import pandas as pd
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from calc import phases_table
from calc.catalogs.load import Catalogs
from calc.charts import one_step, result_tables
from calc.charts.result_tables import COMPONENT_LABELS
from calc.columns import GLOSSARY
from calc.evaluate import Row
from calc.explain.bill_formulas import explain_bill
from calc.explain.derivation import (
    NEEDED,
    NVIDIA_SMI_MEMORY,
    Explanation,
    explain,
    rules_that_apply,
)
from calc.explain.times import explain_times
from calc.memory import overhead
from calc.memory.moments import components_of
from calc.plan.bill import bill_row
from calc.plan.figures import needed_parts
from calc.say.job import job_sentence
from calc.say.moments import MOMENTS
from calc.say.numbers import duration, gib, gib_of, is_missing, percent
from calc.say.setting import name_of, setting
from calc.say.verdict import FITS_MEANING, range_text
from calc.units import GIB
from views.charts import memory as memory_charts
from views.charts import one_step as step_charts
from views.session import catalogs as session_catalogs
from views.session.present_plan import Present, as_set, present
from views.shared import elements, row_words
from views.shared.elements import expander, show_error, theme_ink
from views.shared.markdown import plain
from views.shared.theme import FITS
from views.understand import method_panels as panel


def draw(title: DeltaGenerator) -> None:
    """The tab; its heading goes above the tabs, into `title`."""
    catalogs = session_catalogs.catalogs()
    plan = as_set(present(catalogs), catalogs)
    row = plan.row
    model = name_of("model", plan.row["model"], catalogs)
    with title:
        if is_missing(row["memory_bytes"]):
            title.title(plain(f"{model}: there is no estimate to explain"), anchor=False)
            show_error(plan.options.problem)
            return
        total = gib_of(row["needed_bytes"])
        title.title(plain(f"Where the {total} on each GPU comes from"), anchor=False)
        st.markdown(plain(f"{job_sentence(plan.job, catalogs)}  \n{setting(row, catalogs)}"))
    if plan.options.problem:
        st.warning(plain(plan.options.problem), icon=":material/rule:")
    _memory(plan, catalogs)
    _times(plan, catalogs)
    _costs(plan, catalogs)
    _what_else_counts(plan, catalogs)
    st.caption(
        f"Catalog {catalogs.version}. How far the estimate is from real GPUs: Accuracy, on Catalog."
    )


def _memory(plan: Present, catalogs: Catalogs) -> None:
    """Draw the components at the peak, the phases, and the range."""
    row = plan.row
    why = explain(plan.scenario, catalogs, panel.number_text)
    st.markdown(
        f"The largest moment of the {why.phase} phase: "
        f"{MOMENTS[why.moment]}. Each part shows its "
        "formula in the columns it reads, then today's numbers, then the source of each column."
    )

    st.header("Memory at the peak", anchor=False)
    _components(why, row)
    expander("**Phase by phase**", "why_phases", partial(_phases, why, plan, catalogs))
    if one_step.has_rollout(row):
        expander(
            "**One step: training and rollout**",
            "why_rollout",
            partial(_rollout, plan, catalogs),
            expanded=True,
        )
    expander("**The range and the verdict**", "why_range", partial(_range, why, row, catalogs))


def _what_else_counts(plan: Present, catalogs: Catalogs) -> None:
    """Draw whether the software runs there, what no formula covers, and the papers."""
    st.header("What else counts", anchor=False)
    if runs := plan.row["runs"]:
        label = "**Does it run there**"
        if runs != "yes":
            heading, _ = panel.RUNS_MEANING[runs]
            label += f": {heading}"
        expander(plain(label), "why_runs", partial(_runs, plan, catalogs), expanded=runs != "yes")
    expander(
        "**What is left out**",
        "why_left_out",
        partial(st.markdown, "\n".join(f"- {sentence}" for sentence in panel.LEFT_OUT)),
    )
    papers = "\n".join(f"- {what}: [{who}]({url})" for what, who, url in panel.SOURCES)
    expander("**Papers and programs**", "why_sources", partial(st.markdown, papers))


def _components(why: Explanation, row: Row) -> None:
    """Every component that is alive, the largest one open; then what several of them share."""
    sizes = needed_parts(row)
    largest = max(sizes, key=sizes.__getitem__)
    for name, size_bytes in sizes.items():
        label = (
            f"**{COMPONENT_LABELS[name]}** · {gib_of(size_bytes)} · "
            f"{percent(size_bytes / row['needed_bytes'])}"
        )
        is_overhead = name == "overhead_bytes"
        body = partial(_overhead, why) if is_overhead else partial(_component, why, name)
        expander(label, f"why_{name}", body, expanded=name == largest)
    shared = partial(panel.formulas, why.formulas[why.formulas["component"] == "layout"], why.facts)
    expander("**Shared by several components**: counts on one GPU", "why_layout", shared)
    absent = [
        COMPONENT_LABELS[name].lower() for name in components_of(row["work"]) if name not in sizes
    ]
    if absent:
        st.caption(
            f"None at this moment: {', '.join(absent)}. They may be alive in another phase, below."
        )


def _overhead(why: Explanation) -> None:
    """Draw what must fit beside the tensors of the peak, by the formula of the total."""
    st.markdown(
        "What must be free beside the tensors of the peak: the CUDA context, what fragmentation "
        "loses of the peak, and the share of the card that a serving engine leaves. What the "
        "allocator caches beyond is no part of it, since it is released when memory runs short."
    )
    panel.formulas(why.formulas[why.formulas["component"] == "needed_bytes"], why.facts)


def _component(why: Explanation, name: str) -> None:
    """The formulas of one component; of activations also what a block keeps."""
    chain = why.formulas[why.formulas["component"] == name]
    st.markdown(f"{GLOSSARY[name].meaning}.")
    panel.formulas(chain, why.facts)
    if name == "activations_bytes":
        panel.block(why.blocks)
    top = chain[chain["step"] == 0].iloc[0]
    if top["equation"] != top["today"]:
        st.caption("The whole formula, with the terms that are idle in this scenario:")
        st.code(f"{name} = {top['equation']}", language="python", wrap_lines=True)


def _phases(why: Explanation, plan: Present, catalogs: Catalogs) -> None:
    """The phases as bars, and every moment that was looked at."""
    ink, left, right = theme_ink(), *st.columns([2, 3])
    components = tuple(name for name in components_of(plan.row["work"]) if name != "overhead_bytes")
    with left:
        phases = result_tables.by_phase(phases_table(plan.scenario, catalogs), components)
        phases["phase_text"] = [gib(value) for value in phases["phase_gib"]]
        rules = result_tables.card_rules(pd.DataFrame([plan.row]), catalogs)
        elements.draw(
            memory_charts.phases(ink, result_tables.drawn_components(phases)),
            phases,
            f"The peak is in the {why.phase} phase",
            "method_phases",
            rules,
        )
    with right:
        panel.moments(why.moments)
        st.caption(
            "Between the first and the last block of a stack memory is linear, so only the "
            "ends are looked at; the largest "
            "row is the estimate. Context and allocator slack come on top."
        )


def _rollout(plan: Present, catalogs: Catalogs) -> None:
    """Draw the memory of training and rollout in each phase of a step, and their waits."""
    ink, row, left, right = theme_ink(), plan.row, *st.columns([2, 3])
    with left:
        pools = one_step.memory_by_pool(row, phases_table(plan.scenario, catalogs))
        rules = result_tables.card_rules(pd.DataFrame([row]), catalogs)
        largest = pools.loc[pools["gib"].idxmax()]
        words = (
            f"{largest['pool']} holds most, {gib(largest['gib'])} in the phase {largest['phase']}"
        )
        elements.draw(step_charts.two_bars(ink), pools, words, "method_two_bars", rules)
    with right:
        sentence = one_step.idle_sentence(row)
        elements.draw(
            step_charts.timeline(ink), one_step.timeline(row), sentence, "method_timeline"
        )
        st.caption(plain(f"{duration(row['step_seconds'])} a step. {sentence}"))


def _range(why: Explanation, row: Row, catalogs: Catalogs) -> None:
    """Draw the range, its formulas, and the meaning of each verdict."""
    low, high, shown, shown_low, shown_high = (
        row[name] / GIB for name in ("needed_low_bytes", "needed_high_bytes", *NVIDIA_SMI_MEMORY)
    )
    in_nvidia_smi = (
        f"On a card with memory to spare, nvidia-smi shows {gib(shown)} "
        f"({range_text(shown_low, shown_high)}), because the allocator also caches blocks that it "
        f"has used."
        if is_missing(row["kv_pool_bytes"])
        else "In nvidia-smi stands all that the engine takes, however little the run needs."
    )
    st.markdown(
        f"Plan for {range_text(low, high)} that must fit: the 5th to the 95th percentile. "
        f"{in_nvidia_smi} The ranges cover what no formula knows: how the allocator cuts "
        f"segments, what kernels allocate inside one call, and versions of drivers and "
        f"libraries. The basis of the figure is {row['memory_basis']}. The range is wider if a "
        f"figure is derived from source alone, and twice as wide beyond all that was simulated "
        f"or published."
    )
    software = catalogs.implementations.loc[row["implementation"]]
    st.caption(
        f"What {software['name']} does is known from release {software['releases']}; a newer "
        f"one may differ."
    )
    st.caption(panel.prose(overhead.__doc__.split("\n\n")[1]))
    for name in (*NEEDED[1:], "overhead_bytes", *NVIDIA_SMI_MEMORY):
        panel.formulas(why.formulas[why.formulas["component"] == name], why.facts)
    st.markdown(
        "\n".join(f"- **{FITS[name][0]}**: {meaning}." for name, meaning in FITS_MEANING.items())
    )


def _times(plan: Present, catalogs: Catalogs) -> None:
    """The time of a step or of a request, each with its formulas."""
    times = explain_times(plan.scenario, catalogs, panel.number_text)
    if times.formulas.empty:
        return
    st.header("How long it takes", anchor=False)
    st.markdown("Central values; the range of each time is on Compare & bill, Other ways to pay.")
    for name, chain in times.formulas.groupby("component", sort=False):
        expander(
            plain(panel.time_title(chain.iloc[0])),
            f"why_{name}",
            partial(panel.formulas, chain, times.facts),
        )


def _costs(plan: Present, catalogs: Catalogs) -> None:
    """The bill and the figures beside it, each with its formulas."""
    bill = bill_row({**plan.row, "market": plan.market}, catalogs)
    if is_missing(bill["usd"]):
        return
    st.header("What it costs", anchor=False)
    st.markdown(plain(panel.bill(bill)))
    costs = explain_bill(plan.scenario, plan.market, bill, catalogs, panel.number_text)
    for name, chain in costs.formulas.groupby("component", sort=False):
        expander(
            plain(panel.cost_title(chain.iloc[0])),
            f"why_{name}",
            partial(panel.formulas, chain, costs.facts),
        )
    if plan.row["work"] == "inference":
        st.caption(row_words.TOKEN_TIMES)


def _runs(plan: Present, catalogs: Catalogs) -> None:
    """Draw the verdict on the software, and the rules behind it with their sources."""
    heading, meaning = panel.RUNS_MEANING[plan.row["runs"]]
    st.markdown(plain(f"{heading}. {meaning} {plan.row['note']}"))
    panel.rules(rules_that_apply(plan.scenario, catalogs))
