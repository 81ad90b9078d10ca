"""The secondary fields of the sidebar: batch, layout, software and method, time; each label tells the values."""

import streamlit as st

from views.session import plan_state
from views.wording.numbers import count

SESSION = {"persist_state": "session"}
LAYOUTS = {"divided": "divide the model", "given": "as set"}
OFFLOADS = {"none": "nothing", "optimizer": "optimizer state", "activations": "activations", "all": "all of it"}
LOSSES = {
    "": "as the software does",
    "full": "plain: logits stored and upcast",
    "kernel": "one kernel on the stored logits",
    "fused": "head and loss together, chunk by chunk",
}
ATTENTIONS = {"flash": "flash", "eager": "eager (scores stored)"}
FORMATS = {"": "as the precision says", "fp32": "fp32", "bf16": "bf16", "fp16": "fp16"}
KERNELS = {"fused": "fused", "foreach": "foreach (one more copy)", "loop": "loop (one matrix at a time)"}
TIES = {"": "the model's own", "yes": "tied", "no": "apart"}
TARGETS = ("all-linear", "attention", "q+v", "q+k+v+o", "gate+up+down")


def _group(label, key):
    """A group of fields that exist only while it is open; what was chosen in it stays."""
    return st.expander(label, on_change="rerun", key=key)


def batch(trains):
    """How much passes at once, and how long it is."""
    state = st.session_state
    with _group(f"Batch and context: {state['batch']:,} × {state['sequence_tokens']:,} tokens", "open_batch") as group:
        if not group.open:
            return
        _count(
            "Micro-batch" if trains else "Concurrent sequences",
            "batch",
            "Sequences at once on one model replica."
            if trains
            else "Sequences that one replica serves at the same time.",
        )
        _count(
            "Tokens per sequence",
            "sequence_tokens",
            "In inference prompt and generated together: all that the cache holds.",
        )
        if trains:
            _count(
                "Accumulation steps",
                "accumulation_steps",
                "Micro-batches per optimizer step; gradients are kept between them.",
            )
        else:
            _count("Prompt tokens prefilled at once", "prompt_tokens", "Empty: the whole sequence.", value=None)
            st.segmented_control(
                "Logits of",
                ["last", "all"],
                format_func={"last": "last token", "all": "whole prompt"}.get,
                key="logits",
                required=True,
                **SESSION,
            )
        _count(
            "Decoder tokens",
            "decoder_tokens",
            "Encoder-decoder models: the decoder's length where it differs.",
            value=None,
        )


def layout(catalogs, trains):
    """How the GPUs share the work."""
    state = st.session_state
    now = catalogs.shardings["name"].get(state["sharding"], "") if trains else LAYOUTS[state["layout"]]
    with _group(f"Sharding and parallel: {now}", "open_layout") as group:
        if not group.open:
            return
        if trains:
            _choice("Sharding", list(catalogs.shardings.index), "sharding", catalogs.shardings["name"].get)
            st.caption(catalogs.shardings["meaning"].get(state["sharding"], ""))
        else:
            st.segmented_control(
                "GPUs",
                list(LAYOUTS),
                format_func=LAYOUTS.get,
                key="layout",
                required=True,
                **SESSION,
                help="Divided: tensor parallel over up to 8 GPUs, then pipeline. As set: further GPUs are replicas.",
            )
            if state["layout"] == "divided":
                return
        _count("Tensor parallel", "tensor_parallel", "GPUs that divide each layer; keep it inside one NVLink domain.")
        _count("Pipeline parallel", "pipeline_parallel", "GPUs that divide the layers among them.")
        _count("Context parallel", "context_parallel", "GPUs that divide each sequence.")
        _count("Expert parallel", "expert_parallel", "GPUs that divide the experts of a mixture of experts.")
        if trains:
            _choice("Offload to CPU memory", list(OFFLOADS), "offload", OFFLOADS.get)


def method(catalogs, trains):
    """The software and how it is set, each with a sentence on what it changes."""
    state, software = st.session_state, catalogs.implementations
    with _group(f"Software: {software['name'].get(state['implementation'], '')}", "open_method") as group:
        if not group.open:
            return
        _choice(
            "Implementation",
            plan_state.possible_implementations(catalogs, state["work"]),
            "implementation",
            software["name"].get,
        )
        if "meaning" in software:
            st.caption(software["meaning"].get(state["implementation"], ""))
        if trains:
            _choice(
                "Recompute (gradient checkpointing)",
                list(catalogs.recomputes.index),
                "recompute",
                catalogs.recomputes["name"].get,
            )
            st.caption(catalogs.recomputes["meaning"].get(state["recompute"], ""))
        _choice("Attention", list(ATTENTIONS), "attention", ATTENTIONS.get)
        st.segmented_control("torch.compile of the blocks", ["no", "yes"], key="compile", required=True, **SESSION)
        _choice("Embedding and head", list(TIES), "tie_embeddings", TIES.get)
        if trains:
            _choice("Loss", list(LOSSES), "loss", LOSSES.get)
            _choice("Gradients kept in", list(FORMATS), "gradient_precision", FORMATS.get)
            _choice("Gradients reduced in", ["fp32", "bf16", "fp16"], "reduce_precision", str)
            _choice("Optimizer kernel", list(KERNELS), "optimizer_kernel", KERNELS.get)
        else:
            _count("Most sequences (vLLM)", "max_sequences", "Empty: vLLM's default for the card.", value=None)
            _count(
                "Most batched tokens (vLLM)", "max_batched_tokens", "Empty: vLLM's default for the card.", value=None
            )
        if trains and state["tuning"] == "lora":
            _count("LoRA rank", "lora_rank", "Width of the adapters.")
            _choice("LoRA targets", sorted({*TARGETS, state["lora_targets"]}), "lora_targets", str)
            _choice("Adapter format", ["fp32", "bf16", "fp16"], "adapter_precision", str)


def time(trains):
    """How long it runs."""
    tokens = st.session_state["train_tokens"]
    now = f"{count(tokens)} tokens" if trains and tokens else f"{st.session_state['hours_per_month']:g} hours a month"
    with _group(f"Time: {now}", "open_time") as group:
        if not group.open:
            return
        if trains:
            st.number_input(
                "Tokens of the whole run",
                min_value=1.0,
                value=None,
                step=1e9,
                format="%.0f",
                key="train_tokens",
                help="Empty: no time and no cost of a run.",
                **SESSION,
            )
        st.number_input(
            "Hours per month",
            min_value=1.0,
            max_value=744.0,
            step=10.0,
            format="%.0f",
            key="hours_per_month",
            help="How long it is up in a month.",
            **SESSION,
        )


def _count(label, key, help_text, **more):
    st.number_input(label, min_value=1, step=1, key=key, help=help_text, **more, **SESSION)


def _choice(label, options, key, words):
    st.selectbox(label, options, format_func=lambda each: str(words(each)), key=key, **SESSION)
