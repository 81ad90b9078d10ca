"""Writes catalogs/read_off/config_defaults.yaml from the config classes of transformers.

It holds what a class fills in for a field that a config.json leaves out.

Only the fields that calc/models/huggingface reads; a field that a class leaves empty is left out.
Run it again when the pinned transformers changes, with requirements-validation.txt installed:
`python -m validation.config_defaults`.
"""

import inspect
import json
from datetime import date

from calc import load_catalogs
from calc.catalogs.rooms import path_of
from calc.models.huggingface.config_parts import TEXT_PARTS
from calc.models.huggingface.entries import TEXT_SIDE

FILE = path_of("config_defaults")
HEAD = """\
# yaml-language-server: $schema=schema/config_defaults.json
# What the config class of each model_type fills in for a field that a config.json leaves out,
# by the class's own names.
# Written by validation/config_defaults.py; a field that the class leaves empty is left out.
"""


def is_made(config_class):
    """Return whether a class can be made without arguments; one that needs its parts cannot."""
    try:
        config_class()
    except Exception:
        return False
    return True


def class_defaults(config_class, names):
    """Defaults of a config class by field, as declared or else as an instance has them.

    Defaults of None and mappings are left out.
    """
    declared = {
        name: parameter.default
        for name, parameter in inspect.signature(config_class.__init__).parameters.items()
    }
    made = config_class()
    fields = [name for name in names if name not in config_class.attribute_map]
    defaults = {
        name: declared[name] if name in declared else getattr(made, name, None) for name in fields
    }
    return {
        name: value
        for name, value in defaults.items()
        if value is not None and not isinstance(value, dict)
    }


def parts_filled_in(config_class):
    """Return the parts besides its text that a config class fills in by itself.

    As {"sub_configs": names}; {} if there are none.
    """
    made = config_class()
    parts = [
        name
        for name in config_class.sub_configs
        if name not in TEXT_PARTS and getattr(made, name, None) is not None
    ]
    return {"sub_configs": parts} if parts else {}


def config_defaults():
    """Defaults by model_type and field, from the installed transformers."""
    from transformers import CONFIG_MAPPING

    model_types = load_catalogs().model_types
    names = {
        name: [field for fields in entry.fields.values() for field in fields.split()]
        for name, entry in model_types.types.items()
    }
    names |= {f"{pair}_text_model": names[TEXT_SIDE] for pair in model_types.pairs} | {
        pair: [] for pair in model_types.pairs
    }
    names = {name: [*fields, *model_types.rule_fields] for name, fields in names.items()}
    names |= {
        tower: [*names.get(tower, ()), *model_types.tower_fields] for tower in model_types.towers
    }
    names |= {
        name: ["tie_word_embeddings"]
        for name, parts in model_types.parts.items()
        if parts.text and name not in names
    }
    of_parts = {
        name: config_class.sub_configs
        for name, config_class in CONFIG_MAPPING.items()
        if config_class.sub_configs
    }
    several = {*model_types.parts} | {
        name
        for name, parts in of_parts.items()
        if name not in names or {*TEXT_PARTS} & parts.keys()
    }
    several -= {*model_types.pairs}
    usual = [
        field for fields in model_types.sketches["fields"].values() for field in fields.split()
    ]
    names |= {
        name: usual
        for name in CONFIG_MAPPING
        if name not in model_types.covered_types() and name not in names
    }
    names |= {name: [] for name in several if name not in names}
    classes = {
        name: CONFIG_MAPPING[name]
        for name in sorted(names)
        if name in CONFIG_MAPPING and name.islower() and is_made(CONFIG_MAPPING[name])
    }
    defaults = {
        name: class_defaults(config_class, dict.fromkeys(names[name]))
        | (parts_filled_in(config_class) if name in several else {})
        for name, config_class in classes.items()
    }
    return {model_type: recorded for model_type, recorded in defaults.items() if recorded}


def main():
    import transformers

    source = (
        f"transformers {transformers.__version__}, the config classes of "
        f"transformers/models/*/configuration_*.py"
    )
    lines = [f"source: {source}", f"checked_on: {date.today().isoformat()}", "config_defaults:"]
    for model_type, defaults in config_defaults().items():
        fields = ", ".join(
            f"{name}: {json.dumps(value)}" for name, value in sorted(defaults.items())
        )
        lines.append(f"  {model_type}: {{{fields}}}")
    FILE.write_text(HEAD + "\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
