"""What one block of a model keeps and needs, in bytes per token: a row of coefficients (catalogs/blocks.yaml) times a row of sizes.

Every quantity here has one column per stack of like blocks: arrays of shape (stacks, rows).
"""


import numpy as np

from calc.catalogs.kept import kept

SIZES = (
    "hidden", "query", "key", "value", "ffn", "heads", "kv_heads", "scores", "mask", "hidden_dropout", "scores_dropout",
    "routed_hidden", "routed_ffn", "experts", "experts_per_token", "experts_hidden", "experts_ffn", "shared_ffn", "latent", "query_latent",
    "relative_hidden", "source_hidden", "source_key", "source_scores", "source_scores_dropout", "shared_mask", "shared_hidden",
    "shared_scores", "shared_source_scores", "one",
)  # `source` is the other side of an encoder-decoder, per own token; `shared` is one table for the whole batch
RELATIVE_POSITIONS = 512  # of DeBERTa, projected once for all tokens (He et al. 2021, arXiv 2006.03654)
FORMATS = ("bf16", "fp32", "amp")
CASES = ("sdpa", "sdpa-grouped", "sdpa-window", "sdpa-window-multiquery", "sdpa-window-equal", "eager")
FALLBACKS = {  # a case that a kind of block does not tell apart is read from the next
    "sdpa": ("eager",), "sdpa-grouped": ("sdpa", "eager"), "sdpa-window": ("sdpa", "eager"), "eager": (),
    "sdpa-window-multiquery": ("sdpa-window", "sdpa", "eager"), "sdpa-window-equal": ("sdpa-window", "sdpa", "eager"),
}
VECTORS = ("saved", "saved_alone", "frozen", "checkpoint", "selective_ops")
MOMENTS = ("backward", "recomputed", "forward")
HIDDEN = [SIZES.index(name) for name in ("hidden", "mask", "hidden_dropout", "source_hidden", "shared_mask", "shared_hidden", "one")]
ATTENTION_CORE = [SIZES.index(name) for name in (
    "heads", "scores", "mask", "scores_dropout", "source_scores", "source_scores_dropout", "shared_mask", "shared_scores",
    "shared_source_scores")]

# A compiled block keeps the inputs and outputs of its matrix products and computes again what is element-wise
# (torch.compile's partitioner, Inductor 2.x); per token, 16 bits.
COMPILED = {
    "hidden": 5, "query": 4, "key": 4, "ffn": 5, "heads": 4, "routed_hidden": 4, "routed_ffn": 5, "shared_ffn": 5, "latent": 4,
    "query_latent": 4,
}


def kind_numbers(catalogs, kinds):
    """The row of each kind of block in the coefficient tables, -1 for a kind that the catalog lacks."""
    at = {kind: number for number, kind in enumerate(catalogs.blocks)}
    return np.array([at.get(kind, -1) for kind in kinds])


@kept("blocks")
def coefficient_tables(catalogs):
    """Per name of a vector: an array (kind, format, attention case, [moment,] size); NaN where the catalog has none."""
    shape = (len(catalogs.blocks) + 1, len(FORMATS), len(CASES))
    tables = {name: np.full((*shape, len(SIZES)), np.nan) for name in VECTORS}
    depth = max((len(form.get(name) or ()) for block in catalogs.blocks.values() for form in block["forms"] for name in MOMENTS), default=1)
    tables |= {name: np.full((*shape, max(depth, 1), len(SIZES)), np.nan) for name in MOMENTS}
    for number, block in enumerate(catalogs.blocks.values()):
        forms = {(form["format"], form["attention"]): form for form in block["forms"]}
        for f, number_format in enumerate(FORMATS):
            for c, case in enumerate(CASES):
                form = next((forms[number_format, name] for name in (case, *FALLBACKS[case]) if (number_format, name) in forms), {})
                for name in VECTORS:
                    held = form.get(name, form.get("saved") if name == "saved_alone" else None)
                    if held is not None:
                        tables[name][number, f, c] = vector(held)
                for name in MOMENTS:
                    instead = form.get("backward") if name == "recomputed" else None
                    for m, moment in enumerate(form.get(name) or instead or ()):
                        tables[name][number, f, c, m] = vector(moment)
    return tables


