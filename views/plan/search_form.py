"""The form of the wide search: its allowed sets and limits."""

from functools import partial
from typing import Any

import streamlit as st

from calc.catalogs.load import Catalogs
from calc.columns import GLOSSARY
from calc.cost.job import ends_of
from calc.cost.markets import MARKETS
from calc.evaluate import Row
from calc.scenarios.inputs import CATALOG_OF
from calc.search import widened
from calc.search.widened import (
    LIMIT_NAMES,
    SETS,
    SWITCHES,
    names_for,
    possible,
    settled_sets,
    usual_limits,
)
from views.session import SESSION
from views.session.present_plan import Present
from views.shared.texts import TEXTS
from views.sidebar.by_hand_fields import label_of, words

COUNTS = (1, 2, 4, 8, 16, 32, 64)
OPTIONS: dict[str, tuple] = {
    "gpus": (*COUNTS, 128),
    **dict.fromkeys(("batch", "accumulation_steps"), COUNTS),
    **dict.fromkeys(("tensor_parallel", "pipeline_parallel", "context_parallel"), COUNTS[:4]),
    "tuning": ("full", "lora"),
    "loss": ("", "full", "kernel", "fused"),
    "kv_precision": ("", "fp8", "fp32"),
    "offload": ("none", "optimizer", "states", "activations", "all"),
}


EMPTY = {"loss": "as the software does", "kv_precision": "16-bit"}
LIMITS = TEXTS["search"]["limits"]
COUNTED_LIMITS = ("instances", "step_tokens", "highest_step_tokens", "users")
SWITCH_WORDS = TEXTS["search"]["switch_words"]


def prepare(plan: Present, catalogs: Catalogs) -> None:
    """Before any widget: settle the sets and limits, and refill the form where they changed."""
    state, work = st.session_state, plan.job["work"]
    sets = settled_sets(state.get("allowed") or {}, plan.job, catalogs)
    usual = usual_limits(plan.job)
    if state.get("limits") in (None, state.get("limits_offered")) and state.get("limits") != usual:
        state.update({"limits": usual, "fill_form": True})
    state["limits_offered"] = usual
    if (
        state.get("form_of") != work
        or state.get("allowed") is None
        or state.pop("fill_form", False)
    ):
        state.update({f"allow_{name}": list(sets.get(name, [])) for name in SETS})
        for name in LIMIT_NAMES:
            value, kind = (
                state["limits"].get(name),
                bool if name in SWITCHES else int if name in COUNTED_LIMITS else float,
            )
            state[f"limit_{name}"] = None if value is None and kind is not bool else kind(value)
        state["form_of"] = work
    state["allowed"] = sets


