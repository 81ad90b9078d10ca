"""Scenario rows as people write them -> inputs with every default filled in, and one sentence for each row that
cannot be read."""

from dataclasses import dataclass
from itertools import product

import numpy as np
import pandas as pd

HUGE = 1e15

@dataclass(frozen=True)
class Input:
    """One scenario column: what may stand in it, what an empty cell means, and the catalog that holds its values."""

    name: str
    kind: str
    default: object = ""
    choices: tuple = ()
    catalog: str = ""


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
    Input("adapter_precision", "choice", "fp32", ("fp32", "bf16", "fp16")),
    Input("optimizer", "text", "adamw", catalog="optimizers"),
    Input("optimizer_kernel", "choice", "fused", ("fused", "foreach", "loop")),
    Input("gradient_precision", "choice", "", NUMBER_FORMATS[:3]),
    Input("recompute", "text", "none", catalog="recomputes"),
    Input("attention", "choice", "flash", ("flash", "eager")),
    Input("loss", "choice", "", ("full", "kernel", "fused")),
    Input("implementation", "text", "transformers", catalog="implementations"),
    Input("compile", "choice", "no", YES_NO),
    Input("reduce_precision", "choice", "fp32", NUMBER_FORMATS[:3]),
    Input("tie_embeddings", "choice", "", YES_NO),
    Input("batch", "count", 1),
    Input("sequence_tokens", "count", 2048),
    Input("decoder_tokens", "count", None),
    Input("logits", "choice", "last", ("last", "all")),
    Input("prompt_tokens", "count", None),
    Input("accumulation_steps", "count", 1),
    Input("gpus", "count", 1),
    Input("sharding", "text", "none", catalog="shardings"),
    Input("tensor_parallel", "count", 1),
    Input("pipeline_parallel", "count", 1),
    Input("context_parallel", "count", 1),
    Input("expert_parallel", "count", 1),
    Input("offload", "choice", "none", ("none", "optimizer", "activations", "all")),
    Input("kv_precision", "choice", "", NUMBER_FORMATS),
    Input("max_sequences", "count", None),
    Input("max_batched_tokens", "count", None),
    Input("gpu", "text", catalog="gpus"),
    Input("instance", "text", catalog="instances"),
    Input("region", "text", "us-east-1", catalog="regions"),
    Input("train_tokens", "number", None),
    Input("hours_per_month", "number", 730),
)
BY_NAME = {column.name: column for column in INPUTS}
CATALOG_OF = {column.name: column.catalog for column in INPUTS if column.catalog}
# Assumptions of time and cost: each may be set by a column of its name, else catalogs/assumptions.yaml holds its value.
ASSUMPTIONS = (
    "checkpoint_bytes_per_second", "collective_latency_seconds", "compile_element_ratio", "host_bandwidth_bytes_per_second",
    "interruption_month_ratio", "interruption_unknown_ratio", "network_reach_ratio", "nvlink_reach_ratio",
    "optimizer_step_bytes_each", "overlap_ratio", "pcie_reach_ratio", "pipeline_chunks",
    "restart_seconds", "served_tokens_per_second", "streaming_ratio",
)
ASSUMED = {name: Input(name, "amount", None) for name in ("utilization", *ASSUMPTIONS)}
DEFAULTS = {column.name: column.default for column in INPUTS}
KINDS = {"count": "a whole number from 1", "number": "a number above 0", "amount": "a number from 0"}
SAME_AS_SEQUENCE = ("decoder_tokens", "prompt_tokens")


class TableError(ValueError):
    """The table as a whole cannot be used; the message says what, where and what to do."""


class Problems:
    """The first thing wrong with each row, as a sentence; rows without one stay empty."""

    def __init__(self, rows):
        self.text = np.full(rows, "", dtype=object)

    def add(self, wrong, sentence):
        """Note a sentence (a string, or a function of the row number) where `wrong` and nothing was noted before."""
        if not np.any(wrong):
            return
        for row in np.flatnonzero(wrong & (self.text == "")):
            self.text[row] = sentence(row) if callable(sentence) else sentence


def inputs_by_name():
    """Every column that a scenario may set: those of the contract, and the assumptions of time and cost."""
    return BY_NAME | ASSUMED


def as_frame(table):
    """A DataFrame of one or more scenarios from a DataFrame or one dict."""
    frame = pd.DataFrame([table]) if isinstance(table, dict) else table
    if "model" not in frame.columns:
        raise TableError(
            f"The table has no column 'model' (its columns: {', '.join(map(str, frame.columns[:8]))}); name the "
            "model of each row in it."
        )
    doubled = frame.columns[frame.columns.duplicated()]
    if len(doubled):
        raise TableError(f"The column '{quoted(doubled[0])}' stands twice in the table; keep one of them.")
    for column in frame.columns:
        name = "_".join(str(column).lower().split())
        if name != column and name in BY_NAME and name not in frame.columns:
            raise TableError(f"The column '{quoted(column)}' would not be read; write its name as {name}.")
    return frame


