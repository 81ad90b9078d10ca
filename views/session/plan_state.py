"""What is chosen: the first visit, the link read once per session, choices kept possible, the link written.

The only file that knows where the session holds the plan; views read `plan()`, and set by widget (KEYS) or `choose`.
"""

from collections import namedtuple
from typing import NamedTuple

import streamlit as st

import calc
from calc.doors import link
from calc.models.huggingface.config import ConfigError
from calc.scenarios.inputs import DEFAULTS, SAME_AS_SEQUENCE, inputs_by_name
from calc.search.space import possible
from views.session import extra_state

KV_FORMATS = ("", "fp8", "int8", "fp32", "bf16", "fp16")
LISTS = ("precision", "optimizer", "kv_precision", "gpus", "instance")
VIEW = {"market": "on-demand", "period": "hour", "layout": "divided"}

# A plan that people know, answered before anything is clicked.
FIRST_VISIT = {
    **DEFAULTS,
    **VIEW,
    "model": "llama-3.1-8b",
    "precision": ["bf16-mixed"],
    "optimizer": ["adamw", "adamw-8bit"],
    "kv_precision": [""],
    "gpus": [8],
    "instance": ["g6e.48xlarge", "p4d.24xlarge", "p4de.24xlarge", "p5.48xlarge", "p5en.48xlarge"],
    "sharding": "zero3",
    "sequence_tokens": 4096,
}
# What a kind of work never reads stays chosen for the way back, and out of its scenarios.
TRAINING_ONLY = (
    *("tuning", "lora_rank", "lora_targets", "adapter_precision", "optimizer", "optimizer_kernel", "gradient_precision"),
    *("recompute", "loss", "reduce_precision", "accumulation_steps", "sharding", "offload", "train_tokens"),
)
INFERENCE_ONLY = ("logits", "prompt_tokens", "kv_precision", "max_sequences", "max_batched_tokens")
HELD_AS = {"count": int, "number": float, "amount": float}  # as number fields hold them, which mix no int and float
PLAN_PAGE = "views/pages/plan.py"

Plan = namedtuple("Plan", FIRST_VISIT)
KEYS = Plan(*FIRST_VISIT)  # where the session holds each choice, and the key of its widget


class Address(NamedTuple):
    """The query as it was written, what the link asked in vain, what gave way in this run, the day of the link's prices."""

    query: dict
    complaints: list
    notes: list
    prices_as_of: str


def plan():
    """The choices as this session has them now."""
    return Plan(*(st.session_state[name] for name in KEYS))


def choose(**choices):
    """Set choices from outside their widgets, in a callback."""
    for name, value in choices.items():
        st.session_state[getattr(KEYS, name)] = value


def address():
    """What the link brought and what it says now."""
    state = st.session_state
    return Address(state["query"], state["link_complaints"], state["notes"], state["link_prices_as_of"])


def own_models():
    """The models that this session has added, by id."""
    return st.session_state.get("custom_models") or {}


def add_model(model, entry):
    """Callback: a model of one's own, chosen at once."""
    st.session_state["custom_models"] = {**own_models(), model: entry}
    choose(model=model)


def read_link(catalogs):
    """Once per session: the choices of the address over the first visit's; what was not understood is kept."""
    state = st.session_state
    if "link_complaints" in state:
        return
    asked, complaints = link.parse({name: st.query_params.get_all(name) for name in st.query_params}, catalogs)
    state["link_prices_as_of"] = asked.pop("prices_as_of", "")
    state["custom_models"], refused = _own_models(asked.pop("custom_models", {}), catalogs)
    state["link_complaints"] = complaints + refused
    state["link_asked"] = set(asked)
    for name, value in {**FIRST_VISIT, **{name: _held(name, value) for name, value in asked.items()}}.items():
        state[name] = value


def _own_models(entries, catalogs):
    """The models of the link that can be counted, and a sentence for each that cannot."""
    sound, refused = {}, []
    for model, entry in entries.items():
        try:
            counted = calc.add_models(catalogs, {model: {"name": model, **entry}}).models.loc[model]
            if not (counted[["parameters", "hidden", "outputs"]].astype(float) > 0).all():
                raise ValueError
            sound[model] = {"name": model, **entry}
        except (calc.CatalogError, ConfigError, ArithmeticError, LookupError, TypeError, ValueError):
            refused.append(f"The link's model '{model}' is not complete or its sizes contradict each other; it was left aside.")
    return sound, refused


def _held(name, value):
    """As the widgets hold a choice: lists where several may be chosen, numbers of one type, None for an empty number."""
    kind = inputs_by_name()[name].kind if name in inputs_by_name() else ""
    values = [_of_kind(kind, each) for each in (value if isinstance(value, (list, tuple)) else [value])]
    return values if name in LISTS else values[0]


def _of_kind(kind, value):
    if value is None or value == "" or value != value:
        return None if kind in HELD_AS else ""
    return HELD_AS[kind](value) if kind in HELD_AS else value


def possible_precisions(catalogs, work, tuning):
    """The precisions that can do this work."""
    table = catalogs.precisions
    able = "serves" if work == "inference" else "adapts" if tuning == "lora" else "trains"
    return list(table.index[table[able]])


