"""The columns that a scenario may set: name, kind, default, and the catalog of its words."""

from dataclasses import dataclass, replace

import numpy as np

from calc.catalogs.kept import kept
from calc.catalogs.load import Catalogs
from calc.units import LONGEST_MONTH_HOURS, MEAN_MONTH_HOURS

HUGE = 1e15
KINDS = {"count": "a whole number from 1", "number": "a number above 0", "amount": "a number from 0"}


@dataclass(frozen=True)
class Input:
    """One scenario column: what may stand in it and what an empty cell means."""

    name: str
    kind: str  # text, choice, count, number, amount
    default: object = ""
    choices: tuple = ()
    catalog: str = ""  # the table of Catalogs that says what its words mean
    least: float = 0
    most: float = HUGE

    def allows(self, values: np.ndarray) -> np.ndarray:
        """Which numbers may stand in it."""
        above = (values >= self.least) if self.kind == "amount" else (values > self.least)
        return above & (values <= self.most) & ((self.kind != "count") | (values == np.floor(values)))

    @property
    def range_words(self) -> str:
        """Which numbers may stand in it, in words."""
        from_least = f"a number from {self.least:.10g}" if self.least else KINDS[self.kind]
        if self.most >= HUGE:
            return f"{from_least} up to {self.most:.0e}"
        return f"{from_least} to {self.most:.10g}" if self.kind == "amount" else f"{from_least}, at most {self.most:.10g}"


YES_NO = ("no", "yes")
NUMBER_FORMATS = ("fp32", "bf16", "fp16", "fp8", "int8")

