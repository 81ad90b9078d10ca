"""What a search may vary: the question asked, the form of allowed sets and limits, both in session and link."""

import streamlit as st

from calc.columns import GLOSSARY
from calc.cost.markets import MARKETS, PLAN_MARKETS
from calc.say.setting import choice, name_of
from calc.scenarios.inputs import CATALOG_OF
from calc.search import questions, space
from calc.search.limits import LIMIT_NAMES, usual_limits
from views.session import job_state
from views.wording import search as search_words

SESSION = {"persist_state": "session"}
QUESTIONS = {"cheapest": "Least money", "budget": "Within a budget per hour", "week": "LoRA within a week", "users": "Serve users at once"}
USERS, PACE_SECONDS = 20, 0.05  # 20 tokens a second to each user, faster than anyone reads
COUNT_OPTIONS = {
    "gpus": (1, 2, 4, 8, 16, 32, 64, 128),
    "tensor_parallel": (1, 2, 4, 8),
    "pipeline_parallel": (1, 2, 4, 8),
    "context_parallel": (1, 2, 4, 8),
    "batch": (1, 2, 4, 8, 16, 32, 64),
    "accumulation_steps": (1, 2, 4, 8, 16, 32, 64),
}
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
CHECKED_LIMITS = ("surely", "slow_end", "unverified")
WHOLE_LIMITS = ("instances", "step_tokens", "highest_step_tokens", "users")
SHOWN_LIMITS = {
    "training": ("instances", "usd_per_hour", "usd", "hours", "step_tokens", "highest_step_tokens"),
    "inference": ("instances", "usd_per_hour", "usd", "users", "first_token_seconds", "output_token_seconds"),
}


def prepare(now, catalogs):
    """Before any widget: the sets and limits of this work in the session, and in the form where they changed."""
    state, work = st.session_state, now.scenario["work"]
    sets = space.settled(state.get("allowed") or _of_job(now.job, catalogs), now.scenario, catalogs)
    usual = usual_limits(now.scenario, catalogs)
    if state.get("limits") in (None, state.get("limits_offered")) and state.get("limits") != usual:
        state.update({"limits": usual, "fill_form": True})
    state["limits_offered"] = usual
    if state.get("form_of") != work or state.get("allowed") is None or state.pop("fill_form", False):
        for name in space.NAMES:
            state[f"allow_{name}"] = list(sets.get(name, []))
        for name in LIMIT_NAMES:
            given = state["limits"].get(name)
            state[f"limit_{name}"] = None if given is None else int(given) if name in WHOLE_LIMITS else float(given)
        for name in CHECKED_LIMITS:
            state[f"limit_{name}"] = bool(state["limits"].get(name))
        state["form_of"] = work
    state["allowed"] = sets


def _of_job(job, catalogs):
    """The markets and regions that the job allows; no region: anywhere."""
    regions = job["regions"].split("+")
    return {"market": job["markets"].split("+"), "region": [] if len(regions) == len(catalogs.regions) else regions}


def question(now, catalogs):
    """The question, whose answer fills the form; returns its id."""
    st.session_state.setdefault("question", "cheapest")
    return st.segmented_control(
        "Question",
        list(QUESTIONS),
        format_func=QUESTIONS.get,
        key="question",
        required=True,
        label_visibility="collapsed",
        on_change=_asked,
        args=(now.scenario, catalogs),
        **SESSION,
    )


def _asked(scenario, catalogs):
    """Callback: the sets and limits of a question, and the plan's work where the question is of another."""
    state, kind = st.session_state, st.session_state["question"]
    if kind == "budget":
        return
    if kind == "week":
        _, sets, limits = questions.lora_within_a_week(scenario, catalogs)
        job_state.choose(goal="tune", method="lora")
    elif kind == "users":
        _, sets, limits = questions.serving_users(scenario, catalogs, USERS)
        limits["output_token_seconds"] = PACE_SECONDS
        job_state.choose(goal="serve", users=USERS)
    else:
        sets, limits = space.usual(scenario), usual_limits(scenario, catalogs)
    state.update({"allowed": sets, "limits": limits, "fill_form": True, "search_now": True})