def settle(catalogs):
    """Before any widget is drawn: choices that the catalogs lack or the work cannot use give way, with a sentence."""
    state, notes = st.session_state, []
    _restore()
    if state["model"] not in catalogs.models.index:
        notes.append(f"The model '{state['model']}' is not in the catalog; {FIRST_VISIT['model']} is used.")
        state["model"] = FIRST_VISIT["model"]
    notes += _fit_sequence(catalogs)
    asked = {name: list(state[name]) for name in LISTS}
    precisions = possible_precisions(catalogs, state["work"], state["tuning"])
    default = "bf16" if state["work"] == "inference" or state["tuning"] == "lora" else "bf16-mixed"
    notes += _keep("precision", precisions, [default])
    notes += _keep("optimizer", list(catalogs.optimizers.index), ["adamw"])
    notes += _keep("kv_precision", KV_FORMATS, [""])
    notes += _keep("gpus", None, [1])
    state["instance"] = [each for each in state["instance"] if each in catalogs.instances.index]
    if state["implementation"] not in possible("implementation", state["work"], catalogs):
        state["implementation"] = "transformers"
    new = state.pop("link_asked", ())
    lost = [
        f"{name} {each} is not possible for this work; {', '.join(state[name]) or 'all'} is used instead."
        for name in LISTS
        if name in new and name != "gpus"
        for each in asked[name]
        if each and each not in state[name]
    ]
    state["link_complaints"] = state["link_complaints"] + lost
    state["notes"] = notes


def _restore():
    """A choice that a widget lost altogether takes the value that it had last."""
    state = st.session_state
    for name, first in FIRST_VISIT.items():
        if name not in LISTS and first not in (None, ""):
            if state.get(name) in (None, ""):
                state[name] = state.get(f"last_{name}", first)
            state[f"last_{name}"] = state[name]


def _fit_sequence(catalogs):
    """A model with learned positions gets no longer a sequence than it has; the next model gets back what was asked."""
    state = st.session_state
    asked, given = state.get("shortened", (0, 0))
    asked = asked if state["sequence_tokens"] == given else state["sequence_tokens"]
    given = int(min(asked, catalogs.models.at[state["model"], "longest_sequence_tokens"]))
    state["sequence_tokens"], state["shortened"] = given, (asked, given) if given < asked else (0, 0)
    name = catalogs.models.at[state["model"], "name"]
    return [f"{name} has learned positions for {given:,} tokens: {given:,} are used, not {asked:,}."] * (given < asked)


def _keep(name, possible, default):
    """Of a list of choices those that are possible; where none is left, the last ones that were."""
    state = st.session_state
    chosen = [each for each in state[name] if possible is None or each in possible]
    last = [each for each in state.get(f"last_{name}", default) if possible is None or each in possible] or default
    empty = not state[name]
    if chosen != state[name] or empty:
        state[name] = chosen or last
    state[f"last_{name}"] = state[name]
    return [f"At least one {name.replace('_', ' ')} is needed; the last one stays chosen."] if empty else []


def scenario_choices(catalogs):
    """The choices that the present work reads, ready to be crossed; no instance and no card means every instance."""
    now = plan()
    ignored = INFERENCE_ONLY if now.work == "training" else TRAINING_ONLY
    chosen = {name: DEFAULTS[name] if name in ignored else getattr(now, name) for name in DEFAULTS}
    if now.instance:
        chosen["gpu"] = ""
    every = [""] if now.gpu else list(catalogs.instances.index)
    return {**chosen, **extra_state.assumed(), "instance": now.instance or every}


def write_link(catalogs):
    """The address holds the whole plan as ids."""
    made = {"custom_models": own_models(), "prices_as_of": catalogs.prices_as_of}
    query = link.compose({**plan()._asdict(), **extra_state.for_link(), **made})
    st.query_params.from_dict(query)
    st.session_state["query"] = query


def adopt(scenario, market, show=True):
    """Callback of a button: a scenario becomes the plan; `show` opens the Plan page in the same run."""
    state = st.session_state
    for name, default in DEFAULTS.items():
        if name != "scenario":
            value = scenario.get(name, default)
            follows = name in SAME_AS_SEQUENCE and value == scenario.get("sequence_tokens")
            state[name] = _held(name, None if follows else value)
    for name in extra_state.assumptions():
        if state.get(name) is not None and (value := _held(name, scenario.get(name))) is not None:
            state[name] = value
    choose(layout="given")
    if scenario.get("instance"):
        choose(gpu="")
    if market in link.VIEW_CHOICES["market"]:
        choose(market=market)
    state["show_plan"] = show


def follow():
    """At the top of a page: to the Plan page where a scenario was adopted."""
    if st.session_state.pop("show_plan", False):
        st.switch_page(PLAN_PAGE)


def reset():
    """The plan of the first visit again; models that were added stay."""
    for name, value in FIRST_VISIT.items():
        st.session_state[name] = list(value) if name in LISTS else value
    extra_state.forget()
