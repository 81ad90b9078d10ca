"""The launch kit of the row on view: the files that start it, by tool."""

from typing import Any

import streamlit as st

from calc.catalogs.load import Catalogs
from calc.files.launch.kit import comment, kits
from calc.files.launch_files import files_of, zipped
from views.elements import segments
from views.session.present_plan import Present
from views.session.remembered import remembered
from views.wording import launch_kit as words
from views.wording.markdown import plain

LANGUAGES = {"json": "json", "yaml": "yaml", "yml": "yaml", "toml": "toml", "sh": "bash", "csv": None}


def panel(now: Present, catalogs: Catalogs) -> None:
    """Closed until it is wanted: the kits are written, and read back, when it is opened."""
    with st.expander("Launch kit: the files that start it", icon=":material/rocket_launch:", on_change="rerun", key="launch_kit") as kit:
        if kit.open:
            _kits(now, catalogs)


def _kits(now: Any, catalogs: Catalogs) -> None:
    result = remembered("kits", (now.row, now.market, catalogs.version), lambda: kits(now.row, catalogs, now.market))
    if not result:
        st.markdown(words.none(now.row, catalogs))
        return
    names = {kit.id: kit.name for kit in result}
    with st.container(horizontal=True, vertical_alignment="bottom"):
        chosen = segments("Tool", names, "kit_tool", default=result[0].id, width="content")
        kit = next((each for each in result if each.id == chosen), result[0])
        files = files_of(kit, now.row, now.market)
        st.download_button(
            "Launch kit, zip",
            zipped(files),
            words.file_name(now.row, kit),
            mime="application/zip",
            on_click="ignore",
            icon=":material/download:",
            key="kit_zip",
        )
    st.markdown(plain(words.summary(kit)))
    if kit.differences:
        st.warning(plain("\n".join(f"- {comment(each, kit.name)}" for each in kit.differences)), icon=":material/rule:")
    for tab, (name, content) in zip(st.tabs(list(files)), files.items(), strict=True):
        with tab:
            st.code(words.shown(name, content), language=LANGUAGES[name.rpartition(".")[2]], wrap_lines=True)
