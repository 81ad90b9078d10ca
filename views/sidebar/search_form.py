"""The form of the wide search: its question, allowed sets and limits."""

from functools import partial
from typing import Any

import streamlit as st

from calc.catalogs.load import Catalogs
from calc.columns import GLOSSARY
from calc.cost.markets import MARKETS
from calc.say.setting import choice, name_of
from calc.scenarios.inputs import CATALOG_OF
from calc.search import widened
from calc.search.widened import LIMIT_NAMES, SETS, SWITCHES, names_for, possible, settled_sets, usual_limits, usual_sets
from calc.units import WEEK_HOURS
from views.elements import segments
from views.session import SESSION, job_state
from views.session.present_plan import Present
from views.wording import search as search_words

QUESTIONS = {"cheapest": "Least money", "budget": "Within a budget per hour", "week": "LoRA within a week", "users": "Serve users at once"}
USERS, PACE_SECONDS = 20, 0.05  # 20 tokens a second to each user, faster than anyone reads
COUNTS = (1, 2, 4, 8, 16, 32, 64)
COUNT_OPTIONS = {"gpus": (*COUNTS, 128), "batch": COUNTS, "accumulation_steps": COUNTS}
COUNT_OPTIONS |= dict.fromkeys(("tensor_parallel", "pipeline_parallel", "context_parallel"), COUNTS[:4])
WORD_OPTIONS = {
    "tuning": ("full", "lora"),
    "loss": ("", "full", "kernel", "fused"),
    "kv_precision": ("", "fp8", "fp32"),
    "offload": ("none", "optimizer", "states", "activations", "all"),
}
OPTION_WORDS = {
    ("loss", ""): "as the software does",
    ("tuning", "full"): "all weights",
    ("tuning", "lora"): "LoRA",
    ("offload", "none"): "nothing",
    ("recompute", "none"): "none",
}
SWITCH_WORDS = {
    "surely": "Only what fits with the whole range of the estimate",
    "slow_end": "Keep the limits on time at the slow end of the range",
    "unverified": "Also what is emulated, or not known to run",
}
WHOLE_LIMITS = ("instances", "step_tokens", "highest_step_tokens", "users")


def prepare(now: Present, catalogs: Catalogs) -> None:
    """Before any widget: settle the sets and limits, and refill the form where they changed."""
    state, work = st.session_state, now.job["work"]
    sets = settled_sets(state.get("allowed") or {}, now.job, catalogs)
    usual = usual_limits(now.job)
    if state.get("limits") in (None, state.get("limits_offered")) and state.get("limits") != usual:
        state.update({"limits": usual, "fill_form": True})
    state["limits_offered"] = usual
    if state.get("form_of") != work or state.get("allowed") is None or state.pop("fill_form", False):
        state.update({f"allow_{name}": list(sets.get(name, [])) for name in SETS})
        for name in LIMIT_NAMES:
            value = state["limits"].get(name)
            state[f"limit_{name}"] = bool(value) if name in SWITCHES else _number(name, value)
        state["form_of"] = work
    state["allowed"] = sets


def _number(name: str, value: Any) -> Any:
    return None if value is None else int(value) if name in WHOLE_LIMITS else float(value)


def question(now: Present, catalogs: Catalogs) -> str:
    """The question, whose answer fills the form; returns its id."""
    st.session_state.setdefault("question", "cheapest")
    return segments("Question", QUESTIONS, "question", label_visibility="collapsed", on_change=_answer, args=(now.job, catalogs), **SESSION)


def _answer(job: Any, catalogs: Catalogs) -> None:
    """Callback: the sets and limits of a question, and the work that it is about."""
    state, kind = st.session_state, st.session_state["question"]
    if kind == "budget":
        return
    sets: dict[str, Any] = {}
    limits: dict[str, float] = {}
    if kind == "week":
        job_state.choose(goal="tune", method="lora")
        job = job | {"work": "training", "method": "lora", "tuning": "", "precision": list(widened.LORA_FORMATS)}
        limits = {"hours": WEEK_HOURS}
    elif kind == "users":
        job_state.choose(goal="serve", users=USERS)
        job = job | {"work": "inference", "users": USERS, "requests_per_second": None}
        limits, sets = {"output_token_seconds": PACE_SECONDS}, {"implementation": ["vllm"]}
    sets = usual_sets(job, catalogs) | sets
    state.update({"allowed": sets, "limits": usual_limits(job) | limits, "fill_form": True, "search_now": True})


