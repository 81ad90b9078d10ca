"""The least that each time of a row takes, by formulas of this file's own, in FLOP and bytes.

Every share is a lower bound: a token reads no expert but its own, half of an attention is masked,
attention and the cache of a model's own tokens count for decoders of like layers alone, and the
cross-attention cache for all; no cast, activation or copy is counted."""

import numpy as np
import pandas as pd
from examples import catalogs as the_catalogs
from examples import entries

SLACK = 1 + 1e-9
# Layers that differ.
SPECIAL = (
    "layer_kinds",
    "window_tokens",
    "kv_latent_rank",
    "encoder_layers",
    "heads_by_layer",
    "mixer",
)
GENERATE = ("decoder", "encoder-decoder", "audio")


def shares(results):
    """Of each time of each estimated row, the shares that arithmetic and memory traffic need at the
    cards' own rates. [ratio]
    """
    rows = results[(results["problem"] == "") & (results["gpu"].astype(str) != "")]
    trains = rows["work"] == "training"
    return pd.concat(
        [
            part
            for work in (True, False)
            for part in _shares(rows[trains == work].reset_index(drop=True), work)
        ]
    )


def beyond(table):
    """The rows that compute or move more than their cards can."""
    over = table[(table["flop_ratio"] > SLACK) | (table["byte_ratio"] > SLACK)]
    names = [
        "work",
        "model",
        "precision",
        "implementation",
        "gpu",
        "gpus",
        "batch",
        "sequence_tokens",
        "time",
        "flop_ratio",
        "byte_ratio",
    ]
    return over[names].head().to_dict("records")


def _shares(rows, trains):
    numbers = rows.apply(pd.to_numeric, errors="coerce")
    if not len(rows):
        return []
    model = _sizes([*rows["model"].astype(str)])
    numbers["replica_gpus"] = (
        numbers["tensor_parallel"] * numbers["pipeline_parallel"] * numbers["context_parallel"]
    )
    return (_training if trains else _serving)(rows, numbers, model, *_rates(rows))


def _sizes(models):
    """What a token is multiplied with: blocks, and the encoder's part of them; attention and cache
    of like layers. [parameters]
    """
    rows, files = the_catalogs().models.loc[models].reset_index(drop=True), entries("models")
    table = rows[
        [
            "kind",
            "fixed_tokens",
            "tower_linear_parameters",
            "patches_per_image_token",
            "usual_image_tokens",
        ]
    ].copy()
    table["blocks"] = rows["active_parameters"] - rows["outside_parameters"]
    table["head"] = rows["outputs"] * rows["hidden"]
    table["encoder"] = [_encoder(files[name]) for name in models]
    like = (rows["kind"] == "decoder") & np.array(
        [not any(files[name].get(field) for field in SPECIAL) for name in models]
    )
    table["score_width"] = like * rows["layers"] * rows["heads"] * rows["head_dim"]
    table["cache_width"] = like * rows["layers"] * 2 * rows["kv_heads"] * rows["head_dim"]
    table["cross_width"] = [_cross_width(files[name]) for name in models]
    table["positions"] = rows["fixed_tokens"]
    return table


def _cross_width(entry):
    """Keys and values of one source token in all layers that attend to a source. [elements]"""
    layers = entry.get("decoder_layers", 0) if entry.get("encoder_layers") else 0
    return layers * 2 * entry["heads"] * entry["head_dim"]


def _encoder(entry):
    """Weights of the encoder of a model with a decoder: four projections and two matrices of each
    network. [parameters]
    """
    layers = entry.get("encoder_layers", 0) if entry.get("decoder_layers") else 0
    return (
        layers
        * (
            4 * entry["hidden"] * entry["heads"] * entry["head_dim"]
            + 2 * entry["hidden"] * entry["ffn"]
        )
        if layers
        else 0
    )


def _rates(rows):
    """The cards' dense rates of products in their format and of 16 bits or fp32, and of memory.
    [FLOP/s, FLOP/s, B/s]
    """
    card = the_catalogs().gpus.loc[rows["gpu"].astype(str)].reset_index(drop=True)
    wide = card[["bf16_flops_per_second", "tf32_flops_per_second", "fp32_flops_per_second"]].max(
        axis=1
    )
    eight = card["fp8_flops_per_second"].fillna(wide)
    single = card[["tf32_flops_per_second", "fp32_flops_per_second"]].max(axis=1)
    by_width = {4: single, 2: wide, 1: eight, 0.5: card["fp4_flops_per_second"].fillna(eight)}
    width = (
        the_catalogs()
        .precisions.loc[rows["precision"].astype(str), "compute_bytes_each"]
        .to_numpy()
    )
    return (
        np.select([width == size for size in by_width], [*by_width.values()], np.nan),
        wide,
        card["bandwidth_bytes_per_second"],
    )


def _forward(numbers, model, tokens, decoder_tokens):
    """Forward pass of one sequence: products of the blocks, attention, and the tower's products of
    its images. [FLOP]
    """
    kind, fixed, blocks = model["kind"], model["fixed_tokens"], model["blocks"]
    encoded = np.where(fixed > 0, fixed, tokens)
    two_sided = model["encoder"] * encoded + (blocks - model["encoder"]) * decoder_tokens
    passed = [two_sided, blocks * fixed, blocks * np.minimum(fixed, tokens)]
    products = 2 * np.select(
        [model["encoder"] > 0, kind == "vision", kind == "dual"], passed, blocks * tokens
    )
    attention = 4 * model["score_width"] * tokens * tokens / 2
    image = np.where(
        numbers["image_tokens"] > 0, numbers["image_tokens"], model["usual_image_tokens"]
    )
    patches = (numbers["images_per_sequence"] * image * model["patches_per_image_token"]).fillna(0)
    return products, attention, 2 * model["tower_linear_parameters"] * patches


