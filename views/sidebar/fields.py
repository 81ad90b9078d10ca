"""The secondary fields of the sidebar: batch, layout, software and method, time; each label tells the values."""

import streamlit as st

from calc.search.space import possible
from views.session.plan_state import KEYS
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


def batch(plan, trains):
    """How much passes at once, and how long it is."""
    with _group(f"Batch and context: {plan.batch:,} × {plan.sequence_tokens:,} tokens", "open_batch") as group:
        if not group.open:
            return
        _count(
            "Micro-batch" if trains else "Concurrent sequences",
            KEYS.batch,
            "Sequences at once on one model replica." if trains else "Sequences that one replica serves at the same time.",
        )
        _count("Tokens per sequence", KEYS.sequence_tokens, "In inference prompt and generated together: all that the cache holds.")
        if trains:
            _count("Accumulation steps", KEYS.accumulation_steps, "Micro-batches per optimizer step; gradients are kept between them.")
        else:
            _count("Prompt tokens prefilled at once", KEYS.prompt_tokens, "Empty: the whole sequence.", value=None)
            st.segmented_control(
                "Logits of",
                ["last", "all"],
                format_func={"last": "last token", "all": "whole prompt"}.get,
                key=KEYS.logits,
                required=True,
                **SESSION,
            )
        _count("Decoder tokens", KEYS.decoder_tokens, "Encoder-decoder models: the decoder's length where it differs.", value=None)


def layout(plan, catalogs, trains):
    """How the GPUs share the work."""
    now = catalogs.shardings["name"].get(plan.sharding, "") if trains else LAYOUTS[plan.layout]
    with _group(f"Sharding and parallel: {now}", "open_layout") as group:
        if not group.open:
            return
        if trains:
            _choice("Sharding", list(catalogs.shardings.index), KEYS.sharding, catalogs.shardings["name"].get)
            st.caption(catalogs.shardings["meaning"].get(plan.sharding, ""))
        else:
            st.segmented_control(
                "GPUs",
                list(LAYOUTS),
                format_func=LAYOUTS.get,
                key=KEYS.layout,
                required=True,
                **SESSION,
                help="Divided: tensor parallel over up to 8 GPUs, then pipeline. As set: further GPUs are replicas.",
            )
            if plan.layout == "divided":
                return
        _count("Tensor parallel", KEYS.tensor_parallel, "GPUs that divide each layer; keep it inside one NVLink domain.")
        _count("Pipeline parallel", KEYS.pipeline_parallel, "GPUs that divide the layers among them.")
        _count("Context parallel", KEYS.context_parallel, "GPUs that divide each sequence.")
        _count("Expert parallel", KEYS.expert_parallel, "GPUs that divide the experts of a mixture of experts.")
        if trains:
            _choice("Offload to CPU memory", list(OFFLOADS), KEYS.offload, OFFLOADS.get)


def method(plan, catalogs, trains):
    """The software and how it is set, each with a sentence on what it changes."""
    software = catalogs.implementations
    with _group(f"Software: {software['name'].get(plan.implementation, '')}", "open_method") as group:
        if not group.open:
            return
        _choice("Implementation", possible("implementation", plan.work, catalogs), KEYS.implementation, software["name"].get)
        if "meaning" in software:
            st.caption(software["meaning"].get(plan.implementation, ""))
        if trains:
            _choice("Recompute (gradient checkpointing)", list(catalogs.recomputes.index), KEYS.recompute, catalogs.recomputes["name"].get)
            st.caption(catalogs.recomputes["meaning"].get(plan.recompute, ""))
        _choice("Attention", list(ATTENTIONS), KEYS.attention, ATTENTIONS.get)
        st.segmented_control("torch.compile of the blocks", ["no", "yes"], key=KEYS.compile, required=True, **SESSION)
        _choice("Embedding and head", list(TIES), KEYS.tie_embeddings, TIES.get)
        if trains:
            _choice("Loss", list(LOSSES), KEYS.loss, LOSSES.get)
            _choice("Gradients kept in", list(FORMATS), KEYS.gradient_precision, FORMATS.get)
            _choice("Gradients reduced in", ["fp32", "bf16", "fp16"], KEYS.reduce_precision, str)
            _choice("Optimizer kernel", list(KERNELS), KEYS.optimizer_kernel, KERNELS.get)
        else:
            _count("Most sequences (vLLM)", KEYS.max_sequences, "Empty: vLLM's default for the card.", value=None)
            _count("Most batched tokens (vLLM)", KEYS.max_batched_tokens, "Empty: vLLM's default for the card.", value=None)
        if trains and plan.tuning == "lora":
            _count("LoRA rank", KEYS.lora_rank, "Width of the adapters.")
            _choice("LoRA targets", sorted({*TARGETS, plan.lora_targets}), KEYS.lora_targets, str)
            _choice("Adapter format", ["fp32", "bf16", "fp16"], KEYS.adapter_precision, str)


def time(plan, trains):
    """How long it runs."""
    tokens = plan.train_tokens
    now = f"{count(tokens)} tokens" if trains and tokens else f"{plan.hours_per_month:g} hours a month"
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
                key=KEYS.train_tokens,
                help="Empty: no time and no cost of a run.",
                **SESSION,
            )
        st.number_input(
            "Hours per month",
            min_value=1.0,
            max_value=744.0,
            step=10.0,
            format="%.0f",
            key=KEYS.hours_per_month,
            help="How long it is up in a month.",
            **SESSION,
        )


def _count(label, key, help_text, **more):
    st.number_input(label, min_value=1, step=1, key=key, help=help_text, **more, **SESSION)


def _choice(label, options, key, words):
    st.selectbox(label, options, format_func=lambda each: str(words(each)), key=key, **SESSION)
