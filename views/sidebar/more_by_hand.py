"""Rarer choices: software, adapters, degrees, limits of the engine and of the job."""

from typing import Any

import streamlit as st

from calc.catalogs.load import Catalogs
from calc.evaluate import Row
from calc.search.job_fields import JOB, method_of, work_of
from views.session import SESSION
from views.session.job_state import KEYS
from views.sidebar.by_hand_fields import choice, number
from views.wording.texts import TEXTS

OFFLOADS = TEXTS["by_hand"]["offloads"]
LOSSES = TEXTS["by_hand"]["losses"]
ATTENTIONS = TEXTS["by_hand"]["attentions"]
KERNELS = TEXTS["by_hand"]["kernels"]
TIES = TEXTS["by_hand"]["ties"]
SCORED = TEXTS["by_hand"]["scored"]
FORMATS = ("fp32", "bf16", "fp16")
TARGETS = ("all-linear", "attention", "q+v", "q+k+v+o", "gate+up+down")
PRIVATE = TEXTS["by_hand"]["private"]
RELEASE = TEXTS["by_hand"]["release"]
BITS = TEXTS["by_hand"]["bits"]


def fields(job_fields: dict[str, Any], chosen: Row, catalogs: Catalogs) -> None:
    """The rest, drawn only while it is open."""
    if not st.toggle("More", key="more_by_hand", persist_state="session"):
        return
    trains = work_of(job_fields) == "training"
    with st.container(horizontal=True, wrap=False, gap="xsmall"):
        number(KEYS.pipeline_parallel, "Pipeline", chosen, catalogs)
        number(KEYS.context_parallel, "Context", chosen, catalogs)
        number(KEYS.expert_parallel, "Expert", chosen, catalogs)
    choice(KEYS.gpu, "Card", list(catalogs.gpus.index), chosen, catalogs, catalogs.gpus["name"].get)
    choice(KEYS.attention, "Attention", list(ATTENTIONS), chosen, catalogs, ATTENTIONS.get)
    choice(KEYS.compile, "torch.compile of the blocks", ["no", "yes"], chosen, catalogs, str)
    releases = f"known: {releases}" if (releases := catalogs.implementations["releases"].get(chosen["implementation"])) else ""
    st.text_input("Release of the software", key=KEYS.software_release, placeholder=releases, help=RELEASE, **SESSION)
    choice(KEYS.tie_embeddings, "Embedding and head", list(TIES), chosen, catalogs, TIES.get)
    if trains:
        _training(job_fields, chosen, catalogs)
    else:
        choice(KEYS.logits, "Logits of", list(SCORED), chosen, catalogs, SCORED.get)
        number(KEYS.max_sequences, "Most sequences (vLLM)", chosen, catalogs)
        number(KEYS.max_batched_tokens, "Most batched tokens (vLLM)", chosen, catalogs)
        number(KEYS.memory_utilization, "Share of the card (vLLM)", chosen, catalogs, least=0.1, step=0.01, shown="%.2f")
    number(KEYS.decoder_tokens, "Decoder tokens", chosen, catalogs)
    number(KEYS.hours_per_month, "Hours per month", chosen, catalogs)
    number(KEYS.runs_per_month, "Runs a month, in the plan's bill", chosen, catalogs, least=0.01, step=1.0, shown="%g")
    number(KEYS.plan_months, "Months, in the plan's bill", chosen, catalogs)
    st.text_input("Private prices", key=KEYS.private_prices, placeholder="p5.48xlarge=40.1; g6e.xlarge=1.5", help=PRIVATE, **SESSION)
    _limits()


def _training(job_fields: dict[str, Any], chosen: Row, catalogs: Catalogs) -> None:
    choice(KEYS.offload, "Offload to CPU memory", list(OFFLOADS), chosen, catalogs, OFFLOADS.get)
    choice(KEYS.loss, "Loss", list(LOSSES), chosen, catalogs, LOSSES.get)
    choice(KEYS.gradient_precision, "Gradients kept in", FORMATS, chosen, catalogs, str)
    choice(KEYS.reduce_precision, "Gradients reduced in", FORMATS, chosen, catalogs, str)
    choice(KEYS.optimizer_kernel, "Optimizer kernel", list(KERNELS), chosen, catalogs, KERNELS.get)
    if method_of(job_fields) != "full":
        number(KEYS.lora_rank, "LoRA rank", chosen, catalogs)
        targets = [*TARGETS, *{st.session_state.get(KEYS.lora_targets)}.difference((None, *TARGETS))]
        choice(KEYS.lora_targets, "LoRA targets", targets, chosen, catalogs, str)
        choice(KEYS.adapter_precision, "Adapter format", FORMATS, chosen, catalogs, str)
    if job_fields["goal"] == "tune":
        number(KEYS.train_tokens, "Tokens of the run, instead of examples", chosen, catalogs)


def _limits() -> None:
    """The limits that few jobs change."""
    st.segmented_control(
        "Narrowest number format",
        JOB["fewest_bits"].choices,
        format_func=BITS.__getitem__,
        key=KEYS.fewest_bits,
        required=True,
        width="stretch",
        help="Training: 8 bits admit 8-bit optimizers and fp8 products. Serving: the narrowest weights and cache "
        "that may be used, made where nobody publishes them; as published: 8 bits where the model's maker publishes such weights.",
        **SESSION,
    )
    st.segmented_control(
        "Confidence in limits on time",
        JOB["confidence"].choices,
        format_func="{} %".format,
        key=KEYS.confidence,
        required=True,
        width="stretch",
        help="How many of 100 estimates like this one keep the limits: 50 is the estimate itself, 95 the slow end of its range.",
        **SESSION,
    )
