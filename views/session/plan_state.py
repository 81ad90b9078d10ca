"""What is chosen: the first visit, the link read once per session, choices kept possible, the link written."""

import streamlit as st

import calc
from calc.doors import link
from calc.models.huggingface.config import ConfigError
from calc.scenarios.read import DEFAULTS
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
    "tuning",
    "lora_rank",
    "lora_targets",
    "adapter_precision",
    "optimizer",
    "optimizer_kernel",
    "gradient_precision",
    "recompute",
    "loss",
    "reduce_precision",
    "accumulation_steps",
    "sharding",
    "offload",
    "train_tokens",
)
INFERENCE_ONLY = ("logits", "prompt_tokens", "kv_precision", "max_sequences", "max_batched_tokens")
WHOLE = (
    "lora_rank",
    "batch",
    "sequence_tokens",
    "decoder_tokens",
    "prompt_tokens",
    "accumulation_steps",
    "tensor_parallel",
    "pipeline_parallel",
    "context_parallel",
    "expert_parallel",
    "max_sequences",
    "max_batched_tokens",
    "gpus",
)


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
    for name, value in {**FIRST_VISIT, **{name: _plain(name, value) for name, value in asked.items()}}.items():
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
            refused.append(
                f"The link's model '{model}' is not complete or its sizes contradict each other; it was left aside."
            )
    return sound, refused


def _plain(name, value):
    """Lists where several may be chosen; counts as int, since a number field mixes no int and float; None if empty."""
    values = list(value) if isinstance(value, (list, tuple)) else [value]
    if name in WHOLE or name == "train_tokens":
        values = [None if each in ("", None) else int(each) if name in WHOLE else float(each) for each in values]
    return values if name in LISTS else values[0]


def possible_precisions(catalogs, work, tuning):
    """The precisions that can do this work."""
    table = catalogs.precisions
    able = "serves" if work == "inference" else "adapts" if tuning == "lora" else "trains"
    return list(table.index[table[able]])


def possible_implementations(catalogs, work):
    """The software that can do this work."""
    table = catalogs.implementations
    return list(table.index[table["serves" if work == "inference" else "trains"]])


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
    if state["implementation"] not in possible_implementations(catalogs, state["work"]):
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
    return notes


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
    state = st.session_state
    ignored = INFERENCE_ONLY if state["work"] == "training" else TRAINING_ONLY
    chosen = {name: DEFAULTS[name] if name in ignored else state[name] for name in DEFAULTS}
    if state["instance"]:
        chosen["gpu"] = ""
    every = [""] if state["gpu"] else list(catalogs.instances.index)
    return {**chosen, **extra_state.assumed(), "instance": state["instance"] or every}


def write_link(catalogs):
    """The address holds the whole plan as ids; returns the query as it was written."""
    state = st.session_state
    chosen = {name: state[name] for name in FIRST_VISIT}
    made = {"custom_models": state["custom_models"], "prices_as_of": catalogs.prices_as_of}
    query = link.compose({**chosen, **extra_state.for_link(), **made})
    st.query_params.from_dict(query)
    return query


def reset():
    """The plan of the first visit again; models that were added stay."""
    for name, value in FIRST_VISIT.items():
        st.session_state[name] = list(value) if name in LISTS else value
    extra_state.forget()
