"""The pages of the top bar, and earlier addresses that lead to them."""

from functools import partial
from typing import Any

import streamlit as st

from views.session import kept_answers, tabs

PAGES = (  # folder, address, title, help
    ("plan", "", "Plan", "What to rent for the job, and how to set it"),
    (
        "compare_and_bill",
        "compare",
        "Compare & bill",
        "Kept answers by job, what they cost together, other ways to pay, the team's shelf",
    ),
    (
        "understand",
        "understand",
        "Understand",
        "Where the memory goes, the plan varied, every formula",
    ),
    (
        "catalog",
        "catalog",
        "Catalog",
        "Instances, models, prices and how far the estimates are from measurements",
    ),
)
FOLDERS = {address: folder for folder, address, *_ in PAGES}
EARLIER = {  # address -> the tab that it opens today; empty: the Plan page
    "search": "",
    "bill": "pay",
    "cost": "pay",
    "shelf": "shelf",
    "explore": "explore",
    "method": "method",
    "instances": "instances",
    "models": "models",
    "models-and-prices": "models",
    "accuracy": "accuracy",
}


def pages() -> list[Any]:
    """The pages, made once per session: only the count behind a title changes."""
    many = len(kept_answers.entries())
    made_for, menu = st.session_state.get("pages", (None, None))
    if made_for != many:
        menu = [
            _page(
                folder,
                address,
                f"{title} ({many})" if many and address == "compare" else title,
                about,
            )
            for folder, address, title, about in PAGES
        ]
        menu += [
            st.Page(
                "views/your_files/page.py",
                url_path="bring",
                title="Your files",
                visibility="hidden",
            )
        ]
        menu += [
            st.Page(
                partial(_opened_elsewhere, tab),
                url_path=address,
                title=address,
                visibility="hidden",
            )
            for address, tab in EARLIER.items()
        ]
        st.session_state["pages"] = (many, menu)
    return menu


def _page(folder: str, address: str, title: str, about: str) -> Any:
    return st.Page(
        f"views/{folder}/page.py", url_path=address, title=title, help=about, default=not address
    )


def _opened_elsewhere(tab: str) -> None:
    """An earlier address opens the tab that has its content today."""
    if tab:
        tabs.open_tab(tab)
    st.switch_page(f"views/{FOLDERS[tabs.page_of(tab) if tab else '']}/page.py")
