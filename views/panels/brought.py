"""Panels of the Bring page: the fields to fill, the estimate, the lines of the files."""

from typing import Any

import pandas as pd
import streamlit as st

from calc.catalogs.load import Catalogs
from calc.files.brought import Brought, brought, sorted_documents
from calc.files.configs.documents import names_of_tools
from calc.files.configs.problem import MOST_DOCUMENTS, ConfigProblem
from calc.models.huggingface.config import ConfigError
from calc.say.setting import setting
from calc.say.verdict import memory_of
from views.charts.tank import tank_svg
from views.elements import button
from views.panels.looked_at import components
from views.session import SESSION, job_state, kept, own_models
from views.session.remembered import remembered
from views.tables import TEXT, grid
from views.theme import Ink
from views.wording import brought as words
from views.wording import rows as row_words
from views.wording.brought import ORDER
from views.wording.markdown import plain


def given() -> tuple[list[tuple[Any, ...]], list[bytes]]:
    """The documents of one run, and the messages and logs of its failure."""
    left, right = st.columns(2, gap="medium")
    with left:
        text = st.text_area("A config or a launch command", key="brought_text", height=150, placeholder=words.EXAMPLE, **SESSION)
    with right:
        log = st.text_area("An out-of-memory message or a log", key="brought_log", height=150, placeholder=words.MESSAGE, **SESSION)
    files = st.file_uploader("Or the files, all of one run", key="brought_files", accept_multiple_files=True, help=words.FILES_HELP)
    what_is_read = (
        f"Configs and commands of {names_of_tools()}; torch's messages and memory_summary, start-up logs of vLLM and SGLang. "
        "Text only: nothing of it is run."
    )
    st.caption(what_is_read)
    configs, logs = sorted_documents([(file.name, file.getvalue()) for file in files[:MOST_DOCUMENTS]])
    if text.strip():
        configs.insert(0, ("pasted", text.encode()))
    return configs, [content for _, content in logs] + ([log.encode()] if log.strip() else [])


def read(documents: list[tuple[str, bytes]], catalogs: Catalogs) -> Brought | None:
    """The run that the documents describe, read once; a fault costs one sentence."""
    if not documents:
        return None
    try:
        return remembered("brought", (documents, catalogs.version), lambda: brought(documents, catalogs))
    except (ConfigProblem, ConfigError) as error:
        st.error(plain(str(error)), icon=":material/block:")
        return None


def estimate(result: Brought, ink: Ink) -> None:
    """The memory of the run as it stands, and the two ways on: into the plan, or beside it."""
    row = result.row
    if row["problem"]:
        st.warning(plain(row["problem"]), icon=":material/rule:")
    if row["memory_bytes"] != row["memory_bytes"]:
        return
    st.markdown(plain(f"{memory_of(row)} · {setting(row, result.catalogs)}"))
    st.image(tank_svg(row, ink, 720, 34), width="stretch", alt=row_words.tank_alt(row))
    st.markdown(components(row))
    with st.container(horizontal=True, vertical_alignment="center"):
        taken = button("Make it the plan", _take, result, icon="arrow_forward", type="primary", key="take_brought", help=words.TAKE_HELP)
        button("Keep", _keep, result, icon="bookmark_add", disabled=kept.is_full(), key="keep_brought")
        st.caption(plain(words.goes_on(result)))
    if taken:
        st.switch_page("views/pages/plan.py")


def lines(result: Brought) -> None:
    """Every field of the files and what became of it; fields without a place come first."""
    st.subheader("Line by line", anchor=False)
    st.markdown(plain(words.summary(result.lines)))
    table = pd.DataFrame([words.line(each, result) for each in sorted(result.lines, key=lambda line: ORDER.index(line.standing))])
    columns = {name: TEXT(name, width=width) for name, width in words.WIDTHS.items()}
    grid(table, columns, "Every field and what became of it", "brought_lines")


def _take(result: Brought) -> None:
    """Callback: the run becomes the plan; what its files leave open is the answer's choice."""
    _add_models(result)
    job_state.adopt(result.scenario, "", result.catalogs)


def _keep(result: Brought) -> None:
    """Callback: kept as the files have it."""
    _add_models(result)
    kept.keep(result.row, words.name(result))


def _add_models(result: Brought) -> None:
    for model, entry in result.models.items():
        own_models.add_model(model, entry)
