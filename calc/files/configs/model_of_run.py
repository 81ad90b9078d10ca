"""The model of a run: by its name, by what stands in a folder, or by its sizes."""

import re
from typing import Any

from calc.catalogs.load import Catalogs
from calc.evaluate import Row
from calc.files.configs.fields import Tool, field_catalog
from calc.files.configs.folders import is_folder, model_in_folder, unknown_model
from calc.files.configs.model_names import by_sizes, model_id
from calc.files.configs.own_scripts import ANY_TRAINER
from calc.files.configs.run_settings import RunSettings
from calc.files.configs.tool_commands import Reading

SIZE = "size_"  # prefix of the parts that give a size of the model
CLASS_ENDS = re.compile(r"(For[A-Z]|LMHead|Model$).*")  # of LlamaForCausalLM
FAMILY = "named_family"  # the part of a flag that says whose shapes the sizes are
SERVED_AS = "{} is taken to hold {}, which the files name beside it."
NO_MODEL = "no model of the catalog has these sizes ({}); is it {}"
SEVERAL = "these sizes ({}) do not say which model it is: is it {}"


def settle_folder(
    settings: RunSettings, catalogs: Catalogs, downloads: dict[str, str], names: list[str]
) -> None:
    """Take the model of a folder: what the files download there, or what it is made from.

    `names`: those under which it is stored or served, which count last and are noted.
    """
    named = str(settings.values.get("model") or settings.values.get("built_from") or "")
    if not is_folder(named) or model_id(named, catalogs):
        return
    beside = (str(settings.values.get(part, "")) for part in ("built_from", "tokenizer"))
    found = (model_in_folder(name, downloads) or name for name in beside)
    known = next((name for name in found if model_id(name, catalogs)), "")
    inside = model_in_folder(named, downloads) or known
    served = next((name for name in names if model_id(name, catalogs)), "")
    if not inside and served:
        settings.notes.append(SERVED_AS.format(named[:40], served[:40]))
    settings.values["model"] = inside or served or named


def settle_from_sizes(settings: RunSettings, main: Tool, catalogs: Any, instead: str) -> None:
    """Settle the model of a tool that gives its sizes; `instead` where no model has them."""
    parts = {name: name.removeprefix(SIZE) for name in settings.values if name.startswith(SIZE)}
    if "model" in settings.values or not {"layers", "hidden", "heads"} <= set(parts.values()):
        settings.unused |= dict.fromkeys(
            settings.fields[name] for name in parts if name in settings.explicit
        )
        return
    tokenizer = model_id(str(settings.values.get("tokenizer", "")), catalogs)
    models, closest = by_sizes(
        {size: settings.values[name] for name, size in parts.items()}, catalogs, tokenizer
    )
    unread = [
        settings.fields.get(name, name.removeprefix(SIZE))
        for name in settings.left
        if name.startswith((SIZE, FAMILY))
    ]
    tells = main.id != ANY_TRAINER or {"size_ffn", "size_vocab"} & parts.keys()
    if len(models) == 1 and not unread and tells:
        origin = (*parts, "tokenizer") if models == [tokenizer] else tuple(parts)
        settings.values["model"] = models[0]
        settings.fields["model"] = main.name
        settings.made_of["model"] = origin
    elif not instead:
        size_words = ", ".join(
            f"{size} {settings.values[name]}" for name, size in sorted(parts.items())
        )
        doubt = (
            SEVERAL.format(size_words, " or ".join(models))
            if models
            else NO_MODEL.format(size_words, closest)
        )
        settings.complain(f"{main.name}: {doubt}? Choose it, or add its config.json.", "model")


def settle_other_name(settings: RunSettings, readings: list[Reading], catalogs: Catalogs) -> None:
    """Take the model that a field of no tool names, where no field of the tools does."""
    if settings.values.get("model"):
        return
    for reading in readings:
        for name, value in reading.fields.items():
            is_model = name in settings.unused and name.rpartition(".")[2] in _names_of_models()
            if is_model and "/" in str(value) and model_id(str(value), catalogs):
                settings.put("model", str(value), name, reading)
                settings.unused.pop(name)
                return


def _names_of_models() -> list[str]:
    return field_catalog().keys.model


def check_model_class(settings: RunSettings, catalogs: Catalogs) -> None:
    """Leave the model open where the class that a file loads it with is that of another type."""
    model = model_id(str(settings.values.get("model") or ""), catalogs)
    class_name = str(settings.values.get("model_class") or "")
    stem = CLASS_ENDS.sub("", class_name).lower()
    kind = str(catalogs.models["model_type"].get(model, "")).replace("_", "")
    is_of_type = stem.startswith(("auto", kind)) or kind.startswith(stem)
    if model and not is_of_type:
        settings.values.pop("model")
        settings.complain(
            f"{settings.files['model_class']}: {class_name} does not load {model}; is it {model}? "
            f"Choose it, or name another.",
            "model",
        )


def known_model(settings: RunSettings, main: Tool, columns: Row, catalogs: Catalogs) -> str:
    """Return the id of the model for the length that is served; note one that is not known."""
    name = str(columns["model"])
    served_tokens = columns.get("sequence_tokens") if main.work == "inference" else None
    model = _long_enough(name, served_tokens, catalogs)
    if model not in catalogs.models.index:
        where = f"{settings.files.get('model', main.name)}, {settings.fields['model']}"
        settings.complain(unknown_model(name, where, catalogs), "model")
    return model


def _long_enough(name: str, tokens: Any, catalogs: Catalogs) -> str:
    """The id of a model; of a later release of its shapes where the served length needs it."""
    model = model_id(name, catalogs) or name
    releases = {
        other: base for base, later in field_catalog().longer.items() for other in later.values()
    }
    base = releases.get(model, model)
    later = next(
        (other for word, other in field_catalog().longer.get(base, {}).items() if word in name), ""
    )
    if later and tokens and float(tokens) > catalogs.models["max_position"][base]:
        return str(later)
    return base
