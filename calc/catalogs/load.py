"""Reads catalogs/*.yaml strictly, one table per catalog: bytes, bytes per second and USD inside, dates as ISO text.

A missing number is NaN, a missing text is empty, a missing list is empty; nothing is filled in. Whatever is wrong is a
CatalogError of one sentence: the file, the entry, the field and the cure.
"""

import hashlib
import json
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
import pandas as pd

from calc.catalogs.families import check_families, families_of
from calc.catalogs.schema_check import check_order, check_reference, check_schema
from calc.catalogs.strict_yaml import CatalogError, read_strictly
from calc.models.architecture import model_table

__all__ = ["CatalogError", "Catalogs", "add_models", "entries_of", "load_catalogs", "read_document", "table_of"]

FOLDER = Path(__file__).resolve().parents[2] / "catalogs"
CHOICES = ("precisions", "optimizers", "shardings", "recomputes", "implementations")
SPEED = ("utilization", "engines", "kernels", "assumptions")  # what time and cost read
OTHERS = ("overheads", "serving_engines")
CLOSED = (  # the sections of choices.yaml: closed lists
    *("attentions", "compiled_sizes", "compiles", "interruption_bands", "losses", "model_kinds", "number_formats", "offloads"),
    *("optimizer_kernels", "scored_logits"),
)
MODEL_FILES = ("families", "config_defaults", "models", "blocks", "heads")
FILES = (*MODEL_FILES, *CHOICES, "choices", *OTHERS, "quality", "gpus", "instances", "prices", "price_history", *SPEED)
BYTES = {"_mib": 2**20, "_gib": 2**30}  # fields that a driver or AWS prints in MiB or GiB become _bytes

RATES = tuple(f"{name}_flops_per_second" for name in ("fp32", "tf32", "bf16", "fp8", "fp4", "int8"))
PRICE_COLUMNS = (
    *("instance", "region"),
    *(f"on_demand_{name}" for name in ("usd_per_hour", "basis", "as_of", "source")),
    *(
        f"spot_{name}"
        for name in ("usd_per_hour", "low_usd_per_hour", "high_usd_per_hour", "zones", "basis", "as_of", "source")
    ),
    *(f"spot_newest_{name}" for name in ("usd_per_hour", "as_of", "source")),
    *(f"interruption_{name}" for name in ("band", "as_of", "source")),
    *(f"capacity_block_{name}" for name in ("usd_per_hour", "basis", "as_of", "source")),
    *(f"commit_{term}_{name}" for term in ("1y", "3y") for name in ("usd_per_hour", "kind", "as_of", "source")),
)


@dataclass(frozen=True, eq=False)
class Catalogs:
    """One table per catalog, indexed by id; `about`: what a file says beside its entries (source, notes, defaults)."""

    models: pd.DataFrame
    stacks: pd.DataFrame
    families: dict  # model_type -> every trait of that family
    config_defaults: dict  # model_type -> what its config class fills in
    blocks: dict
    heads: dict
    precisions: pd.DataFrame
    optimizers: pd.DataFrame
    shardings: pd.DataFrame
    recomputes: pd.DataFrame
    implementations: pd.DataFrame
    attentions: pd.DataFrame
    compiled_sizes: pd.DataFrame
    compiles: pd.DataFrame
    interruption_bands: pd.DataFrame
    losses: pd.DataFrame
    model_kinds: pd.DataFrame
    number_formats: pd.DataFrame
    offloads: pd.DataFrame
    optimizer_kernels: pd.DataFrame
    scored_logits: pd.DataFrame
    overheads: pd.DataFrame
    serving_engines: pd.DataFrame
    quality: dict  # choice -> what a change of it costs in quality, and who says so
    gpus: pd.DataFrame
    instances: pd.DataFrame
    regions: pd.DataFrame
    prices: pd.DataFrame
    price_history: pd.DataFrame
    utilization: pd.DataFrame  # a row per card
    engines: pd.DataFrame
    kernels: pd.DataFrame
    assumptions: pd.DataFrame
    about: dict
    version: str
    prices_as_of: str
    base: "Catalogs | None" = None  # the catalogs that models were added to
    made: dict = field(default_factory=dict, repr=False)  # what `kept` functions made of these tables; it goes with them