def quoted(value):
    """A cell as a sentence quotes it: on one line, at most 60 characters."""
    text = " ".join(str(value).split())
    return text if len(text) <= 60 else text[:57] + "..."


def read_inputs(frame, problems):
    """All scenario columns with defaults filled in: text as objects, numbers as float64 (NaN where not given)."""
    inputs = {}
    asked = [column for name, column in inputs_by_name().items() if name in BY_NAME or name in frame.columns]
    for column in asked:
        cells = _cells(frame, column.name)
        reader = _read_text if column.kind in ("text", "choice") else _read_number
        inputs[column.name] = reader(column, cells, problems)
    codes, found = _factorized(_cells(frame, "sequence_tokens"))
    inputs["names_sequence"] = np.array([str(value).strip() != "" for value in found] + [False])[codes]
    serves = inputs["work"] == "inference"
    inputs["precision"] = np.where(inputs["precision"] == "", np.where(serves, "bf16", "bf16-mixed"), inputs["precision"])
    problems.add(inputs["model"] == "", "No model is named; write the id of a model of the catalog.")
    return inputs


def fit_positions(table, problems):
    """Lengths that follow the sequence by default; a model with learned positions takes no more tokens than it has."""
    longest = table["longest_sequence_tokens"]
    short = ~table["names_sequence"] & (longest < table["sequence_tokens"])
    table["sequence_tokens"] = np.where(short, longest, table["sequence_tokens"])
    for name in SAME_AS_SEQUENCE:
        table[name] = np.where(np.isnan(table[name]), table["sequence_tokens"], table[name])
    tokens = np.maximum(table["sequence_tokens"], table["decoder_tokens"])
    problems.add(
        tokens > longest,
        lambda row: (
            f"{quoted(table['model'][row])} has learned positions for {longest[row]:.0f} tokens, and "
            f"{tokens[row]:.0f} are asked for; take at most {longest[row]:.0f}."
        ),
    )


def _cells(frame, name):
    if name not in frame.columns:
        return pd.Series("", index=range(len(frame)), dtype=object)
    return frame[name].reset_index(drop=True)


def _read_text(column, cells, problems):
    codes, found = _factorized(cells)
    words = np.array([str(value).strip() for value in found] + [""], dtype=object)
    if column.kind == "choice":
        words = np.array([word.lower() for word in words], dtype=object)
    words = np.where(words == "", column.default, words).astype(object)
    text = words[codes]
    if column.kind == "choice":
        allowed = np.array([word in column.choices or word == column.default for word in words])
        problems.add(
            ~allowed[codes],
            lambda row: (
                f"{column.name} '{quoted(text[row])}' is not known; use {' or '.join(column.choices)}."
            ),
        )
    elif column.name == "scenario":
        unsafe = np.array([word[:1] in "=+-@\t" and word != "" for word in words])
        problems.add(
            unsafe[codes],
            "The scenario's name begins with = + - @ or a tab, which spreadsheets run as a formula; begin it with "
            "a letter.",
        )
    return text


def _read_number(column, cells, problems):
    codes, found = _factorized(cells)
    if cells.dtype.kind in "if":
        values = cells.to_numpy(dtype=float)
        blank = np.isnan(values)
    else:
        words = [str(value).strip() for value in found] + [""]
        values = np.array([_number(word) for word in words])[codes]
        blank = np.array([word == "" for word in words])[codes]
    least = (values >= 0) if column.kind == "amount" else (values > 0)
    whole = (column.kind != "count") | (values == np.floor(values))
    wrong = ~blank & ~(least & (values <= HUGE) & whole)
    problems.add(
        wrong,
        lambda row: (
            f"{column.name} '{quoted(cells.iloc[row])}' is not {KINDS[column.kind]} up to {HUGE:.0e}; correct that "
            "cell."
        ),
    )
    default = np.nan if column.default is None else float(column.default)
    return np.where(blank | wrong, default, values)


def _factorized(cells):
    """Codes and distinct values of a column; lists and the like in it count as their text."""
    try:
        return pd.factorize(cells, use_na_sentinel=True)
    except TypeError:
        return pd.factorize(cells.map(str, na_action="ignore"), use_na_sentinel=True)


def _number(word):
    try:
        return float(word.replace("_", "")) if word else np.nan
    except ValueError:
        return np.nan


def cross(choices, catalogs=None):
    """The table of all combinations of the choices; a list stands for several values, a plain value for one."""
    known = {name: value for name, value in choices.items() if name in inputs_by_name()}
    lists = {name: list(value) if isinstance(value, (list, tuple)) else [value] for name, value in known.items()}
    lists = {name: values or [DEFAULTS.get(name, "")] for name, values in lists.items()}
    return pd.DataFrame(list(product(*lists.values())), columns=list(lists), dtype=object)
