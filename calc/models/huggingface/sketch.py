"""A type that is not covered, read by usual names of sizes as a plain model.

No count: the range of its memory says how far such counts lie off
(validation/results/parts_left_out.csv). The names and the plain models are the section `sketches`
of catalogs/edited/model_types.yaml.
"""

import math
from collections.abc import Callable, Mapping
from typing import Any

from calc.mappings import Cells, Json
from calc.models.architecture import describe_model
from calc.models.expressions import compute
from calc.models.huggingface.config_parts import TextPart, part_labels, parts_beside
from calc.models.huggingface.type_rules import ModelTypes
from calc.models.huggingface.values import OWN_SIZES, ConfigError
from calc.remarks import remark
from calc.say.model_entry import entry_text

# Fields that say the same of any type.
FIELDS_OF_ANY_TYPE = (
    "quantization_config",
    "compression_config",
)
USUAL_HEAD = 64  # width of a head where none is stated
WRITERS = ("ForCausalLM", "LMHeadModel", "ForConditionalGeneration", "Decoder")
OF_WRITERS = ("rope_parameters", "rope_theta", "rms_norm_eps", "num_key_value_heads")


def sketch(config: Cells, model_types: ModelTypes, defaults: Cells, of_text: bool) -> Json | None:
    """The config of a plain model of these sizes; None if sizes are missing."""
    fields = model_types.sketches["fields"]
    own_fields: set[str] = set()  # whose defaults do not count
    if not of_text:
        for size in OWN_SIZES & fields.keys():
            own_fields |= {*fields[size].split()}
    values = {name: value for name, value in defaults.items() if name not in own_fields}
    values |= {name: value for name, value in config.items() if value is not None}
    sizes = usual_sizes(values, fields) | {
        "writes": writes(config, of_text, model_types),
        "writer": config.get("model_type") in model_types.sketches["writers"],
    }
    for plain in model_types.sketches["plain"]:
        if all(sizes.get(name) for name in plain["needs"].split()):
            names_of_size = model_types.types[plain["type"]].fields
            sizes = {**plain.get("sets", {}), **sizes}
            fields_of_sizes = {
                names.split()[0]: sizes[size]
                for size, names in names_of_size.items()
                if size in sizes
            }
            return {
                "model_type": plain["type"],
                **fields_of_sizes,
                **{name: config[name] for name in FIELDS_OF_ANY_TYPE if config.get(name)},
            }
    return None