def form(plan: Present, catalogs: Catalogs) -> tuple[dict[str, list], dict[str, float]]:
    """The allowed sets and limits; nothing runs before the button."""
    state, work = st.session_state, plan.job["work"]
    names, limits, regions = names_for(work), _limits(plan.job), catalogs.regions["name"]
    families = catalogs.instances.sort_values(["current", "family"], ascending=[False, True])[
        "family"
    ].unique()
    priced = [
        name for name, market in MARKETS.items() if catalogs.prices[market.price].notna().any()
    ]
    several: dict[str, Any] = {"selection_mode": "multi", **SESSION}
    with (
        st.expander(_summary(plan.job, regions.to_dict()), icon=":material/tune:"),
        st.form("search_form", border=False),
    ):
        left, middle, right = columns = st.columns(3)
        for index, name in enumerate(names):
            column, values = columns[index // -(-len(names) // 3)], _options(name, work, catalogs)
            pill = {
                "format_func": partial(_words, name, catalogs=catalogs),
                "help": GLOSSARY[name].meaning,
                **several,
            }
            column.pills(label_of(name, work), values, key=f"allow_{name}", wrap=True, **pill)
        left.multiselect(
            "Instance families",
            families,
            key="allow_family",
            placeholder="All current ones",
            **SESSION,
        )
        with_name = {region: f"{region} · {name}" for region, name in regions.items()}
        middle.multiselect(
            "Regions",
            list(with_name),
            None,
            with_name.__getitem__,
            key="allow_region",
            placeholder="Anywhere",
            **SESSION,
        )
        right.pills(
            "Markets",
            priced,
            format_func=lambda name: MARKETS[name].title,
            key="allow_market",
            **several,
        )
        for index, (name, title) in enumerate(limits.items()):
            look: dict[str, Any] = (
                {"min_value": 1, "step": 1}
                if name in COUNTED_LIMITS
                else {"min_value": 0.0, "format": "%g"}
            )
            columns[index % 3].number_input(
                title, value=None, placeholder="no limit", key=f"limit_{name}", **look, **SESSION
            )
        for (name, (title, _)), column in zip(SWITCH_WORDS.items(), columns, strict=True):
            column.checkbox(title, key=f"limit_{name}", **SESSION)
        st.form_submit_button(
            "Search",
            type="primary",
            icon=":material/search:",
            on_click=_submitted,
            args=(plan.job,),
            key="go",
        )
    return state["allowed"], state["limits"]


def _submitted(job: Row) -> None:
    """Callback: the form's widgets into the allowed sets and limits."""
    state = st.session_state
    limits = {name: state.get(f"limit_{name}") for name in _limits(job)}
    limits |= {name: int(bool(state.get(f"limit_{name}"))) or None for name in SWITCHES}
    state["allowed"] = {
        name: list(state[f"allow_{name}"]) for name in (*names_for(job["work"]), *widened.PLACES)
    }
    state["limits"] = {name: value for name, value in limits.items() if value is not None}
    state.update({"fill_form": True, "search_now": True})


def _limits(job: Row) -> dict[str, str]:
    """The limits of a job, each with its title; offline work has those of a run but its step."""
    titles_of = 0 if ends_of(job) else 1
    steps = widened.STEPS if job["work"] == "inference" else ()
    return {
        name: titles[titles_of]
        for name, titles in LIMITS.items()
        if titles[titles_of] and name not in steps
    }


def _words(name: str, value: Any, catalogs: Catalogs) -> str:
    """A value as the sidebar has it; an empty one is the software's own choice."""
    return EMPTY[name] if value == "" else words(name, value, catalogs)


def _options(name: str, work: str, catalogs: Catalogs) -> list[Any]:
    """The values to choose from, and those of the sets beyond them."""
    listed = (
        possible(name, work, catalogs)
        if name in ("precision", "implementation")
        else OPTIONS.get(name)
    )
    values = list(
        dict.fromkeys(
            [
                *(listed or getattr(catalogs, CATALOG_OF[name]).index),
                *st.session_state[f"allow_{name}"],
            ]
        )
    )
    return sorted(values) if isinstance(values[0], int) else values


def _summary(job: Row, regions: dict[str, str]) -> str:
    """What may vary, in one line: the expander's label."""
    sets, limits = st.session_state["allowed"], st.session_state["limits"]
    several = [
        f"{len(sets[name])} × {label_of(name, job['work'])}"
        for name in names_for(job["work"])
        if len(sets[name]) > 1
    ]
    titles = {
        name: title if title.startswith("USD") else title[0].lower() + title[1:]
        for name, title in _limits(job).items()
    }
    bounds = [f"{title} {limits[name]:,.10g}" for name, title in titles.items() if name in limits]
    bounds += [words for name, (_, words) in SWITCH_WORDS.items() if limits.get(name)]
    places = (
        f"{', '.join(sets['family']) or 'all instances'}, "
        f"{', '.join(regions[region] for region in sets['region']) or 'anywhere'}"
    )
    return f"What may vary: {', '.join(several)}; {places}. Limits: {', '.join(bounds) or 'none'}"
