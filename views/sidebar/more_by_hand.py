"""Rarer choices: software, adapters, degrees, limits of the engine and of the job."""

from typing import Any

import streamlit as st

from calc.catalogs.load import Catalogs
from calc.evaluate import Row
from calc.scenarios.inputs import BY_NAME
from calc.search.job_fields import method_of, work_of
from views.session import SESSION
from views.session.job_state import KEYS
from views.shared.texts import TEXTS
from views.sidebar.by_hand_fields import choice, number
from views.sidebar.fields import choice as segments

TEXT = TEXTS["by_hand"]
TRAINING = ("offload", "loss", "gradient_precision", "reduce_precision", "optimizer_kernel")
TARGETS = ("all-linear", "attention", "q+v", "q+k+v+o", "gate+up+down")


def fields(job_fields: dict[str, Any], chosen: Row, catalogs: Catalogs) -> None:
    """The rest, drawn only while it is open."""
    if not st.toggle("More", key="more_by_hand", persist_state="session"):
        return
    with st.container(horizontal=True, wrap=False, gap="xsmall"):
        number(KEYS.pipeline_parallel, "Pipeline", chosen, catalogs)
        number(KEYS.context_parallel, "Context", chosen, catalogs)
        number(KEYS.expert_parallel, "Expert", chosen, catalogs)
    choice(KEYS.gpu, "Card", list(catalogs.gpus.index), chosen, catalogs, catalogs.gpus["name"].get)
    _choices(("attention", "compile"), chosen, catalogs)
    releases = f"known: {releases}" if (releases := catalogs.implementations["releases"].get(chosen["implementation"])) else ""
    st.text_input("Release of the software", key=KEYS.software_release, placeholder=releases, **SESSION)
    _choices(("tie_embeddings",), chosen, catalogs)
    if work_of(job_fields) == "training":
        _training(job_fields, chosen, catalogs)
    else:
        _choices(("logits",), chosen, catalogs)
        number(KEYS.max_sequences, "Most sequences (vLLM)", chosen, catalogs)
        number(KEYS.max_batched_tokens, "Most batched tokens (vLLM)", chosen, catalogs)
        number(KEYS.memory_utilization, "Share of the card (vLLM)", chosen, catalogs, least=0.1, step=0.01, shown="%.2f")
        number(KEYS.shared_prompt_tokens, "Tokens that all prompts share", chosen, catalogs)
        choice(KEYS.speculation, "Speculative decoding", list(BY_NAME["speculation"].choices), chosen, catalogs, str)
        number(KEYS.adapters, "LoRA adapters on one server", chosen, catalogs)
        if st.session_state.get(KEYS.adapters):
            number(KEYS.lora_rank, "LoRA rank", chosen, catalogs)
        number(KEYS.kv_offload_bytes, "Bytes of cache in CPU memory", chosen, catalogs, step=1e9)
    number(KEYS.decoder_tokens, "Decoder tokens", chosen, catalogs)
    number(KEYS.hours_per_month, "Hours per month", chosen, catalogs)
    number(KEYS.runs_per_month, "Runs a month, in the plan's bill", chosen, catalogs, least=0.01, step=1.0, shown="%g")
    number(KEYS.plan_months, "Months, in the plan's bill", chosen, catalogs)
    bits = ((KEYS.fewest_bits, TEXT["bits"]),) if work_of(job_fields) == "training" else ()  # of a service its weights
    for key, text in (*bits, (KEYS.confidence, TEXT["confidence"])):
        segments(text["label"], key, text["values"], label_visibility="visible")


def _choices(names: tuple[str, ...], chosen: Row, catalogs: Catalogs) -> None:
    for name in names:
        label, values = TEXT["choices"][name].values()
        choice(name, label, list(values), chosen, catalogs, lambda value, values=values: values.get(value, value))


def _training(job_fields: dict[str, Any], chosen: Row, catalogs: Catalogs) -> None:
    _choices(TRAINING, chosen, catalogs)
    if method_of(job_fields) != "full":
        number(KEYS.lora_rank, "LoRA rank", chosen, catalogs)
        targets = [*TARGETS, *{st.session_state.get(KEYS.lora_targets)}.difference((None, *TARGETS))]
        choice(KEYS.lora_targets, "LoRA targets", targets, chosen, catalogs, str)
        _choices(("adapter_precision",), chosen, catalogs)
    if job_fields["goal"] == "tune":
        number(KEYS.train_tokens, "Tokens of the run, instead of examples", chosen, catalogs)
