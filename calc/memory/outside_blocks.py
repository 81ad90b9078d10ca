"""The two ends of a model: final norm, logits and loss, by kind of head (catalogs/heads.yaml). Bytes."""


import numpy as np

from calc.catalogs.kept import kept
from calc.memory.saved_activations import CASES, FORMATS, SIZES, vector

WINDOWED = [CASES.index(name) for name in CASES if name.startswith("sdpa-window")]
OUTSIDE = ("hidden", "hidden_dropout", "source_hidden", "shared_scores", "one")


@kept("models", "heads")
def head_tables(catalogs):
    """Per model row the number of its head, and per (head, format) the logit widths and the outside vector."""
    entries = list(catalogs.heads.values())
    owner = {family: number for number, head in enumerate(entries) for family in head["families"]}
    default = next(number for number, head in enumerate(entries) if not head["families"])
    numbers = np.array([owner.get(kind, default) for kind in catalogs.models["model_type"]])
    widths = np.full((len(entries), len(FORMATS), 3), np.nan)
    outside = np.full((2, len(entries), len(FORMATS), len(SIZES)), np.nan)
    for number, head in enumerate(entries):
        for form in head["forms"]:
            f = FORMATS.index(form["format"])
            widths[number, f] = form["forward"], form["saved"], form["backward"]
            outside[:, number, f] = vector(form["outside"]), vector(form["frozen_outside"])
    return numbers, widths, outside


def head_columns(table, catalogs):
    """Logit widths, and what stays outside the blocks, for the forward and the backward pass."""
    numbers, widths, outside = head_tables(catalogs)
    at = numbers[table["model_row"]], table["activation_format"]
    divided_loss = 4.0 * (table["vocabulary_split"] > 1)
    extra = table["implementation_logits_output_bytes_each"]
    table["logits_forward_bytes_each"] = widths[at][:, 0] + divided_loss + extra
    table["logits_backward_bytes_each"] = widths[at][:, 2] + divided_loss + extra
    frozen = (table["adapts"] > 0).astype(int)
    coefficient = {name: outside[frozen, *at][:, SIZES.index(name)] for name in OUTSIDE}
    split = np.where(table["implementation_splits_sequence"] > 0, table["tensor_parallel"], 1)
    length = np.where(table["has_source"] > 0, table["decoder_tokens"], table["sequence_tokens"])
    tokens = table["batch"] * length / table["context_parallel"]
    rotary = np.isinf(table["longest_sequence_tokens"]) & (table["model_kind"] == "decoder")
    positions = 4 * table["head_dim"] * table["sequence_tokens"] / table["context_parallel"] * rotary
    shared = positions + mask_bytes(table)
    source = table["batch"] * np.where(table["has_source"] > 0, table["sequence_tokens"], table["fixed_tokens"])
    own = (coefficient["hidden"] + coefficient["hidden_dropout"] * table["hidden_dropout"]) * tokens
    scores = coefficient["shared_scores"] * table["heads"] * table["sequence_tokens"] ** 2 * table["keeps_input"]
    wide = table["hidden"] / split * (own + coefficient["source_hidden"] * source)
    table["outside_saved_bytes"] = wide + tokens * coefficient["one"] + scores + shared
    table["outside_backward_bytes"] = shared + scores + tokens * coefficient["one"]
    table["head_is_linear"] = np.ones_like(table["batch"])


def mask_bytes(table):
    """One mask for all full blocks and one for all sliding ones: of the hidden states' width with eager attention, a
    byte where a sliding window is reached. [B]"""
    case, present = table["stack_attention_case"], table["stack_layers"] > 0
    scored = (case == CASES.index("eager")) & present
    slides = np.isfinite(table["stack_window_tokens"])
    eager = np.any(scored & slides, axis=0) * 1 + np.any(scored & ~slides, axis=0)
    windowed = np.any(np.isin(case, WINDOWED) & present, axis=0)
    width = np.where(eager > 0, eager * np.where(table["activation_format"] == 0, 2.0, 4.0), windowed * 1.0)
    return (table["model_kind"] == "decoder") * width * table["batch"] * table["sequence_tokens"] ** 2 / table["context_parallel"]


def inference_columns(table):
    """Logits and final hidden states of the prompt and of one decoding step."""
    tokens = table["batch"] * table["prompt_tokens"]
    scored = np.where(table["logits"] == "all", tokens, table["batch"])
    elements = table["outputs"] / table["vocabulary_split"] * table["holds_head"]
    width = np.maximum(table["compute_bytes_each"], 2.0)
    width = np.where(table["activation_format"] == 1, 4.0, width)
    encodes = np.isin(table["model_kind"].astype(str), ["encoder"])
    classifies = np.isin(table["model_kind"].astype(str), ["vision", "dual"])
    scored = np.where(encodes, tokens, np.where(classifies, table["batch"], scored))
    engine = table["is_engine"] > 0
    table["prefill_logits_bytes"] = np.where(engine, table["sampler_bytes"], scored * elements * width)
    table["prefill_hidden_bytes"] = np.where(engine, 0.0, tokens * table["hidden"] * width)
    table["prefill_activations_bytes"] = np.where(engine, table["engine_forward_bytes"], table["prefill_activations_bytes"])
    table["decode_logits_bytes"] = np.where(encodes | classifies, 0.0, table["batch"] * elements * width)
