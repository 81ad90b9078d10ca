"""Models whose blocks were read off on this machine, a file each in a folder of the user's.

The folder is HEADROOM_CATALOGS, else ~/.headroom/catalogs. A form holds bytes per token, per pair
of tokens and per position at the widths of that one model; tensor parallel is taken to divide none
of them, which is an upper bound.
"""

import hashlib
import json
import os
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

from calc.catalogs.load import Catalogs, add_models
from calc.catalogs.schema_check import check_schema
from calc.catalogs.strict_yaml import CatalogError
from calc.files.streams import read, replacing_stream
from calc.mappings import Json
from calc.models.architecture import model_table
from calc.models.foreign import visible
from calc.models.huggingface.config import ConfigError, read_config, read_config_text
from calc.models.huggingface.not_covered import read_documents

FORMAT = 1  # of the files; a release that changes their form counts on
LARGEST_CHARACTERS = 2_000_000  # of a file
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
    """Return the catalogs with every model of the folder that can be read.

    A file that cannot be read, does not match the schema or names a model of the catalog is left
    out; `left_out` of the result has a sentence for each.
    """
    left_out = []
    for file in sorted((folder or own_folder()).glob("*.json")):
        try:
            catalogs = _with_own_model(catalogs, file)
        except (CatalogError, ConfigError) as error:
            left_out.append(f"{visible(file.name)} of your own catalogs is left out. {error}")
        except (
            OSError,
            ArithmeticError,
            LookupError,
            TypeError,
            ValueError,
            RecursionError,
        ) as fault:
            left_out.append(
                f"{visible(file.name)} of your own catalogs is left out: it cannot be read "
                f"({type(fault).__name__}). Simulate the model again, or delete the file."
            )
    if not left_out:
        return catalogs
    return replace(catalogs, left_out=(*catalogs.left_out, *left_out))


def _with_own_model(catalogs: Catalogs, file: Path) -> Catalogs:
    """The catalogs with the model of one file."""
    with read(str(file)) as stream:
        document = json.loads(stream.read(LARGEST_CHARACTERS + 1))
    check_schema(document, "simulated_model", file.name)
    _check_release(document.get("format"), file.name)
    taken = sorted(document["blocks"].keys() & catalogs.blocks.keys())
    if taken:
        raise CatalogError(f"The catalog already has a block '{taken[0]}'; simulate it again.")
    with_blocks = replace(catalogs, blocks=catalogs.blocks | document["blocks"])
    extended = add_models(with_blocks, {file.stem: document["entry"]})
    return replace(extended, base=catalogs)


def _check_release(release: Any, name: str) -> None:
    """Refuse a file of another format than this release writes."""
    if release not in (None, FORMAT):
        raise CatalogError(
            f"{name} was written by another release (format {visible(str(release))}, this one "
            f"reads {FORMAT}); simulate the model again."
        )


def simulated_id(config: Json) -> str:
    """The id of a config that has no name of its own: its type, and what tells it from others."""
    digest = hashlib.sha256(json.dumps(config, sort_keys=True).encode()).hexdigest()[:8]
    return f"{re.sub('[^a-z0-9]+', '-', str(config.get('model_type')).lower())[:40]}-{digest}"


def model_entry(text: str, model_id: str, catalogs: Catalogs) -> Json:
    """The entry of a config in JSON text, with its own blocks where it was simulated here."""
    entry = read_config_text(text, model_id, catalogs)
    path = own_folder() / f"{simulated_id(read_documents(text)[0])}.json"
    if f"simulated-{path.stem}-block" not in catalogs.blocks:
        return entry
    with read(str(path)) as stream:
        return json.loads(stream.read())["entry"] | {"name": entry["name"]}


def simulated_model(config: Json, model_id: str, answer: Json, catalogs: Catalogs) -> Json:
    """A model with the parameters of its class and blocks of its own, as a document."""
    entry = read_config(config, model_id, catalogs)
    simulated = answer["blocks"]
    release = ".".join(answer["transformers"].split(".")[:2])
    source = f"simulated here, transformers {release}"
    _, stacks = model_table({model_id: entry | {"source": "", "notes": ""}}, catalogs.families)
    counted = model_table({model_id: entry}, catalogs.families)[0].loc[model_id]
    further = (simulated["parameters"] - counted["parameters"]) / counted["layers"]
    forms = _forms_by_trait(simulated["kinds"], stacks)
    names = {trait: f"simulated-{model_id}-{trait}" for trait in forms}
    about = (
        f"Simulated here, transformers {release}: its blocks are read off its class; tensor "
        f"parallel is taken to divide none of them."
    )
    return {
        "entry": {
            **entry,
            "further_parameters": further + entry.get("further_parameters", 0),
            "sized": 0,
            "left_out": "",
            "left_out_parameters": 0,
            "simulated_here": 1,
            **names,
            "remark": about,
            "source": source,
        },
        "blocks": {
            names[trait]: {"families": [], "source": source, "forms": of_trait}
            for trait, of_trait in forms.items()
        },
    }


def _forms_by_trait(kinds: list[Json], stacks: Any) -> dict[str, list[Json]]:
    """Return the mean forms of the simulated kinds of blocks with each trait, else of all."""
    by_trait: dict[str, list[Json]] = {}
    if _stacks_are(kinds, stacks):
        for kind in kinds:
            by_trait.setdefault(TRAITS[kind["attends"], kind["experts"]], []).append(kind)
    return {trait: mean_forms(by_trait.get(trait, kinds)) for trait in TRAITS.values()}


def _stacks_are(kinds: list[Json], stacks: Any) -> bool:
    """Return whether the entry has a stack for each kind that was read off."""
    layers = {number: kind["layers"] for number, kind in enumerate(kinds)}
    return sorted(layers.values()) == sorted(int(count) for count in stacks["layers"])


def mean_forms(kinds: list[Json]) -> list[Json]:
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
        layers = sum(kind["layers"] for kind, _ in counts)
        same = [one for _, one in counts]
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


def write_simulated(document: Json, model_id: str, folder: Path | None = None) -> Path:
    """Write the file of a model; returns its path."""
    path = (folder or own_folder()) / f"{model_id}.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    with replacing_stream(str(path)) as target:
        target.write(json.dumps({"format": FORMAT, **document}, indent=1) + "\n")
    return path
