"""A model's architecture as two tables: one row per model, and one row per stack of blocks.

An entry is one model of catalogs/edited/models.yaml, or one that calc/models/huggingface/config.py
reads from a config: its sizes, and how it differs from its family (catalogs/edited/families.yaml).
`parameters` counts the parameters of the class in transformers; checkpoints may add buffers.
Counts, not bytes.
"""

import math
from collections.abc import Iterator, Mapping

import pandas as pd

from calc.evaluate import evaluate_all, formulas_of, parameters_of
from calc.mappings import Json
from calc.models import (
    attention,
    block_parameters,
    lora_widths,
    network,
    outside_adapters,
    outside_parameters,
)
from calc.models.stacks import Sizes, sizes_of_stacks
from calc.remarks import remark
from calc.say.model_entry import entry_text

TEXTS = (
    "name",
    "family",
    "model_type",
    "kind",
    "hf_repo",
    "refused",
    "stored_precision",
    "published_precision",
    "extended_by",
    "tower_block",
    "caveat",
    "training_caveat",
    "remark",
    "left_out",
    "source",
    "checked_on",
    "notes",
)
MODEL_COLUMNS = (
    "name",
    "family",
    "model_type",
    "kind",
    "hf_repo",
    "layers",
    "hidden",
    "heads",
    "kv_heads",
    "head_dim",
    "vocab",
    "max_position",
    "parameters",
    "active_parameters",
    "embedding_parameters",
    "head_parameters",
    "tied",
    "always_tied",
    "outside_parameters",
    "outside_adapter_width",
    "layer_inputs_width",
    "outputs",
    "fixed_tokens",
    "hidden_dropout",
    "attention_dropout",
    "softcap",
    "partial_cache",
    "rms_norms",
    "recurrent_bytes_each",
    "longest_sequence_tokens",
    "refused",
    "expert_share_ratio",
    "left_out_parameters",
    "stored_precision",
    "published_precision",
    "total_parameters",
    "extended_tokens",
    "extended_by",
    "leaves_out",
    "sized",
    "simulated_here",
    "tower_layers",
    "tower_full_layers",
    "tower_window_tokens",
    "tower_hidden",
    "tower_heads",
    "tower_ffn",
    "tower_linear_parameters",
    "tower_block",
    "patches_per_image_token",
    "usual_image_tokens",
    "largest_image_tokens",
    "caveat",
    "training_caveat",
    "remark",
    "left_out",
    "source",
    "checked_on",
    "notes",
)
FORMULAS = tuple(
    formula for module in (outside_parameters, outside_adapters) for formula in formulas_of(module)
)
STACK_MODULES = (attention, network, block_parameters, lora_widths)
STACK_FORMULAS = tuple(formula for module in STACK_MODULES for formula in formulas_of(module))
MADE = {formula.__name__ for formula in (*FORMULAS, *STACK_FORMULAS)}
READ = {
    name for formula in (*FORMULAS, *STACK_FORMULAS) for name in parameters_of(formula)
} | {  # and by stacks, mixers and tables
    "encoder_layers",
    "decoder_layers",
    "encoder_routed_layers",
    "decoder_routed_layers",
    "text_layers",
    "text_heads",
    "text_ffn",
    "experts_per_token",
    "expert_ffn",
    "shared_ffn",
    "query_latent_rank",
    "time_rank",
    "recurrent_bytes_each",
    "extended_tokens",
    "state_heads",
    "state_head_dim",
    "state_size",
    "state_groups",
    "total_parameters",
    "left_out_parameters",
    "sized",
    "simulated_here",
    "tower_full_layers",
    "tower_window_tokens",
    "tower_heads",
    "patches_per_image_token",
    "usual_image_tokens",
    "largest_image_tokens",
}
# The value of a size that an entry leaves out because its model does not have it.
ABSENT: Sizes = dict.fromkeys(READ - MADE - {"kind"}, 0) | {
    "window_tokens": math.inf,
    "channels": 3,
    "caches": 1,
    "owns_keys": 1,
}
ABSENT |= {"layer_kinds": (), "encoder_sizes": {}}
# The sizes without which a model of a kind, or its tower for images, cannot be counted; one of a|b.
NEEDED = {
    "decoder": ("layers", "ffn|expert_ffn|state_size|state_heads", "vocab"),
    "encoder": ("layers", "ffn", "vocab"),
    "encoder-decoder": ("encoder_layers", "decoder_layers", "ffn", "vocab"),
    "vision": ("layers", "ffn", "image|patches", "patch"),
    "dual": (
        "layers",
        "ffn",
        "image|patches",
        "patch",
        "text_layers",
        "text_hidden",
        "text_heads",
        "text_ffn",
        "vocab",
        "projection",
    ),
    "audio": ("encoder_layers", "decoder_layers", "ffn", "mel_bins", "source_positions", "vocab"),
    "sound": ("layers", "ffn"),
    "tower": (
        "tower_layers",
        "tower_hidden",
        "tower_heads",
        "tower_ffn",
        "patches_per_image_token",
        "usual_image_tokens",
    ),
    "any": ("hidden", "heads", "kv_heads", "head_dim"),
}
ADAPTER_COLUMNS = tuple(
    formula.__name__
    for formula in formulas_of(lora_widths)
    if formula.__name__.startswith("adapter_")
)
STACK_IDS = ("model", "stack", "block", "side")
STACK_COLUMNS = (
    *STACK_IDS,
    "layers",
    "hidden",
    "query_width",
    "key_width",
    "value_width",
    "ffn_width",
    "heads",
    "kv_heads",
    "head_dim",
    "window_tokens",
    "experts",
    "experts_per_token",
    "expert_ffn_width",
    "shared_ffn_width",
    "latent_width",
    "query_latent_width",
    "read_elements_per_token",
    "cached_elements_per_token",
    "cross_cached_elements_per_token",
    "recurrent_state_elements",
    "convolution_state_elements",
    "mixer_in_width",
    "mixer_inputs",
    "convolution_channels",
    "mixer_width",
    "mixer_heads",
    "state_group_width",
    "state_key_width",
    "per_layer_width",
    "expert_latent",
    "cross_attention",
    "block_parameters",
    "block_linear_parameters",
    "block_expert_parameters",
    "block_largest_matrix",
    "waveform_active_parameters",
    "own_layers_ratio",
    "rms_norm_width",
    "layer_norm_width",
    "gated_ffn_width",
    "norms_heads",
    "capped_scores",
    *ADAPTER_COLUMNS,
)


