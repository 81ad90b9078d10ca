"""The Explore page: the plan varied in one thing at a time, the decision guide, ready jobs."""

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from calc.plan.figures import figures
from calc.say.job import job_sentence
from calc.say.numbers import gib
from calc.say.place import card_name, place
from calc.say.setting import name_of, setting
from calc.say.verdict import range_text
from views.session import catalogs as session_catalogs
from views.session.present_plan import as_set, present
from views.shared.elements import theme_ink
from views.shared.markdown import plain
from views.understand import comparisons_words as words
from views.understand import explore_panels as explore


def draw(title: DeltaGenerator) -> None:
    """The tab; its heading goes above the tabs, into `title`."""
    catalogs = session_catalogs.catalogs()
    ink = theme_ink()
    plan = as_set(present(catalogs), catalogs)

    if plan.row["instance"]:
        where = f" on {place(plan.row)}"
    elif plan.row["gpu"]:
        where = f" on {card_name(plan.row['gpu'], catalogs)}"
    else:
        where = ""
    heading = f"Explore around {name_of('model', plan.row['model'], catalogs)}{where}"
    title.title(plain(heading), anchor=False)
    if plan.row["memory_bytes"] != plan.row["memory_bytes"]:
        st.info(words.NOTHING, icon=":material/info:")
        return
    numbers = figures(plan.row)
    around = (
        f"From the plan: {gib(numbers.memory_gib)} per GPU "
        f"({range_text(numbers.low_gib, numbers.high_gib)})"
    )
    st.markdown(
        plain(f"{job_sentence(plan.job, catalogs)}  \n{around} · {setting(plan.row, catalogs)}")
    )
    explore.tabs(plan, ink, catalogs)
