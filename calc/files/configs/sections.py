"""A config of one's own trainer: the fields of all its sections as those of one run."""

import re
from collections import ChainMap
from collections.abc import Iterator

from calc.files.configs.fields import field_catalog, tools
from calc.files.configs.own_scripts import ANY_TRAINER
from calc.files.configs.values import as_word, is_off
from calc.mappings import Json

FEWEST_SIGNS = 2  # of training
SHOWN = {"model", "batch", "script_batch", "optim"}  # of which a training config has one
SIGN = re.compile(
    r"(?:base_|max_|peak_|init_)?(?:lr\d?|learning_rate)|weight_decay|warmup_\w+|lr_scheduler\w*"
    r"|(?:num_|n_|total_|max_)?(?:train_)?epochs|grad\w*_accum\w*|accum\w*_steps|optim(?:izer)?"
    r"|lora_r(?:ank)?|gradient_checkpointing|wd|micro_b(?:s|sz|atch|atch_size)|mbs"
)  # fields that a config has where it trains
SWITCHES = ("enabled", "enable", "active", "activate", "use")  # of a section as a whole
OUTER_SWITCH = re.compile(  # beside the section that it turns off
    r"(?:use_|enable_)?(fsdp|deepspeed|lora|peft|quantization)(?:_(?:train|training|enabled?))?"
)
MOST_SHOWN = 36  # characters of the names of models to choose from
FEWEST_MODELS = 3  # in a list to choose from; two may be a policy and its reference
MODEL = "model_name_or_path"
NAMES_MODEL = ("hf_id", "name", "id", "path", "repo", "repo_id", "model_id", "hf_name")
CLASS_PATH = ".class_path"
TARGET = "_target_"  # of Hydra: the class that a section is passed to


def fields_of_sections(fields: Json) -> Json:
    """The fields of a nested config by a script's own names; empty where it trains nothing.

    What stands in a section for evaluation, or in one that is switched off, is left out.
    """
    fields = {_as_hydra(name): value for name, value in fields.items()}
    named: Json = {}
    off = _sections_off(fields)
    listed = _models_to_choose(fields)
    for name, value in fields.items():
        *sections, last = name.split(".")
        is_choice = ".".join(sections[:-1]) in listed and len(sections) > 1
        if not is_choice and not any(section.startswith(off) for section in sections):
            for plain, setting in _plain_names(sections, last, value, fields):
                named.setdefault(plain if plain not in named else name, setting)
    for models in listed.values():
        named.setdefault(MODEL, f"${{one of {len(models)}: {', '.join(models)[:MOST_SHOWN]}...}}")
    return named if _trains(named) else {}


def _as_hydra(name: str) -> str:
    """A field of a class of Lightning's command line as Hydra writes it: _target_ beside it."""
    plain = name.replace(".init_args.", ".")
    return f"{plain.removesuffix(CLASS_PATH)}.{TARGET}" if plain.endswith(CLASS_PATH) else plain


def _models_to_choose(fields: Json) -> dict[str, list[str]]:
    """The sections that hold several models by name, of which a run takes one, with those names."""
    found: dict[str, list[str]] = {}
    for name, value in fields.items():
        *sections, key, last = name.split(".") if name.count(".") > 1 else ("", "", "")
        if sections and last in NAMES_MODEL and "/" in str(value):
            found.setdefault(".".join(sections), []).append(key)
    return {section: models for section, models in found.items() if len(models) >= FEWEST_MODELS}


def _sections_off(fields: Json) -> tuple[str, ...]:
    """The beginnings of the names of sections that a switch inside or beside them turns off."""
    off = []
    for name, value in fields.items():
        *sections, last = name.split(".")
        if is_off(value) and sections and last in SWITCHES:
            off.append(sections[-1])
        elif as_word(value) == "false" and (switch := OUTER_SWITCH.fullmatch(last)):
            off.append(switch[1])
    return tuple(off)


def _plain_names(sections: list[str], last: str, value: object, fields: Json) -> Iterator:
    """Yield the name and value that a field of a section has outside of it, none if it is idle.

    The innermost section that says what the field is called counts.
    """
    tool = tools()[ANY_TRAINER]
    for depth in range(len(sections), 0, -1):
        target = str(fields.get(".".join((*sections[:depth], TARGET)), "")).rpartition(".")[2]
        if call := field_catalog().calls.get(target):
            yield from (call.sets or {}).items() if last == TARGET else ()
            renamed = call.names
            if last != TARGET and (plain := renamed.get(last, last) if renamed else last):
                yield plain, value
            return
        names = _section(sections[depth - 1])
        if names is not None and (last in names or not names):
            yield from [(names[last], value)] if names else []
            return
    is_plain = tool.knows(last) or SIGN.fullmatch(last)
    yield (last if is_plain else ".".join((*sections, last))), value


def _section(name: str) -> dict[str, str] | None:
    """The names of a section's fields, by words of its own name; None for any other section."""
    several = [
        fields
        for words, fields in field_catalog().sections.items()
        if any(word in name.lower() for word in words.split("|"))
    ]
    return dict(ChainMap(*several)) if several else None


def _trains(named: Json) -> bool:
    """Return whether fields say a model or a batch, and enough of how it is trained."""
    known = tools()[ANY_TRAINER].fields
    parts = {known[name].to for name in named if name in known}
    signs = sum(bool(SIGN.fullmatch(name)) for name in named)
    return bool(parts & SHOWN) and signs >= FEWEST_SIGNS