def _training(rows, numbers, model, rate, wide_rate, bandwidth):
    """An optimizer step, alone and as the run has it: 6 FLOP a weight and token, 4 with frozen
    weights; weights read twice.
    """
    tokens, micro_batches = numbers["sequence_tokens"], numbers["accumulation_steps"]
    products, attention, tower = _forward(
        numbers, model, tokens, np.minimum(numbers["decoder_tokens"], tokens)
    )
    passes = np.where(rows["tuning"].astype(str) == "lora", 2, 3)
    head = 2 * model["head"] * tokens * (model["kind"] == "decoder")
    computing = numbers["batch"] * (
        passes * products / rate + (passes * head + 3 * attention + tower) / wide_rate
    )
    form = the_catalogs().precisions.loc[rows["precision"].astype(str)].reset_index(drop=True)
    width = np.minimum(form["matrix_bytes_each"], form["compute_bytes_each"])
    moving = 2 * model["blocks"] * width / bandwidth / np.maximum(numbers["expert_parallel"], 1)
    step = (
        micro_batches * computing / numbers["replica_gpus"],
        micro_batches * moving / numbers["replica_gpus"],
    )
    run_step = numbers["run_hours"] * 3600 * numbers["step_tokens"] / numbers["train_tokens"]
    return [
        _of(rows, "step_seconds", numbers["step_seconds"], *step),
        _of(rows, "run_hours", run_step, *step),
    ]


def _serving(rows, numbers, model, rate, wide_rate, bandwidth):
    """Prefill of one prompt and of a batch, a decode step, what is generated in a second, and the
    load of an answer.
    """
    batch, none, replicas = (
        numbers["batch"],
        0 * numbers["batch"],
        numbers["gpus"] / numbers["replica_gpus"],
    )
    # Where the cache does not hold all, fewer run at once.
    running = batch.where(rows["fits"] != "no", 1)
    tensor, prompt = (
        numbers["tensor_parallel"],
        np.minimum(numbers["prompt_tokens"], numbers["sequence_tokens"]),
    )
    # Of which the cache has the most.
    shared = np.minimum(numbers["shared_prompt_tokens"].fillna(0), prompt)
    products, attention, tower = _forward(numbers, model, prompt - shared, 0)
    attention += 4 * model["score_width"] * (prompt - shared) * shared
    prefill = (products / rate + (attention + tower) / wide_rate) / numbers["replica_gpus"]
    generates = model["kind"].isin(GENERATE) & (model["head"] > 0)
    weights = np.where(generates, model["blocks"] - model["encoder"], np.nan)
    matrix_bytes = the_catalogs().precisions["matrix_bytes_each"]
    width, cached = (
        rows[name].astype(str).map(matrix_bytes) for name in ("precision", "kv_precision")
    )
    each = np.minimum(cached.fillna(1), 1)
    source = model["positions"].where(model["positions"] > 0, numbers["sequence_tokens"])
    cache = each * (model["cache_width"] * prompt + model["cross_width"] * source)
    token = 2 * weights / rate / tensor
    moving = (
        weights * width / bandwidth / np.maximum(tensor, numbers["expert_parallel"])
        + running * cache / bandwidth / tensor
    )
    # A step reads them once for all the tokens that it makes.
    moving /= numbers["decode_gain_ratio"]
    stages = replicas * numbers["pipeline_parallel"]
    generated = (numbers["sequence_tokens"] - prompt).where(lambda tokens: tokens > 0)
    parts = [
        _of(
            rows,
            "time_to_first_token_seconds",
            numbers["time_to_first_token_seconds"],
            prefill,
            none,
        ),
        _of(
            rows,
            "burst_first_token_seconds",
            numbers["burst_first_token_seconds"],
            batch * prefill,
            none,
        ),
        _of(
            rows,
            "prefill_tokens_per_second",
            numbers["prompt_tokens"] / numbers["prefill_tokens_per_second"],
            prefill / replicas,
            none,
        ),
        _of(
            rows,
            "time_per_output_token_seconds",
            numbers["time_per_output_token_seconds"],
            running * token,
            moving,
        ),
        _of(
            rows,
            "decode_tokens_per_second",
            1 / numbers["decode_tokens_per_second"],
            token / stages,
            moving / batch / stages,
        ),
        _of(
            rows,
            "tokens_per_second",
            1 / numbers["tokens_per_second"],
            (prefill / generated + token / stages * replicas) / replicas,
            none,
        ),
    ]
    if "requests_per_second" in rows:
        answered = np.where(generates, numbers["answer_tokens"], 0) * np.nan_to_num(token / stages)
        parts.append(
            _of(
                rows,
                "requests_per_second",
                1 / numbers["requests_per_second"],
                prefill / replicas + answered,
                none,
            )
        )
    return parts


def _of(rows, time, seconds, computing_seconds, moving_seconds):
    """The rows that have this time, with the shares of it that are computed and moved."""
    table = rows.assign(
        time=time, flop_ratio=computing_seconds / seconds, byte_ratio=moving_seconds / seconds
    )
    return table[seconds.notna() & computing_seconds.notna()]
