"""The choices that an answer makes by itself; each says auto until it is set."""

from typing import Any

import pandas as pd
import streamlit as st

from calc.catalogs.load import Catalogs
from calc.say.place import card_name
from calc.search.job_fields import work_of
from calc.search.settle import takes_images
from calc.search.widened import possible
from views.session import job_state
from views.session.job_state import KEYS
from views.session.present_plan import present
from views.shared.elements import button
from views.shared.texts import TEXTS
from views.sidebar import more_by_hand
from views.sidebar.assumptions import ASKED_ABOVE
from views.sidebar.by_hand_fields import LABELS, multiselect, number, pills, words

PRECISION_ORDER = TEXTS["by_hand"]["precision_order"]
OPTIMIZER_ORDER = ("adamw", "adamw-8bit", "adafactor", "muon")
SHARDING_ORDER = ("none", "zero1", "zero2", "zero3", "hsdp-4", "hsdp-8")
SOFTWARE_ORDER = ("transformers", "vllm", "torchtitan", "deepspeed", "megatron")
KV_ORDER = ("bf16", "fp8", "int8", "fp32", "fp16")
COUNTS = (1, 2, 4, 8, 16, 32, 64, 128, 256)
SEQUENCES = (8, 16, 32, 64, 1, 2, 4, 12, 24, 48, 96, 128, 192, 256)


def group(fields: dict[str, Any], by_hand: dict[str, Any], catalogs: Catalogs) -> None:
    """The closed group; its fields exist only while it is open, what was chosen in them stays."""
    by_hand = {name: values for name, values in by_hand.items() if name not in ASKED_ABOVE}
    pane = st.expander("Set by hand :gray[· else automatic]", on_change="rerun", key="by_hand")
    if pane.open:
        with pane:
            _fields(fields, by_hand, catalogs)
    elif by_hand:
        st.caption(f"{len(by_hand)} set by hand: {', '.join(map(_label, by_hand))}")


def _fields(fields: dict[str, Any], by_hand: dict[str, Any], catalogs: Catalogs) -> None:
    chosen, work = present(catalogs).row, work_of(fields)
    _summary(by_hand, catalogs)
    precisions = job_state.possible_precisions(catalogs)
    pills(KEYS.precision, _ordered(precisions, PRECISION_ORDER[work]), chosen, catalogs)
    if work == "training":
        pills(KEYS.optimizer, _ordered(catalogs.optimizers.index, OPTIMIZER_ORDER), chosen, catalogs)
        pills(KEYS.batch, COUNTS[:7], chosen, catalogs)
        pills(KEYS.accumulation_steps, COUNTS[:7], chosen, catalogs)
    else:
        pills(KEYS.kv_precision, KV_ORDER, chosen, catalogs)
        pills(KEYS.batch, SEQUENCES, chosen, catalogs, "Sequences at once on a replica")
    pills(KEYS.gpus, COUNTS, chosen, catalogs)
    sold = catalogs.instances
    rows = zip(sold.index, sold["gpus"], sold["gpu"], strict=True)
    named = {instance: f"{instance} · {gpus:.0f} × {card_name(gpu, catalogs)}" for instance, gpus, gpu in rows}
    multiselect(KEYS.instance, named, chosen)
    if work == "training":
        pills(KEYS.sharding, _ordered(catalogs.shardings.index, SHARDING_ORDER), chosen, catalogs)
        pills(KEYS.recompute, ("none", "selective", "selective-ops", "full"), chosen, catalogs)
    if takes_images(fields["model"], catalogs):
        with st.container(horizontal=True, wrap=False, gap="xsmall"):
            number(KEYS.images_per_sequence, "Images or sounds", chosen, catalogs, least=0.0, step=1.0, shown="%g")
            number(KEYS.image_tokens, "Tokens of one", chosen, catalogs, usual=catalogs.models["usual_image_tokens"][fields["model"]])
    pills(KEYS.tensor_parallel, COUNTS[:4], chosen, catalogs)
    pills(KEYS.implementation, _ordered(possible("implementation", work, catalogs), SOFTWARE_ORDER), chosen, catalogs)
    more_by_hand.fields(fields, chosen, catalogs)


def _summary(by_hand: dict[str, Any], catalogs: Catalogs) -> None:
    """What is set by hand, each with one click back to auto."""
    if not by_hand:
        st.caption("The answer chooses what you leave on auto. Several values of one choice are compared.")
        return
    with st.container(horizontal=True, gap="xsmall"):
        for name, values in by_hand.items():
            sentence = ", ".join(words(name, value, catalogs) for value in values)
            button(f"{_label(name)}: {sentence}", job_state.to_auto, name, icon="close", type="tertiary", key=f"auto_{name}")
        button("All automatic", job_state.to_auto, *by_hand, icon="undo", type="tertiary", key="all_to_auto")


def _label(name: str) -> str:
    return str(LABELS.get(name) or name.replace("_", " ").capitalize())


def _ordered(ids: list[str] | pd.Index, first: tuple[str, ...]) -> list[str]:
    """The usual ones first, the others in the order of their catalog."""
    return [*(value for value in first if value in ids), *(value for value in ids if value not in first)]