def sizes_of(entry: Json, traits: Json) -> Sizes:
    """All sizes and traits of a model: from its entry, else from its family, else 0."""
    sizes = {**ABSENT, **traits, **entry}
    sizes["text_width"] = sizes["text_hidden"] or sizes["hidden"]
    sizes["embedding_width"] = sizes["embedding_width"] or sizes["text_width"]
    sizes["value_head_dim"] = sizes["value_head_dim"] or sizes["head_dim"]
    sizes["largest_image_tokens"] = sizes["largest_image_tokens"] or sizes["usual_image_tokens"]
    return {name: int(value) if isinstance(value, bool) else value for name, value in sizes.items()}


def uncounted_sizes(entry: Json, sizes: Sizes) -> list[str]:
    """The needed sizes that are missing, and sizes that are below 0 or not finite."""

    def is_known(name: str) -> bool:
        is_whole = sizes[name] % 1 == 0 or name == "patches_per_image_token"
        return 0 < sizes[name] < math.inf and is_whole

    towers = NEEDED["tower"] if sizes.get("tower_block") or sizes["usual_image_tokens"] else ()
    needed_sizes = (*NEEDED["any"], *NEEDED[sizes["kind"]], *towers)
    missing = [names for names in needed_sizes if not any(map(is_known, names.split("|")))]
    impossible = [
        name
        for name, value in entry.items()
        if isinstance(value, int | float)
        and name != "further_parameters"
        and not 0 <= value < math.inf
    ]
    return list(dict.fromkeys([*missing, *impossible]))


