"""The sidebar, in order of thought. Every widget's key is the name of a choice; its value lives in session and link."""

import streamlit as st

from calc.cost.markets import MARKETS, PLAN_MARKETS
from calc.words import card_name
from views.session import plan_state
from views.session.plan_state import KEYS
from views.sidebar import fields, model_form
from views.wording.numbers import plain

SESSION = {"persist_state": "session"}
GPU_COUNTS = (1, 2, 4, 8, 16, 32, 64, 128, 256)
PRECISION_ORDER = ("bf16-mixed", "bf16-master", "bf16", "fp8-mixed", "fp8", "int8", "nf4", "awq-4bit", "fp32")
WORK = {"training": "Training", "inference": "Inference"}


def sidebar(catalogs):
    """Draw the whole sidebar."""
    plan = plan_state.plan()
    with st.sidebar:
        st.segmented_control("Work", list(WORK), format_func=WORK.get, key=KEYS.work, required=True, width="stretch", **SESSION)
        trains = plan.work == "training"
        _model(catalogs)
        if trains:
            st.segmented_control(
                "Method",
                ["full", "lora"],
                format_func={"full": "Full", "lora": "LoRA"}.get,
                key=KEYS.tuning,
                required=True,
                width="stretch",
                **SESSION,
            )
        _compared(plan, catalogs, trains)
        _place(plan, catalogs)
        fields.batch(plan, trains)
        fields.layout(plan, catalogs, trains)
        fields.method(plan, catalogs, trains)
        fields.time(plan, trains)
        st.button("Start again from the example", on_click=plan_state.reset, type="tertiary", icon=":material/restart_alt:", key="reset")


def complaints():
    """What the link asked for and did not get, until it is dismissed; and what had to give way in this run."""
    address = plan_state.address()
    for sentence in address.notes:
        st.info(plain(sentence), icon=":material/info:")
    if address.complaints:
        st.warning(
            plain("\n".join(f"- {sentence}" for sentence in address.complaints)),
            title="Not all of the link was understood",
            icon=":material/link_off:",
        )
        st.button("Dismiss", key="dismiss", on_click=address.complaints.clear, type="tertiary")


def _model(catalogs):
    rows = zip(catalogs.models.index, catalogs.models["name"], catalogs.models["refused"], strict=True)
    names = {model: f"{name} (not estimated)" if refused else name for model, name, refused in rows}
    st.selectbox("Model", list(names), format_func=lambda model: names.get(model, model), key=KEYS.model, **SESSION)
    model_form.add_a_model()


def _compared(plan, catalogs, trains):
    """What may be chosen several times at once: choosing two compares them."""
    possible = plan_state.possible_precisions(catalogs, plan.work, plan.tuning if trains else "full")
    order = {name: place for place, name in enumerate(PRECISION_ORDER)}
    _pills(
        "Precision",
        sorted(possible, key=lambda name: order.get(name, len(order))),
        KEYS.precision,
        catalogs.precisions["name"].get,
        "How weights and the rest are stored; several are compared.",
    )
    if trains:
        _pills("Optimizer", list(catalogs.optimizers.index), KEYS.optimizer, catalogs.optimizers["name"].get, "Several are compared.")
    else:
        _pills(
            "KV cache",
            [each for each in plan_state.KV_FORMATS if each not in ("bf16", "fp16") or each in plan.kv_precision],
            KEYS.kv_precision,
            lambda each: each or "16-bit",
            "The format of keys and values.",
        )
    counts = sorted({*GPU_COUNTS, *plan.gpus})
    _pills("GPUs", counts, KEYS.gpus, lambda each: f"{each:,}", "All GPUs of the job; several counts are compared.")


def _pills(label, options, key, words, help_text):
    st.pills(label, options, selection_mode="multi", format_func=lambda each: str(words(each)), key=key, help=help_text, **SESSION)


def _place(plan, catalogs):
    """Where: instances or a card, region, market, period."""
    sold = catalogs.instances
    rows = zip(sold.index, sold["gpus"], sold["gpu"], strict=True)
    words = {instance: f"{instance} · {gpus:.0f} × {card_name(gpu, catalogs)}" for instance, gpus, gpu in rows}
    st.multiselect("Instances", list(sold.index), format_func=words.get, key=KEYS.instance, placeholder="All of them", **SESSION)
    if not plan.instance:
        st.selectbox(
            "Card",
            ["", *catalogs.gpus.index],
            format_func=lambda gpu: catalogs.gpus["name"].get(gpu, "of any instance"),
            key=KEYS.gpu,
            **SESSION,
        )
    region(catalogs)
    st.segmented_control(
        "Price",
        PLAN_MARKETS,
        format_func=lambda market: MARKETS[market].label.capitalize(),
        key=KEYS.market,
        required=True,
        width="stretch",
        **SESSION,
    )
    st.segmented_control("Per", ["hour", "day", "month"], key=KEYS.period, required=True, width="stretch", **SESSION)


def region(catalogs):
    """The region, shared by the pages."""
    names = catalogs.regions["name"]
    st.selectbox("Region", list(names.index), format_func=lambda each: f"{each} · {names[each]}", key=KEYS.region, **SESSION)