def usual_sizes(config: Cells, fields: Cells) -> Json:
    """Our sizes by their usual names, with heads that divide the width and a network."""
    values_of_sizes = {
        ours: [config[name] for name in names.split() if _is_size(config.get(name))]
        for ours, names in fields.items()
    }
    sizes: Json = {ours: values[0] for ours, values in values_of_sizes.items() if values}
    sizes |= _of_stages(sizes)
    if "layers" not in sizes and "decoder_layers" not in sizes and "encoder_layers" in sizes:
        sizes["layers"] = sizes["encoder_layers"]
    if "hidden" in sizes and not isinstance(sizes["hidden"], list | tuple):
        if "ffn" in sizes or "patch" in sizes:
            sizes.setdefault("heads", max(sizes["hidden"] // USUAL_HEAD, 1))
        if "heads" in sizes and "head_dim" not in sizes:
            sizes["heads"] = math.gcd(int(sizes["hidden"]), int(sizes["heads"]))
        sizes.setdefault("ffn", int(sizes["hidden"] * sizes.get("ffn_ratio", 4)))
    if sizes.get("image") and sizes.get("patch"):
        sizes["image"] = max(sizes["image"] // sizes["patch"], 1) * sizes["patch"]
    return sizes


def _is_size(value: Any) -> bool:
    numbers = value if isinstance(value, list | tuple) else [value]
    return bool(numbers) and all(
        isinstance(number, int | float) and 0 < number < math.inf for number in numbers
    )


def _of_stages(sizes: Cells) -> Json:
    """All layers of all stages, and the one width that makes as many weights.

    Stages of convolutions alone, without heads or patches, are no such layers.
    """
    lists = {ours: list(value) for ours, value in sizes.items() if isinstance(value, list | tuple)}
    single = {ours: value[0] for ours, value in lists.items()}
    depths = lists.get("layers")
    if not depths:
        return single
    first = (
        sizes.get("stage_width", 0) or sizes.get("hidden", 0) // 2 ** (len(depths) - 1)
        if "hidden" not in lists
        else 0
    )
    widths = lists.get("hidden") or [first * 2**stage for stage in range(len(depths))]
    if len(widths) != len(depths) or not widths[0]:
        return single | {"layers": sum(depths)}
    squares = sum(depth * width**2 for depth, width in zip(depths, widths, strict=True))
    heads = single.get("heads", sizes.get("heads", int("patch" in sizes)))
    if not heads:
        return {"layers": 0}
    hidden = max(round(math.sqrt(squares / sum(depths)) / heads), 1) * heads
    return single | {"layers": sum(depths), "hidden": hidden, "heads": heads}


def writes(config: Cells, of_text: bool, model_types: ModelTypes) -> bool:
    """Return whether the model generates text: by its class, type, place or fields."""
    classes = config.get("architectures")
    if isinstance(classes, list) and classes:
        return str(classes[0]).endswith(WRITERS)
    if config.get("model_type") in model_types.sketches["writers"]:
        return True
    return of_text or any(config.get(name) for name in OF_WRITERS)


def beside_parameters(config: Cells, model_types: ModelTypes) -> dict[str, int]:
    """Return parameters beyond the plain models of a type's sizes, by part; {} if it has none."""
    formulas = model_types.beside_sketches.get(str(config.get("model_type")), {})
    try:
        return {name: int(count) for name, count in compute(formulas, config.get).items()}
    except (TypeError, ValueError, ArithmeticError):
        return {}


def largest_part(part: TextPart, catalogs: Any, read: Callable[[Cells], Json]) -> Json | None:
    """Return the entry of one part of a model, with the parameters of the others as left out.

    It is the part itself (its name is "") if that writes text, and otherwise the largest part. A
    part whose type the catalog does not cover is read from fields with the usual names. None if no
    part can be read.
    """
    of_text = part.outer is not None
    outer = part.config if part.outer is None else part.outer
    siblings = parts_beside(outer, catalogs.config_defaults)
    entries = read_parts(siblings, catalogs, read)
    own_entry = _own_entry(part, catalogs, read)
    if own_entry:
        entries[""] = own_entry
    if not entries:
        return None
    counts = {name: counted_parameters(entry, catalogs) for name, entry in entries.items()}
    leads = "" in entries and (of_text or writes(part.config, of_text, catalogs.model_types))
    part_name = "" if leads else max(counts, key=lambda name: counts[name])
    entry = entries[part_name]
    others = {name or "other": count for name, count in counts.items() if name != part_name}
    others |= beside_parameters(outer, catalogs.model_types)
    unknown = [name for name in siblings if name not in entries]
    if not others and not unknown:
        return entry
    return {
        **entry,
        **_left_out(others, unknown, entry.get("left_out_parameters", 0)),
        "sized": entry.get("sized", 1),
    }


def _own_entry(part: TextPart, catalogs: Any, read: Callable[[Cells], Json]) -> Json | None:
    """Return the entry of a part by its type, or by its sizes if its type is not covered."""
    model_types = catalogs.model_types
    is_covered = part.model_type in model_types.covered_types()
    config: Json | None = {**part.config}
    if not is_covered:
        defaults = catalogs.config_defaults.get(part.model_type, {})
        config = sketch(part.config, model_types, defaults, part.outer is not None)
    entry = read_parts({"": config} if config else {}, catalogs, read).get("")
    if entry is None or is_covered:
        return entry
    without_blocks = dict.fromkeys(("block", "moe_block", "encoder_block"), "")
    return entry | {"sized": 2, "learned_positions": 0} | without_blocks


def sized_parts(outer: Cells, catalogs: Any, read: Callable[[Cells], Json]) -> Json:
    """Return the sizes of the parts besides the text that no catalog covers; {} without any."""
    parts = parts_beside(outer, catalogs.config_defaults)
    counts = {
        name: counted_parameters(entry, catalogs)
        for name, entry in read_parts(parts, catalogs, read).items()
    }
    if counts:
        return {**_left_out(counts, [name for name in parts if name not in counts]), "sized": 1}
    return {}


def _left_out(counts: Mapping[str, int], unknown: list[str], inside: int = 0) -> Json:
    """Return what an entry says of the other parts, and the number of their parameters.

    `counts`: parameters by part. `unknown`: the parts of unknown size. `inside`: further
    parameters.
    """
    parts = remark(
        "sized-parts-left-out", unknown=part_labels(unknown), sized=part_labels([*counts])
    )
    return {"left_out": entry_text(parts), "left_out_parameters": sum(counts.values()) + inside}


def read_parts(
    configs: Mapping[str, Cells], catalogs: Any, read: Callable[[Cells], Json]
) -> dict[str, Json]:
    """The entry of each part that can be read.

    The class of a part fills in what its config leaves out.
    """
    entries = {}
    for name, config in configs.items():
        try:
            entries[name] = read(
                {**catalogs.config_defaults.get(str(config.get("model_type")), {}), **config}
            )
        except ConfigError:
            continue
    return entries


def counted_parameters(entry: Json, catalogs: Any) -> int:
    """Parameters of an entry with what it leaves out. [parameters]"""
    model, _ = describe_model(entry, catalogs.families)
    return int(model.get("parameters", 0)) + entry.get("left_out_parameters", 0)
