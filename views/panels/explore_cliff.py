"""The way into out of memory: memory over batch or sequence under the cards' ceilings."""

from functools import partial

import streamlit as st

from calc.catalogs.load import Catalogs
from calc.charts import tables as chart_tables
from calc.charts.lines import chart_lines
from calc.plan.figures import records
from calc.say.place import card_name
from calc.search import comparisons
from views.charts import lines
from views.charts.base import THREE
from views.elements import segments
from views.panels.chart import draw
from views.panels.comparisons import use
from views.session import job_state
from views.session.present_plan import Present
from views.session.remembered import remembered
from views.theme import Ink, verdict_words
from views.wording import explore as words
from views.wording.markdown import plain

MOST_LINES = 4


def cliff(plan: Present, ink: Ink, catalogs: Catalogs) -> None:
    """The lines, and the largest that fits of each."""
    work = plan.scenario["work"]
    with st.container(horizontal=True, vertical_alignment="bottom"):
        over = segments("Over", words.OVER[work], "cliff_over", default="batch")
        by = segments("A line for each", words.BY[work], "cliff_by", default="precision")
        cards = st.multiselect(
            "Ceilings",
            comparisons.cards_on_aws(catalogs),
            default=[plan.row["gpu"]] if plan.row["gpu"] in comparisons.cards_on_aws(catalogs) else [],
            format_func=partial(card_name, catalogs=catalogs),
            key="cliff_cards",
            max_selections=MOST_LINES,
        )
    values = _values(by, plan, catalogs)
    key = (plan.scenario, plan.market, catalogs.version, over, by, values)
    rows = remembered("cliff", key, lambda: comparisons.over_doublings(plan.scenario, plan.market, catalogs, over, by, values))
    most = remembered("cliff_most", key, lambda: comparisons.largest_by_value(plan.scenario, catalogs, by, values))
    names = {value: words.line(by, value, catalogs) for value in values}
    shown = chart_tables.for_screen(rows, ["memory_gib"])
    made = chart_lines(rows, rows[over], shown["memory_gib"], names, chart_tables.ceilings(cards, catalogs))
    table = made.table.assign(verdict=verdict_words(made.table["fits"]))
    title = f"Memory per GPU over {words.OVER[work][over].lower()}, log scales"
    spec = lines.over(ink, title, (words.OVER[work][over].lower(), "d"), ("GiB per GPU", THREE))
    draw(spec, table, words.cliff_alt(most, over, names, by), "cliff")
    st.markdown(plain(words.largest(most, over, by, names, plan.row)))
    labels = [f"{names[row['line']]}, {words.OVER[work][over].lower()} {row[over]:,.0f}" for row in records(rows)]
    use("cliff", rows, labels, plan, catalogs)


def _values(by: str, plan: Present, catalogs: Catalogs) -> list[str]:
    """The scenario's own value first, then the usual ones that can do its work."""
    able = {
        "precision": job_state.possible_precisions(catalogs),
        "optimizer": list(catalogs.optimizers.index),
        "recompute": list(catalogs.recomputes.index),
        "kv_precision": ["", "fp8"],
    }[by]
    usual = [value for value in words.USUAL[by] if value in able]
    return list(dict.fromkeys([plan.scenario[by], *usual]))[:MOST_LINES]
