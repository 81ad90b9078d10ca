"""Models whose blocks were read off on this machine, a file each in a folder of the user's.

The folder is HEADROOM_CATALOGS, else ~/.headroom/catalogs. A form holds bytes per token, per pair
of tokens and per position at the widths of that one model; tensor parallel is taken to divide none
of them, which is an upper bound.
"""

import hashlib
import json
import os
import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from calc.catalogs.load import Catalogs, add_models
from calc.catalogs.strict_yaml import CatalogError
from calc.files.streams import read, written
from calc.models.architecture import model_table
from calc.models.huggingface.config import read_config, read_config_text
from calc.models.huggingface.not_covered import read_documents

VECTORS, MOMENTS = ("saved", "frozen", "checkpoint"), ("backward", "recomputed", "forward")
TRAITS = {
    (True, False): "block",
    (True, True): "moe_block",
    (False, False): "linear_block",
    (False, True): "linear_moe_block",
}


def own_folder() -> Path:
    """The user's own folder of catalogs."""
    return Path(os.environ.get("HEADROOM_CATALOGS") or Path.home() / ".headroom" / "catalogs")


def with_simulated(catalogs: Catalogs, folder: Path | None = None) -> Catalogs:
    """The catalogs with every model of the folder; raises CatalogError."""
    entries: dict[str, Any] = {}
    blocks: dict[str, Any] = {}
    for file in sorted((folder or own_folder()).glob("*.json")):
        try:
            with read(str(file)) as stream:
                document = json.loads(stream.read())
            entries[file.stem], of_model = document["entry"], document["blocks"]
            blocks |= of_model
        except (OSError, ValueError, LookupError, TypeError) as error:
            raise CatalogError(
                f"{file}: it cannot be read ({type(error).__name__}); simulate the model "
                f"again, or delete the file."
            ) from None
    return (
        add_models(replace(catalogs, blocks=catalogs.blocks | blocks), entries)
        if entries
        else catalogs
    )


def simulated_id(config: Mapping[str, Any]) -> str:
    """The id of a config that has no name of its own: its type, and what tells it from others."""
    digest = hashlib.sha256(json.dumps(config, sort_keys=True).encode()).hexdigest()[:8]
    return f"{re.sub('[^a-z0-9]+', '-', str(config.get('model_type')).lower())[:40]}-{digest}"


def model_entry(text: str, model_id: str, catalogs: Catalogs) -> dict[str, Any]:
    """The entry of a config in JSON text, with its own blocks where it was simulated here."""
    entry = read_config_text(text, model_id, catalogs)
    path = own_folder() / f"{simulated_id(read_documents(text)[0])}.json"
    if f"simulated-{path.stem}-block" not in catalogs.blocks:
        return entry
    with read(str(path)) as stream:
        return json.loads(stream.read())["entry"] | {"name": entry["name"]}


def simulated_model(
    config: Mapping[str, Any], model_id: str, answer: Mapping[str, Any], catalogs: Catalogs
) -> dict[str, Any]:
    """A model with the parameters of its class and blocks of its own, as a document."""
    entry, simulated = read_config(config, model_id, catalogs), answer["blocks"]
    _, stacks = model_table({model_id: entry | {"source": "", "notes": ""}}, catalogs.families)
    counted = model_table({model_id: entry}, catalogs.families)[0].loc[model_id]
    release = ".".join(answer["transformers"].split(".")[:2])
    further = (simulated["parameters"] - counted["parameters"]) / counted["layers"] + entry.get(
        "further_parameters", 0
    )
    fields = {
        "further_parameters": further,
        "sized": 0,
        "left_out": "",
        "left_out_parameters": 0,
        "simulated_here": 1,
    }
    blocks = {}
    for trait in TRAITS.values():
        kinds = [
            kind for kind in simulated["kinds"] if TRAITS[kind["attends"], kind["experts"]] == trait
        ]
        block = f"simulated-{model_id}-{trait}"
        forms = mean_forms(
            kinds if _stacks_are(simulated["kinds"], stacks) and kinds else simulated["kinds"]
        )
        blocks[block] = {
            "families": [],
            "source": f"simulated here, transformers {release}",
            "forms": forms,
        }
        fields[trait] = block
    about = (
        f"Simulated here, transformers {release}: its blocks are read off its class; tensor "
        f"parallel is taken to divide none of them."
    )
    return {
        "entry": {
            **entry,
            **fields,
            "remark": about,
            "source": f"simulated here, transformers {release}",
        },
        "blocks": blocks,
    }


def _stacks_are(kinds: list[dict[str, Any]], stacks: Any) -> bool:
    """Whether the entry has a stack for each kind that was read off."""
    layers = {number: kind["layers"] for number, kind in enumerate(kinds)}
    return sorted(layers.values()) == sorted(int(count) for count in stacks["layers"])


def mean_forms(kinds: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Layers of several kinds as one: what they keep on average, the worst moments of all.

    Behind a window only those that keep another amount there count: the others see all tokens.
    """
    usual = {form["format"]: number for number, form in reversed([*enumerate(kinds[0]["forms"])])}
    forms = []
    for every in zip(*(kind["forms"] for kind in kinds), strict=True):
        form = {name: every[0][name] for name in ("format", "attention")}
        of_kinds = list(zip(kinds, every, strict=True))
        masked = [
            (kind, one)
            for kind, one in of_kinds
            if one["saved"] != kind["forms"][usual[form["format"]]]["saved"]
        ]
        counts = masked if masked and form["attention"] == "sdpa-window" else of_kinds
        layers, same = sum(kind["layers"] for kind, _ in counts), [one for _, one in counts]
        for name in VECTORS:
            sizes = dict.fromkeys(size for one in same for size in one[name])
            form[name] = {
                size: sum(kind["layers"] / layers * one[name].get(size, 0) for kind, one in counts)
                for size in sizes
            }
        for name in MOMENTS:
            if name in same[0]:
                form[name] = [moment for one in same for moment in one[name]]
        forms.append(form)
    return forms


def write_simulated(document: Mapping[str, Any], model_id: str, folder: Path | None = None) -> Path:
    """Write the file of a model; returns its path."""
    path = (folder or own_folder()) / f"{model_id}.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    with written(str(path)) as target:
        target.write(json.dumps(document, indent=1) + "\n")
    return path