def load_catalogs(folder=None):
    """Every catalog of the folder (the project's own without one), checked; raises CatalogError."""
    folder = Path(folder) if folder else FOLDER
    digest = hashlib.sha256()
    documents = {name: read_document(folder, name, digest) for name in FILES}
    entries = {name: entries_of(documents[name], name) for name in FILES if name != "choices"}
    entries |= {name: entries_of(documents["choices"], name, "choices") for name in CLOSED}
    about = {name: {key: value for key, value in documents[name].items() if key != name} for name in FILES}
    families = families_of(entries["families"], documents["families"]["traits"], entries["blocks"])
    check_families(entries["models"], entries["heads"], families)
    models, stacks = model_table(entries["models"], families)
    _check_blocks(stacks, entries["blocks"])
    gpus = table_of(entries["gpus"])
    instances = _instance_table(entries["instances"], gpus)
    regions = documents["prices"]["regions"]
    choices = {name: table_of(entries[name]) for name in (*CHOICES, *CLOSED, *OTHERS)}
    times = {name: table_of(entries[name]) for name in SPEED} | {"utilization": _by_card(entries["utilization"])}
    _check_times(times, gpus=gpus, **choices)
    prices = _price_table(entries["prices"], documents["prices"].get("capacity_blocks", {}), instances, regions)
    return Catalogs(
        models=models,
        stacks=stacks,
        families=families,
        config_defaults=entries["config_defaults"],
        blocks=entries["blocks"],
        heads=entries["heads"],
        **choices,
        **times,
        quality=entries["quality"],
        gpus=gpus,
        instances=instances,
        regions=table_of({region: {"name": name} for region, name in regions.items()}),
        prices=prices,
        price_history=_history_table(entries["price_history"], instances),
        about=about,
        version=digest.hexdigest()[:10],
        prices_as_of=max(prices["on_demand_as_of"].max(), prices["spot_as_of"].max()),
    )


def add_models(catalogs, entries):
    """The catalogs with the models of `entries` (id -> entry as in models.yaml); an id held already is replaced."""
    check_families(entries, {}, catalogs.families)
    added, stacks = model_table(entries, catalogs.families)
    _check_blocks(stacks, catalogs.blocks)
    kept = catalogs.models[~catalogs.models.index.isin(added.index)]
    kept_stacks = catalogs.stacks[~catalogs.stacks["model"].isin(added.index)]
    digest = hashlib.sha256((catalogs.version + json.dumps(entries, sort_keys=True, default=str)).encode())
    return replace(
        catalogs,
        models=pd.concat([kept, added]),
        stacks=pd.concat([kept_stacks, stacks], ignore_index=True),
        version=digest.hexdigest()[:10],
        base=catalogs,
        made={},
    )


def read_document(folder, name, digest=None):
    """One file of the folder, read strictly and checked against its schema; its bytes go into the digest."""
    path, file = folder / f"{name}.yaml", f"catalogs/{name}.yaml"
    try:
        content = path.read_bytes()
    except OSError as error:
        raise CatalogError(f"{file}: it cannot be read ({error.strerror}); put the file back.") from None
    if digest is not None:
        digest.update(name.encode() + b"\0" + content + b"\0")
    try:
        text = content.decode("utf-8")
    except UnicodeDecodeError as error:
        raise CatalogError(f"{file}: byte {error.start} is not UTF-8; save the file as UTF-8.") from None
    document = read_strictly(text, file)
    schema = folder / "schema" / f"{name}.json"
    if not schema.exists():
        raise CatalogError(f"catalogs/schema/{name}.json: the schema of {file} is missing; put the file back.")
    check_schema(document, schema, file)
    return document


def entries_of(document, name, file=""):
    """The entries, id -> entry, in order; keys of the file's `sources` written out as the source's own words."""
    file = f"catalogs/{file or name}.yaml"
    for key in ("capacity_blocks", name) if "sources" in document else ():
        _write_out_sources(document.get(key, {}), document["sources"], file, (key,))
    entries = document.get(name)
    if isinstance(entries, list):
        check_order([entry["id"] for entry in entries], file)
        entries = {entry["id"]: {key: value for key, value in entry.items() if key != "id"} for entry in entries}
    if not isinstance(entries, dict) or not entries:
        raise CatalogError(f"{file}, field {name}: the entries are missing; list them under {name}, each by its id.")
    check_order(list(entries), file)
    return entries


def _write_out_sources(entry, sources, file, path):
    for key, value in entry.items() if isinstance(entry, dict) else enumerate(entry):
        if key == "source" or str(key).endswith("_source"):
            named = value if isinstance(value, list) else [value]
            for source in named:
                check_reference(source, sources, file, (*path, key), "source")
            entry[key] = "; ".join(sources[source] for source in named)
        elif isinstance(value, dict | list):
            _write_out_sources(value, sources, file, (*path, str(key)))


