"""The pages: those of the top bar in their sections, and old addresses that lead to them."""

from functools import partial
from typing import Any

import streamlit as st

from views.panels import kept_tray

MENU = {  # section of the top bar: file, path, title, icon, help
    "": (
        ("plan", "", "Plan", "space_dashboard", "What to rent for the job, and how to set it"),
        ("compare", "compare", "Compare", "compare_arrows", "Kept scenarios side by side: what differs, by how much, and why"),
        ("bill", "bill", "Bill", "payments", "What the job costs in words for who pays: what is paid, how sure, what is not in it"),
        ("instances", "instances", "Instances", "dns", "Instances and regions side by side"),
        ("explore", "explore", "Explore", "explore", "The plan up to out of memory, over GPUs, methods and tasks; the decision guide"),
        ("bring", "bring", "Bring", "upload_file", "Your config, launch command or out-of-memory message beside the estimate"),
        ("shelf", "shelf", "Shelf", "inventory_2", "Plans kept for the team by name, with their price then and now"),
    ),
    "Reference": (
        ("models_and_prices", "models", "Models and prices", "database", "Every fact with its source and date, searchable"),
        ("method", "method", "Method", "functions", "Every formula with its numbers put in"),
        ("accuracy", "accuracy", "Accuracy", "target", "How far estimates are from what was measured, and where they miss"),
    ),
}
# Of addresses that people have kept.
OLD_PATHS = {"search": "plan", "catalog": "models_and_prices", "models-and-prices": "models_and_prices", "cost": "bill"}


def pages() -> dict[str, list[Any]]:
    """The pages by section, made once per session: only a count behind a title changes."""
    titles = {file: title + kept_tray.counted(file) for entries in MENU.values() for file, _, title, *_ in entries}
    made_for, made = st.session_state.get("pages", (None, None))
    if made_for != titles:
        made = {section: [_page(entry, titles) for entry in entries] for section, entries in MENU.items()}
        made[""] += [_old(path, file) for path, file in OLD_PATHS.items()]
        st.session_state["pages"] = (titles, made)
    return made


def _page(entry: tuple[str, ...], titles: dict[str, str]) -> Any:
    file, path, _, icon, about = entry
    return st.Page(
        f"views/pages/{file}.py", url_path=path, title=titles[file], icon=f":material/{icon}:", help=about, default=file == "plan"
    )


def _old(path: str, file: str) -> Any:
    return st.Page(partial(st.switch_page, f"views/pages/{file}.py"), url_path=path, title=path, visibility="hidden")
