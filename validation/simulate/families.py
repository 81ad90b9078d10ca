"""All families of blocks that are read off, from families.yaml."""

from pathlib import Path

import yaml

from validation.simulate import kinds, sizes, towers
from validation.simulate.family import Family

DATA = yaml.safe_load(Path(__file__).with_name("families.yaml").read_text())
# Attributes that may name an entry of their table.
NAMED = (
    "fields",
    "sizes",
    "attentions",
    "widths",
)
TUPLES = ("sizes", "attentions", "layers", "types")


def _inherited(entries, name):
    """Return a family's entry completed by the entry that it is like.

    Its further fixed fields are added.
    """
    entry = entries[name]
    if "like" not in entry:
        return entry
    parent = {key: value for key, value in entries[entry["like"]].items() if key != "types"}
    return parent | entry | {"fixed": parent.get("fixed", {}) | entry.get("fixed", {})}


def _family(name, entry):
    """The family of an entry."""
    values = {key: value for key, value in entry.items() if key not in ("like", "kind", "model")}
    if "model" in entry:
        values |= {"config": f"{entry['model']}Config", "head": f"{entry['model']}ForCausalLM"}
    for key in NAMED:
        value = values.get(key, "grouped" if key == "widths" else None)
        if isinstance(value, str):
            values[key] = DATA[key][value]
    values["equal"] = (
        DATA["widths"][entry["equal"]]
        if "equal" in entry
        else [case | {"kv_heads": case["heads"]} for case in values["widths"]]
    )
    values |= {key: tuple(values[key]) for key in TUPLES if key in values}
    if "further" in entry:
        values["further"] = getattr(sizes, entry["further"])
    kind = entry.get("kind", "")
    return (getattr(kinds, kind, None) or getattr(towers, kind, Family))(id=name, **values)


def _families(group):
    """The families of one group of entries, by id."""
    return {name: _family(name, _inherited(DATA[group], name)) for name in DATA[group]}


FAMILIES, MIXERS = _families("families"), _families("mixers")