def form(now, catalogs):
    """The allowed sets and limits; nothing runs before the button."""
    state, work = st.session_state, now.scenario["work"]
    with st.expander(_told(work), icon=":material/tune:"), st.form("search_form", border=False):
        names = space.names_for(work)
        left, middle, right = st.columns(3)
        third = -(-len(names) // 3)
        for at, name in enumerate(names):
            with (left, middle, right)[at // third]:
                st.pills(
                    _label(name, work),
                    _options(name, work, catalogs),
                    selection_mode="multi",
                    format_func=lambda value, name=name: _said(name, value, catalogs),
                    key=f"allow_{name}",
                    wrap=True,
                    help=GLOSSARY[name].meaning,
                    **SESSION,
                )
        _places(catalogs, left, middle, right)
        shown = SHOWN_LIMITS[work]
        for at, name in enumerate(shown):
            with (left, middle, right)[at % 3]:
                _limit(name, work)
        left.checkbox("Only what fits with the whole range of the estimate", key="limit_surely", **SESSION)
        middle.checkbox("Keep the limits on time at the slow end of the range", key="limit_slow_end", **SESSION)
        right.checkbox("Also what is emulated, or not known to run", key="limit_unverified", **SESSION)
        st.form_submit_button("Search", type="primary", icon=":material/search:", on_click=_submitted, args=(work, now.scenario), key="go")
    return state["allowed"], state["limits"]


def _places(catalogs, left, middle, right):
    families = catalogs.instances.sort_values(["current", "family"], ascending=[False, True])["family"].unique()
    regions = catalogs.regions["name"]
    with left:
        st.multiselect("Instance families", families, key="allow_family", placeholder="All current ones", **SESSION)
    with middle:
        st.multiselect(
            "Regions",
            list(regions.index),
            format_func=lambda each: f"{each} · {regions[each]}",
            key="allow_region",
            placeholder="Anywhere",
            **SESSION,
        )
    with right:
        priced = [name for name, market in MARKETS.items() if catalogs.prices[market.price].notna().any()]
        st.pills("Markets", priced, selection_mode="multi", format_func=lambda name: MARKETS[name].title, key="allow_market", **SESSION)


def _limit(name, work):
    whole = name in WHOLE_LIMITS
    st.number_input(
        search_words.LIMITS[name][0 if work == "training" else 1],
        min_value=1 if whole else 0.0,
        value=None,
        step=1 if whole else None,
        format=None if whole else "%g",
        placeholder="no limit",
        key=f"limit_{name}",
        **SESSION,
    )


def _submitted(work, scenario):
    """Callback: the form's widgets into the allowed sets and limits; an emptied choice keeps the plan's own value."""
    state = st.session_state
    sets = {}
    for name in (*space.names_for(work), *space.PLACES):
        values = list(state[f"allow_{name}"])
        sets[name] = values if values or name in ("family", "region") else _own(name, scenario)
        if not values and sets[name]:
            state[f"allow_{name}"] = sets[name]
    limits = {name: state.get(f"limit_{name}") for name in SHOWN_LIMITS[work]}
    limits |= {name: int(bool(state.get(f"limit_{name}"))) or None for name in CHECKED_LIMITS}
    state["allowed"] = sets
    state["limits"] = {name: value for name, value in limits.items() if value is not None}
    state["search_now"] = True


def _own(name, scenario):
    if name == "market":
        return list(PLAN_MARKETS)
    value = scenario[name]
    return [int(value) if isinstance(value, float) else value]


def _label(name, work):
    return "Sequences at once" if name == "batch" and work == "inference" else GLOSSARY[name].label


def _options(name, work, catalogs):
    """What may be chosen, with what the sets hold beyond the usual."""
    if name in ("precision", "implementation"):
        options = space.possible(name, work, catalogs)
    elif name in CATALOG_OF:
        options = list(getattr(catalogs, CATALOG_OF[name]).index)
    elif name in COUNT_OPTIONS:
        return sorted({*COUNT_OPTIONS[name], *st.session_state[f"allow_{name}"]})
    else:
        options = list(WORD_OPTIONS[name])
    return options + [each for each in st.session_state[f"allow_{name}"] if each not in options]


def _said(name, value, catalogs):
    if isinstance(value, int):
        return f"{value:,}"
    if name == "kv_precision":
        return value or "16-bit"
    if name == "implementation":
        return choice(name, value, catalogs)
    return OPTION_WORDS.get((name, value)) or name_of(name, value, catalogs)


def _told(work):
    """What may vary, in one line: the expander's label."""
    sets, limits = st.session_state["allowed"], st.session_state["limits"]
    several = [f"{len(sets[name])} × {_label(name, work)}" for name in space.names_for(work) if len(sets[name]) > 1]
    where = ", ".join(sets["region"]) if sets["region"] else "anywhere"
    families = ", ".join(sets["family"]) if sets["family"] else "all instances"
    said = {name: words[work != "training"] for name, words in search_words.LIMITS.items()}
    bounds = [
        f"{said[name][0].lower() + said[name][1:]} {value:,.10g}".replace("uSD", "USD") for name, value in limits.items() if said.get(name)
    ]
    bounds += ["the whole range must fit"] if limits.get("surely") else []
    bounds += ["times at their slow end"] if limits.get("slow_end") else []
    bounds += ["also what is emulated or not known to run"] if limits.get("unverified") else []
    return f"What may vary: {', '.join(several)}; {families}, {where}. Limits: {', '.join(bounds) or 'none'}"