def form(now: Present, catalogs: Catalogs) -> tuple[dict[str, list], dict[str, float]]:
    """The allowed sets and limits; nothing runs before the button."""
    state, work = st.session_state, now.job["work"]
    with st.expander(_summary(work), icon=":material/tune:"), st.form("search_form", border=False):
        names = names_for(work)
        columns = st.columns(3)
        third = -(-len(names) // 3)
        for at, name in enumerate(names):
            columns[at // third].pills(
                _label(name, work),
                _options(name, work, catalogs),
                selection_mode="multi",
                format_func=partial(_option_words, name, catalogs=catalogs),
                key=f"allow_{name}",
                wrap=True,
                help=GLOSSARY[name].meaning,
                **SESSION,
            )
        _places(catalogs, *columns)
        for at, name in enumerate(_limits(work)):
            _limit(columns[at % 3], name, work)
        for name, column in zip(SWITCH_WORDS, columns, strict=True):
            column.checkbox(SWITCH_WORDS[name], key=f"limit_{name}", **SESSION)
        st.form_submit_button("Search", type="primary", icon=":material/search:", on_click=_submitted, args=(work,), key="go")
    return state["allowed"], state["limits"]


def _limits(work: Any) -> Any:
    return [name for name, titles in search_words.LIMITS.items() if titles[work != "training"]]


def _places(catalogs: Catalogs, left: Any, middle: Any, right: Any) -> None:
    families = catalogs.instances.sort_values(["current", "family"], ascending=[False, True])["family"].unique()
    regions = catalogs.regions["name"]
    left.multiselect("Instance families", families, key="allow_family", placeholder="All current ones", **SESSION)
    middle.multiselect(
        "Regions",
        list(regions.index),
        format_func=lambda region: f"{region} · {regions[region]}",
        key="allow_region",
        placeholder="Anywhere",
        **SESSION,
    )
    priced = [name for name, market in MARKETS.items() if catalogs.prices[market.price].notna().any()]
    right.pills("Markets", priced, selection_mode="multi", format_func=lambda name: MARKETS[name].title, key="allow_market", **SESSION)


def _limit(column: Any, name: str, work: str) -> None:
    counts = name in WHOLE_LIMITS
    column.number_input(
        search_words.LIMITS[name][work != "training"],
        min_value=1 if counts else 0.0,
        value=None,
        step=1 if counts else None,
        format=None if counts else "%g",
        placeholder="no limit",
        key=f"limit_{name}",
        **SESSION,
    )


def _submitted(work: str) -> None:
    """Callback: the form's widgets into the allowed sets and limits."""
    state = st.session_state
    limits = {name: state.get(f"limit_{name}") for name in _limits(work)}
    limits |= {name: int(bool(state.get(f"limit_{name}"))) or None for name in SWITCHES}
    state["allowed"] = {name: list(state[f"allow_{name}"]) for name in (*names_for(work), *widened.PLACES)}
    state["limits"] = {name: value for name, value in limits.items() if value is not None}
    state.update({"fill_form": True, "search_now": True})


def _label(name: str, work: str) -> str:
    return "Sequences at once" if name == "batch" and work == "inference" else GLOSSARY[name].label


def _options(name: str, work: str, catalogs: Catalogs) -> list[int | str]:
    """What may be chosen, with what the sets hold beyond the usual."""
    chosen = st.session_state[f"allow_{name}"]
    if name in COUNT_OPTIONS:
        return sorted({*COUNT_OPTIONS[name], *chosen})
    if name in ("precision", "implementation"):
        options: Any = possible(name, work, catalogs)
    else:
        options = WORD_OPTIONS.get(name) or getattr(catalogs, CATALOG_OF[name]).index
    return list(dict.fromkeys([*options, *chosen]))


def _option_words(name: str, value: Any, catalogs: Catalogs) -> str:
    if isinstance(value, int):
        return f"{value:,}"
    if name == "kv_precision":
        return value or "16-bit"
    if name == "implementation":
        return choice(name, value, catalogs)
    return OPTION_WORDS.get((name, value)) or name_of(name, value, catalogs)


def _summary(work: Any) -> Any:
    """What may vary, in one line: the expander's label."""
    sets, limits = st.session_state["allowed"], st.session_state["limits"]
    several = [f"{len(sets[name])} × {_label(name, work)}" for name in names_for(work) if len(sets[name]) > 1]
    where = ", ".join(sets["region"]) if sets["region"] else "anywhere"
    families = ", ".join(sets["family"]) if sets["family"] else "all instances"
    titles = {name: search_words.LIMITS[name][work != "training"] for name in _limits(work)}
    bounds = [
        f"{titles[name][0].lower() + titles[name][1:]} {limits[name]:,.10g}".replace("uSD", "USD") for name in titles if name in limits
    ]
    switches = {"surely": "the whole range must fit", "slow_end": "times at their slow end"}
    switches |= {"unverified": "also what is emulated or not known to run"}
    bounds += [words for name, words in switches.items() if limits.get(name)]
    return f"What may vary: {', '.join(several)}; {families}, {where}. Limits: {', '.join(bounds) or 'none'}"