INPUTS = (
    Input("scenario", "text"),
    Input("work", "choice", "training", ("training", "inference")),
    Input("model", "text", catalog="models"),
    Input("precision", "text", catalog="precisions"),
    Input("tuning", "choice", "full", ("full", "lora")),
    Input("lora_rank", "count", 16),
    Input("lora_targets", "text", "all-linear"),
    Input("adapter_precision", "choice", "fp32", ("fp32", "bf16", "fp16"), catalog="number_formats"),
    Input("optimizer", "text", "adamw", catalog="optimizers"),
    Input("optimizer_kernel", "choice", "fused", ("fused", "foreach", "loop"), catalog="optimizer_kernels"),
    Input("gradient_precision", "choice", "", NUMBER_FORMATS[:3], catalog="number_formats"),
    Input("recompute", "text", "none", catalog="recomputes"),
    Input("attention", "choice", "flash", ("flash", "eager"), catalog="attentions"),
    Input("loss", "choice", "", ("full", "kernel", "fused", "chunked", "compiled"), catalog="losses"),
    Input("implementation", "text", "transformers", catalog="implementations"),
    Input("software_release", "text"),  # of the implementation; one newer than its constants is a warning
    Input("compile", "choice", "no", YES_NO, catalog="compiles"),
    Input("reduce_precision", "choice", "fp32", NUMBER_FORMATS[:3], catalog="number_formats"),
    Input("tie_embeddings", "choice", "", YES_NO),
    Input("batch", "count", 1),
    Input("sequence_tokens", "count", 2048),
    Input("decoder_tokens", "count", None),
    Input("images_per_sequence", "amount", 0, most=10_000),
    Input("image_tokens", "count", None),
    Input("logits", "choice", "last", ("last", "all"), catalog="scored_logits"),
    Input("prompt_tokens", "count", None),
    Input("accumulation_steps", "count", 1),
    Input("gpus", "count", 1),
    Input("sharding", "text", "none", catalog="shardings"),
    Input("tensor_parallel", "count", 1),
    Input("pipeline_parallel", "count", 1),
    Input("context_parallel", "count", 1),
    Input("expert_parallel", "count", 1),
    Input("offload", "choice", "none", ("none", "optimizer", "states", "activations", "all"), catalog="offloads"),
    Input("kv_precision", "choice", "", NUMBER_FORMATS, catalog="number_formats"),
    Input("max_sequences", "count", None),
    Input("max_batched_tokens", "count", None),
    Input("memory_utilization", "number", None, most=1),
    Input("gpu", "text", catalog="gpus"),
    Input("instance", "text", catalog="instances"),
    Input("region", "text", "us-east-1", catalog="regions"),
    Input("train_tokens", "number", None),
    Input("hours_per_month", "number", MEAN_MONTH_HOURS, most=LONGEST_MONTH_HOURS),
    Input("runs_per_month", "number", 1, most=1e6),  # of a plan's bill: how often a run is made in a month, copies of a service
    Input("plan_months", "count", 12, most=120),
    Input("private_prices", "text"),  # p5.48xlarge=40.1; g6e.xlarge=1.5
)
BY_NAME = {column.name: column for column in INPUTS}
CATALOG_OF = {column.name: column.catalog for column in INPUTS if column.catalog and column.kind == "text"}
LIST_OF = {column.name: column.catalog for column in INPUTS if column.catalog and column.kind == "choice"}  # closed lists
TRAINING_ONLY = (  # what the other kind of work never reads
    *("tuning", "lora_rank", "lora_targets", "adapter_precision", "optimizer", "optimizer_kernel", "gradient_precision"),
    *("recompute", "loss", "reduce_precision", "accumulation_steps", "sharding", "offload", "train_tokens"),
)
INFERENCE_ONLY = ("logits", "prompt_tokens", "kv_precision", "max_sequences", "max_batched_tokens", "memory_utilization")
LORA_ONLY = ("lora_rank", "lora_targets", "adapter_precision")
SAME_AS_SEQUENCE = ("decoder_tokens", "prompt_tokens")  # lengths that follow the sequence where they are not named
# Assumptions of time and cost: each may be set by a column of its name, else catalogs/edited/assumptions.yaml holds its value.
ASSUMPTIONS = (
    "checkpoint_bytes_per_second",
    "collective_latency_seconds",
    "compile_element_ratio",
    "easiest_usd_ratio",
    "endpoint_usd_per_million_input_tokens",
    "endpoint_usd_per_million_output_tokens",
    "fallback_ratio",
    "host_bandwidth_bytes_per_second",
    "interruption_month_ratio",
    "interruption_together_ratio",
    "interruption_unknown_ratio",
    "kept_checkpoints",
    "knee_pace_ratio",
    "knee_usd_ratio",
    "network_reach_ratio",
    "nvlink_reach_ratio",
    "optimizer_step_bytes_each",
    "overlap_ratio",
    "paid_ratio",
    "pcie_reach_ratio",
    "pipeline_chunks",
    "restart_seconds",
    "scarce_spot_seconds",
    "served_tokens_per_second",
    "share_active",
    "sober_uninterrupted_seconds",
    "spot_spare_replicas",
    "spot_wait_seconds",
    "storage_usd_per_gib_month",
    "streaming_ratio",
    "tie_ratio",
)
ASSUMED = {name: Input(name, "amount", None) for name in ASSUMPTIONS} | {
    "utilization": Input("utilization", "amount", None, least=0.001, most=1),
    "start_seconds": Input("start_seconds", "amount", None, most=86_400),
}
DEFAULTS = {column.name: column.default for column in INPUTS}


def inputs_by_name() -> dict[str, Input]:
    """Every column that a scenario may set, the assumptions of time and cost among them."""
    return BY_NAME | ASSUMED


@kept("assumptions")
def bounded_inputs(catalogs: Catalogs) -> dict[str, Input]:
    """The columns of inputs_by_name, assumptions with the bounds of their catalog."""
    bounds = catalogs.assumptions[["least", "most"]].to_dict("index")
    return inputs_by_name() | {name: replace(ASSUMED[name], **bounds[name]) for name in ASSUMPTIONS}