def stacks_of(sizes: Sizes) -> Iterator[Sizes]:
    """The sizes of each stack that has layers, with the results of every formula of a block."""
    for stack in sizes_of_stacks(sizes):
        yield evaluate_all(STACK_FORMULAS, stack)


def describe_model(entry: Json, traits_by_family: Mapping[str, Json]) -> tuple[Sizes, list[Sizes]]:
    """The row of one model and the rows of its stacks; a refused model has no stacks."""
    if "refused" in entry:
        return {**ABSENT, **entry}, []
    if "total_parameters" in entry:
        return total_alone(entry), []
    traits = traits_by_family[entry["model_type"]]
    sizes = sizes_of(entry, traits)
    if uncounted := uncounted_sizes(entry, sizes):
        names = tuple(names.replace("|", " or ") for names in uncounted)
        why = remark("sizes-missing", name=entry["name"], sizes=names)
        return {**ABSENT, **entry, "refused": entry_text(why)}, []
    if sizes["activation"] != traits["activation"]:
        sizes |= {
            side: f"{traits[side]}-{sizes['activation']}"
            for side in ("block", "encoder_block")
            if traits[side]
        }
    model = evaluate_all(FORMULAS, sizes)
    stacks = list(stacks_of(model))
    in_blocks = round(sum(stack["layers"] * stack["block_parameters"] for stack in stacks))
    of_experts = [
        (stack["layers"] * stack["block_expert_parameters"], stack)
        for stack in stacks
        if stack["experts"]
    ]
    idle = sum(
        count * (1 - stack["experts_per_token"] / stack["experts"]) for count, stack in of_experts
    )
    model["layers"] = sum(stack["layers"] for stack in stacks)
    model["parameters"] = model["outside_parameters"] + in_blocks
    model["active_parameters"] = model["parameters"] - idle
    model["expert_share_ratio"] = sum(count for count, _ in of_experts) / model["parameters"]
    model["leaves_out"] = int(bool(model.get("left_out")))
    return model, stacks


def total_alone(entry: Json) -> Sizes:
    """The refused row of a model of which only the parameter count is known."""
    total = entry["total_parameters"]
    counts = {
        "kind": "decoder",
        "parameters": total,
        "head_parameters": 0,
        "always_tied": 0,
        "outside_parameters": 0,
    }
    why = remark(
        "total-alone",
        name=entry["name"],
        model_type=entry["model_type"][:40],
        parameters=total,
        weights_bytes=total * 2,
    )
    return {**ABSENT, **counts, **entry, "refused": entry_text(why)}


def model_table(
    entries: Mapping[str, Json], traits_by_family: Mapping[str, Json]
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """The tables `models` and `stacks` of these entries (id -> entry); unknown numbers are NaN."""
    descriptions = {
        model: describe_model(entry, traits_by_family) for model, entry in entries.items()
    }
    rows = {model: row for model, (row, _) in descriptions.items()}
    models = (
        pd.DataFrame.from_dict(rows, orient="index")
        .reindex(columns=list(MODEL_COLUMNS))
        .rename_axis("id")
    )
    numbers = [name for name in MODEL_COLUMNS if name not in TEXTS]
    models = models.astype({**dict.fromkeys(numbers, float), **dict.fromkeys(TEXTS, object)})
    models[list(TEXTS)] = models[list(TEXTS)].fillna("")
    stacks = pd.DataFrame(
        [
            {**stack, "model": model}
            for model, (_, model_stacks) in descriptions.items()
            for stack in model_stacks
        ],
        columns=list(STACK_COLUMNS),
    )
    return models, stacks.astype({name: float for name in STACK_COLUMNS if name not in STACK_IDS})