def _check_blocks(stacks, blocks):

    for model, block in zip(stacks["model"], stacks["block"], strict=True):
        check_reference(block, blocks, "catalogs/models.yaml", ("models", model, "block"), "block")


def table_of(entries):
    """Entries as a table: numbers float64, MiB and GiB as bytes, in the order of the fields' first appearance."""
    names = dict.fromkeys(name for entry in entries.values() for name in entry)
    columns = {}
    for name in names:
        values = [entry.get(name) for entry in entries.values()]
        unit = BYTES.get(name[-4:])
        if unit:
            name, values = name[:-4] + "_bytes", [None if value is None else value * unit for value in values]
        columns[name] = _column(values)
    return pd.DataFrame(columns, index=pd.Index(list(entries), name="id"))


def _column(values):
    held = [value for value in values if value is not None]
    if held and all(isinstance(value, bool) for value in held):
        return [bool(value) for value in values]
    if all(isinstance(value, int | float) and not isinstance(value, bool) for value in held):
        return np.array([np.nan if value is None else value for value in values], dtype="float64")
    if all(isinstance(value, list) for value in held):
        return [value or [] for value in values]
    if all(isinstance(value, str) for value in held):
        return [value or "" for value in values]
    return values


def _instance_table(entries, gpus):
    for instance, entry in entries.items():
        check_reference(entry["gpu"], gpus.index, "catalogs/instances.yaml", ("instances", instance, "gpu"), "GPU")
    table = table_of(entries)
    table.insert(4, "gpu_memory_bytes", gpus["memory_bytes"].loc[table["gpu"]].to_numpy())
    return table


def _by_card(entries):
    """Utilization, written by class of card, as one row per card."""
    rows = {}
    for name, entry in entries.items():
        for gpu in entry["gpus"]:
            if gpu in rows:
                raise CatalogError(
                    f"catalogs/utilization.yaml, entry {name}, field gpus: {gpu} stands in two classes; keep it in one."
                )
            rows[gpu] = {"card_class": name} | {key: value for key, value in entry.items() if key != "gpus"}
    return table_of(rows)


def _check_times(times, gpus, implementations, precisions, **_):
    """Every card and software has its entry of time, and no entry points nowhere."""
    for own, other, known in (("utilization", "GPU", gpus), ("engines", "implementation", implementations)):
        for name in known.index:
            check_reference(name, times[own].index, f"catalogs/{own}.yaml", (own, name), f"entry of {own} for")
        for name in times[own].index:
            check_reference(name, known.index, f"catalogs/{own}.yaml", (own, name), other)
    for name in times["kernels"].index:
        check_reference(name, precisions.index, "catalogs/kernels.yaml", ("kernels", name), "precision")


def _price_table(entries, capacity_blocks, instances, regions):
    file = "catalogs/prices.yaml"
    check_order(list(regions), file)
    for instance in capacity_blocks:
        check_reference(instance, instances.index, file, ("capacity_blocks", instance), "instance")
    rows = []
    for instance, by_region in entries.items():
        check_reference(instance, instances.index, file, ("prices", instance), "instance")
        if list(by_region) != sorted(by_region):
            order = ", ".join(sorted(by_region))
            raise CatalogError(f"{file}, entry {instance}: its regions are not sorted; write them as {order}.")
        everywhere = {"capacity_block": capacity_blocks[instance]} if instance in capacity_blocks else {}
        for region, markets in by_region.items():
            check_reference(region, regions, file, ("prices", instance, region), "region")
            row = {"instance": instance, "region": region}
            for market, price in (everywhere | markets).items():
                row.update({f"{market}_{name}": value for name, value in price.items()})
            rows.append(row)
    text = {name for name in PRICE_COLUMNS if name.endswith(("_basis", "_as_of", "_source", "_band", "_kind"))}
    columns = {name: [row.get(name) for row in rows] for name in PRICE_COLUMNS}
    return pd.DataFrame(
        {
            name: [value or "" for value in values] if name in text else _column(values)
            for name, values in columns.items()
        }
    )


def _history_table(entries, instances):
    """Prices as they were: one row per instance, region, market and first day."""
    for instance in entries:
        check_reference(
            instance, instances.index, "catalogs/price_history.yaml", ("price_history", instance), "instance"
        )
    rows = [
        {"instance": instance, "region": region, "market": market, **price}
        for instance, by_region in entries.items()
        for region, markets in by_region.items()
        for market, prices in markets.items()
        for price in prices
    ]
    return pd.DataFrame(rows, columns=["instance", "region", "market", "usd_per_hour", "as_of", "source"])