def vector(coefficients):
    """A mapping of sizes to coefficients as a row in the order of SIZES."""
    return np.array([float(coefficients.get(name, 0)) for name in SIZES])


def attention_case(
    attention, stack_sequence, stack_window_tokens, stack_kv_heads, stack_heads, implementation_masks_window,
):
    """Which attention kernel runs, as a column of the coefficient tables.

    A sliding window that the sequence reaches builds a mask, and a mask leaves the flash kernel.
    """
    masked = (stack_sequence >= stack_window_tokens) & (implementation_masks_window > 0)
    grouped = stack_kv_heads < stack_heads
    window = np.select(
        [stack_kv_heads == 1, stack_kv_heads == stack_heads],
        [CASES.index("sdpa-window-multiquery"), CASES.index("sdpa-window-equal")],
        CASES.index("sdpa-window"),
    )
    plain = np.where(masked, window, np.where(grouped, CASES.index("sdpa-grouped"), CASES.index("sdpa")))
    return np.where(attention == "eager", CASES.index("eager"), plain)


def block_sizes(
    stack_hidden, stack_query_width, stack_key_width, stack_value_width, stack_ffn_width, stack_heads, stack_kv_heads, stack_sequence,
    hidden_dropout, attention_dropout, stack_experts, stack_experts_per_token, stack_expert_ffn_width, stack_shared_ffn_width,
    stack_latent_width, stack_query_latent_width, stack_source_ratio, stack_source_tokens, implementation_repeats_keys, batch,
):
    """The sizes of a block in the order of SIZES, shape (stacks, rows, sizes)."""
    key = np.where(implementation_repeats_keys > 0, stack_query_width, stack_key_width)
    value = np.where(implementation_repeats_keys > 0, np.maximum(stack_query_width, stack_value_width), stack_value_width)
    scores, source_scores = stack_heads * stack_sequence, stack_heads * stack_source_tokens
    return np.stack(np.broadcast_arrays(
        stack_hidden, stack_query_width, key, value, stack_ffn_width, stack_heads, stack_kv_heads, scores, stack_sequence,
        stack_hidden * hidden_dropout, scores * attention_dropout, stack_experts_per_token * stack_hidden,
        stack_experts_per_token * stack_expert_ffn_width, stack_experts, stack_experts_per_token, stack_experts * stack_hidden,
        stack_experts * stack_expert_ffn_width, stack_shared_ffn_width, stack_latent_width, stack_query_latent_width,
        stack_hidden * RELATIVE_POSITIONS / stack_sequence, stack_hidden * stack_source_ratio, stack_key_width * stack_source_ratio,
        source_scores, source_scores * attention_dropout,
        stack_sequence / batch, stack_hidden / batch, scores / batch, source_scores / batch, np.ones_like(stack_hidden),
    ), axis=-1)


def divided(coefficients, sizes, table):
    """Bytes per token of a linear form on one of the tensor-parallel GPUs.

    With sequence parallelism all is divided but the gathered outputs of the two norms, and those too where the backward pass
    gathers them again (Korthikanti et al. 2022, section 4.2.2);
    without it all that is `hidden` wide stays whole.
    """
    total = np.einsum("...z,...z->...", coefficients, sizes)
    hidden = np.einsum("...z,...z->...", coefficients[..., HIDDEN], sizes[..., HIDDEN])
    gathered = 2 * np.minimum(table["activation_bytes_each"], 4) * table["stack_hidden"] * (1 - table["implementation_regathers_norms"])
    whole = np.where(table["implementation_splits_sequence"] > 0, np.minimum(hidden, gathered), hidden)
    return (total - whole) / table["tensor_parallel"] + whole


