"""Panels of the Bring page: the fields to fill, the estimate, the lines of the files."""

from typing import Any

import pandas as pd
import streamlit as st

from calc.catalogs.load import Catalogs
from calc.columns import GLOSSARY
from calc.files.brought import Brought, brought, sorted_documents
from calc.files.configs.documents import names_of_tools
from calc.files.configs.fields import tools
from calc.files.configs.lines import STANDINGS, Line
from calc.files.configs.problem import MOST_DOCUMENTS, ConfigProblem
from calc.models.huggingface.config import ConfigError
from calc.say.numbers import counted, gib
from calc.say.setting import name_of, setting
from calc.say.verdict import memory_of
from calc.search.compare import in_words
from views.charts.tank import tank_svg
from views.plan.memory import components
from views.session import SESSION, job_state, kept
from views.session import catalogs as session_catalogs
from views.session.remembered import remembered
from views.shared import row_words
from views.shared.elements import button
from views.shared.markdown import plain
from views.shared.row_words import figures
from views.shared.tables import TEXT, grid
from views.shared.texts import TEXTS
from views.shared.theme import Ink

EXAMPLE = "accelerate launch --num_processes 8 train.py --model_name_or_path Qwen/Qwen3-8B --max_length 4096 --bf16 True"
MESSAGE = "CUDA out of memory. Tried to allocate 424.00 MiB. GPU 0 has a total capacity of 21.96 GiB of which 163.12 MiB is free. ..."
FILES_HELP = TEXTS["brought"]["files_help"]
TAKE_HELP = TEXTS["brought"]["take_help"]
ORDER = ("unused", "read", "open", "assumed", "idle", "aside")
SHORT = TEXTS["brought"]["short"]
SAID = TEXTS["brought"]["said"]
WIDTHS = TEXTS["brought"]["widths"]


def documents_and_logs() -> tuple[list[tuple[Any, ...]], list[bytes]]:
    """The documents of one run, and the messages and logs of its failure."""
    left, right = st.columns(2, gap="medium")
    with left:
        text = st.text_area("A config or a launch command", key="brought_text", height=150, placeholder=EXAMPLE, **SESSION)
    with right:
        log = st.text_area("An out-of-memory message or a log", key="brought_log", height=150, placeholder=MESSAGE, **SESSION)
    files = st.file_uploader("Or the files, all of one run", key="brought_files", accept_multiple_files=True, help=FILES_HELP)
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
        taken = button("Make it the plan", _take, result, icon="arrow_forward", type="primary", key="take_brought", help=TAKE_HELP)
        button("Keep", _keep, result, icon="bookmark_add", disabled=kept.is_full(), key="keep_brought")
        st.caption(plain(_goes_on(result)))
    if taken:
        st.switch_page("views/plan/page.py")


def lines(result: Brought) -> None:
    """Every field of the files and what became of it; fields without a place come first."""
    st.subheader("Line by line", anchor=False)
    st.markdown(plain(_summary(result.lines)))
    table = pd.DataFrame([_line(field, result) for field in sorted(result.lines, key=lambda line: ORDER.index(line.standing))])
    columns = {name: TEXT(name, width=width) for name, width in WIDTHS.items()}
    grid(table, columns, "Every field and what became of it", "brought_lines")


def _take(result: Brought) -> None:
    """Callback: the run becomes the plan; what its files leave open is the answer's choice."""
    _add_models(result)
    job_state.adopt(result.scenario, "", result.catalogs)


def _keep(result: Brought) -> None:
    """Callback: kept as the files have it."""
    _add_models(result)
    kept.keep(result.row, _name(result))


def _add_models(result: Brought) -> None:
    for model, entry in result.models.items():
        session_catalogs.add_model(model, entry)


def heading(run: Brought | None) -> str:
    """TRL: training Llama 3.1 8B takes 23.1 GiB per GPU."""
    if run is None:
        return "Bring what you have"
    row = run.row
    work = "serving" if row["work"] == "inference" else "training"
    memory = row["memory_bytes"]
    if memory != memory:
        return f"{_name(run)} cannot be estimated yet"
    return f"{_name(run)}: {work} {name_of('model', row['model'], run.catalogs)} takes {gib(figures(row)['memory_gib'])} per GPU"


def _name(run: Brought) -> str:
    """TRL with accelerate config: the tools whose files were given."""
    return " with ".join(tools()[tool].name for tool in dict.fromkeys(run.source_tool.split("+")) if tool)


def _goes_on(run: Brought) -> str:
    """What the plan will choose by itself."""
    names = {"instance": "the instance", "gpus": "how many GPUs", "batch": "the micro-batch"}
    left = [name for column, name in names.items() if column not in run.scenario]
    return f"Left open for the plan to choose: {', '.join(left)}." if left else ""


def _summary(lines: list[Line]) -> str:
    """33 fields in the files: 11 read, 22 without bearing; 5 choices are defaults."""
    inside, outside = [[line.standing for line in lines if bool(line.file) is is_said] for is_said in (True, False)]
    sentence = ", ".join(f"{inside.count(standing)} {SAID[standing]}" for standing in STANDINGS if standing in inside)
    more = " and ".join(f"{outside.count(standing)} {SAID[standing]}" for standing in STANDINGS if standing in outside)
    return f"{counted(len(inside), 'field')} in the files: {sentence}." + (f" Beside them {more}." if more else "")


def _line(line: Line, run: Brought) -> dict[str, str]:
    """One field as a row of the table."""
    settled = [_settled(column, value, run) for column, value in line.columns.items()]
    default = line.standing == "open" and not line.file
    cells = (
        line.field if line.file else "",
        line.text,
        SHORT[line.standing],
        ", ".join(settled),
        line.file or ("" if default else line.field),
    )
    return dict(zip(WIDTHS, cells, strict=True))


def _settled(column: str, value: str, run: Brought) -> str:
    """Precision: BF16 mixed; of a column that is left open what the estimate takes."""
    text = in_words(column, run.row, run.catalogs) or value
    return f"{GLOSSARY[column].label}: {text or 'as usual'}"