def block_columns(table, catalogs):
    """The bytes per token of one block: as autograd saves it, as recompute keeps it, and at the worst moments."""
    tables = coefficient_tables(catalogs)
    at = (table["stack_kind"], np.broadcast_to(table["activation_format"], table["stack_kind"].shape), table["stack_attention_case"])
    sizes = table["stack_sizes"]
    adapts = table["adapts"]
    norms = 4 * table["rms_norms"] * table["stack_hidden"] * table["implementation_fuses_norms"]
    split = np.where(table["implementation_splits_sequence"] > 0, table["tensor_parallel"], 1)
    together = divided(tables["saved"][at], sizes, table) - norms / split
    alone = divided(tables["saved_alone"][at], sizes, table) - norms / split
    trained = np.where(table["batch"] == 1, alone, together)  # with one sequence some copies stay views
    frozen = divided(tables["frozen"][at], sizes, table) if adapts.any() else trained
    inputs = table["kept_input_bytes_each"] * (2 * table["stack_hidden"] + table["stack_ffn_width"])
    saved = np.where(adapts > 0, frozen + table["stack_adapter_saved_bytes_per_token"] + inputs, trained)
    core = tables["saved"][at[0], at[1], np.where(at[2] == CASES.index("eager"), 0, at[2])].copy()
    core[..., ATTENTION_CORE] = 0
    compiled = divided(vector(COMPILED), sizes, table)
    saved = np.where(table["compile"] == "yes", np.minimum(saved, compiled), saved)
    checkpoint = checkpoint_bytes_per_token(tables["checkpoint"][at], sizes, table)
    kept_products = divided(tables["selective_ops"][at], sizes, table) if table["keeps_products"].any() else saved
    without_core = np.minimum(divided(core, sizes, table), saved) if table["drops_attention"].any() else saved
    backward = np.where(table["keeps_all"] > 0, worst(tables["backward"], at, sizes, table), worst(tables["recomputed"], at, sizes, table))
    select = [table["keeps_input"] > 0, table["keeps_products"] > 0, table["drops_attention"] > 0]
    kept = np.select([np.broadcast_to(mask, saved.shape) for mask in select], [checkpoint, kept_products, without_core], saved)
    return {
        "stack_saved_bytes_per_token": saved,
        "stack_kept_bytes_per_token": kept,
        "stack_backward_bytes_per_token": saved + np.maximum(backward - together, 0),
        "stack_forward_bytes_per_token": worst(tables["forward"], at, sizes, table),
    }


def checkpoint_bytes_per_token(coefficients, sizes, table):
    """A checkpointed block keeps its input, divided where tensor parallelism divides the sequence too.

    bitsandbytes' int8 product holds its inputs where checkpointing cannot drop them.
    """
    split = np.where(table["implementation_splits_sequence"] > 0, table["tensor_parallel"], 1)
    held = table["kept_input_bytes_each"] * (2 * table["stack_hidden"] + table["stack_query_width"] + table["stack_ffn_width"])
    return np.einsum("...z,...z->...", coefficients, sizes) / split + held * table["adapts"]


def worst(moments, at, sizes, table):
    """The largest of the moments of a block."""
    chosen = [divided(moments[(*at, m)], sizes, table) for m in range(moments.shape[3])]
    return np.fmax.reduce(chosen)


def adapter_saved_bytes_per_token(table, projections):
    """What LoRA adds to the saved tensors of a block, per token (peft 0.21).

    An fp32 adapter keeps an fp32 copy of its input, one per adapted matrix, and under autocast a 16-bit one; a 16-bit adapter
    shares the input with its neighbours, and the output projection's with attention. Each keeps its `rank` wide product.
    """
    wide = (table["adapter_bytes_each"] == 4) & (table["autocast_bytes_each"] == 0) & (table["compute_bytes_each"] < 4)
    cast = (table["adapter_bytes_each"] == 4) & (table["autocast_bytes_each"] > 0)
    saved, shared = 0.0, {}
    for projection in projections:
        adapted = table[f"adapts_{projection}"] * (table[f"stack_adapter_{projection}_in"] > 0)
        width = table[f"stack_adapter_{projection}_in"]
        group = {"q": "norm", "k": "norm", "v": "norm", "gate": "mlp", "up": "mlp"}.get(projection, projection)
        alone = adapted * (1 - shared.get(group, 0 * adapted))
        shared[group] = np.maximum(shared.get(group, 0 * adapted), adapted)
        own = 0.0 if projection == "o" else table["adapter_bytes_each"]
        copy = np.where(wide, 4.0 * adapted, np.where(cast, 2.0 * adapted, own * alone))
        saved = saved + copy * width + adapted * np.where(cast, 2.0, table["adapter_bytes_each"]) * table["lora_rank"]
    return saved
