"""Reads the catalogs strictly: one table each, in base units, dates as ISO text.

Missing values stay missing. A fault is a CatalogError: one sentence with the file, the entry, the
field and the fix.
"""

import hashlib
import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, fields, replace
from datetime import date
from functools import cache
from pathlib import Path
from typing import Any, TypeVar, cast

import msgspec
import pandas as pd

from calc.catalogs.checked_documents import document_of, document_text
from calc.catalogs.history import history_table, read_history
from calc.catalogs.model_types import (
    defaults_with_types,
    families_of,
    families_with_types,
    model_types_of,
)
from calc.catalogs.prices import capacity_table, endpoint_table, price_table, storage_table
from calc.catalogs.references import check_blocks, check_families, check_references, check_support
from calc.catalogs.rooms import BUDGETS, FOLDER, READINGS, ROOM_OF, label_of, path_of
from calc.catalogs.schema_check import check_order, check_ranges, check_reference
from calc.catalogs.schemas.kinds import Entry
from calc.catalogs.strict_yaml import CatalogError
from calc.catalogs.tables import by_card, instance_table, reading_table, table_of
from calc.mappings import Json
from calc.models.architecture import model_table
from calc.models.foreign import MODEL_ID, foreign_entry, free_id, model_id_of, visible
from calc.models.huggingface.type_rules import ModelTypes

Reader = TypeVar("Reader", bound=Callable[[], Any])
File = TypeVar("File", bound=Entry)

__all__ = [
    "FOLDER",
    "CatalogError",
    "Catalogs",
    "add_models",
    "entries_of",
    "load_catalogs",
    "read_again",
    "read_catalog",
    "read_document",
    "read_once",
]

CLOSED = (  # the sections of choices.yaml: closed lists
    "attentions",
    "block_kernels",
    "block_sizes",
    "compiled_sizes",
    "compiles",
    "inference_engines",
    "interruption_bands",
    "load_patterns",
    "losses",
    "model_kinds",
    "number_formats",
    "objectives",
    "offloads",
    "optimizer_kernels",
    "saved_modules",
    "scored_logits",
)
PRICES = ("prices", "storage_and_traffic", "endpoints")
NOT_TABLES = {
    "choices",
    "families",
    "model_types",
    "config_defaults",
    "models",
    "blocks",
    "software_blocks",
    "heads",
    "quality",
}
READERS: list[Any] = []  # these functions and what they make of the files, each with its cache


@dataclass(frozen=True, eq=False)
class Catalogs:
    """One table per catalog, indexed by id; `about` has the other sections of each file."""

    models: pd.DataFrame
    stacks: pd.DataFrame
    families: dict  # model_type -> every trait of that family
    model_types: ModelTypes  # how the config of each model_type is read
    config_defaults: dict  # model_type -> what its config class fills in
    # those of the classes of transformers, and of software with one block for all families
    blocks: dict
    heads: dict
    precisions: pd.DataFrame
    optimizers: pd.DataFrame
    shardings: pd.DataFrame
    recomputes: pd.DataFrame
    implementations: pd.DataFrame
    attentions: pd.DataFrame
    block_kernels: pd.DataFrame
    block_sizes: pd.DataFrame  # a row per number of instances that a capacity block may have
    compiled_sizes: pd.DataFrame
    compiles: pd.DataFrame
    inference_engines: pd.DataFrame
    interruption_bands: pd.DataFrame
    load_patterns: pd.DataFrame
    losses: pd.DataFrame
    model_kinds: pd.DataFrame
    number_formats: pd.DataFrame
    objectives: pd.DataFrame
    offloads: pd.DataFrame
    optimizer_kernels: pd.DataFrame
    saved_modules: pd.DataFrame
    scored_logits: pd.DataFrame
    speculations: pd.DataFrame
    # A row per software, its release and the objectives of one way to score tokens.
    log_probabilities: pd.DataFrame
    trainers: pd.DataFrame  # a row per software of preference and reward training, and its release
    overheads: pd.DataFrame
    serving_engines: pd.DataFrame
    checkpoints: pd.DataFrame  # a row per published file of weights below 16 bits
    support: pd.DataFrame  # a row per rule on what runs where
    quality: dict  # choice -> what a change of it costs in quality, with its source
    gpus: pd.DataFrame
    instances: pd.DataFrame
    regions: pd.DataFrame
    grids: pd.DataFrame  # a row per region
    quotas: pd.DataFrame  # a row per prefix of an instance family
    obtainability: pd.DataFrame  # a row per prefix of an instance family
    prices: pd.DataFrame
    price_history: pd.DataFrame
    storage_and_traffic: pd.DataFrame  # a row per kind and region
    endpoints: pd.DataFrame  # a row per model and region
    capacity: pd.DataFrame  # a row per answer of AWS to an account
    utilization: pd.DataFrame  # a row per card
    engines: pd.DataFrame
    serving_steps: pd.DataFrame  # a row per class of card
    earlier_releases: pd.DataFrame  # a row per range of earlier releases
    kernels: pd.DataFrame
    time_spreads: pd.DataFrame  # a row per corner
    time_boxes: pd.DataFrame  # a row per axis
    time_constants: pd.DataFrame
    starts: pd.DataFrame  # a row per phase of a start
    time_runs: pd.DataFrame  # a row per model, software, card and precision that was published
    assumptions: pd.DataFrame
    readings: pd.DataFrame  # a row per figure of a run of one's own; usually none
    about: dict
    version: str
    facts_version: str  # of all files but the prices
    prices_as_of: str
    read_on: str  # ISO date from which the age of a price is counted
    left_out: tuple[str, ...] = ()  # the error of each file of one's own that cannot be read
    base: "Catalogs | None" = None  # the catalogs that models were added to
    # Results of functions that `cached_per_catalogs` caches with these tables.
    made: dict = field(default_factory=dict, init=False, repr=False)


# The files whose entries become tables of `Catalogs`, and those that functions marked `read_once`
# read. Each observed capacity, reading and budget has a reader of its own.
IN_TABLES = {each.name for each in fields(Catalogs)} | {"choices", "software_blocks"}
FILES = tuple(name for name in ROOM_OF if name in IN_TABLES and name != "capacity")
BESIDE = sorted(ROOM_OF.keys() - IN_TABLES - {READINGS, BUDGETS})


def load_catalogs(folder: Path | str | None = None, today: str = "") -> Catalogs:
    """Every catalog of the folder, checked, as of `today` (ISO date). Raises CatalogError."""
    folder = Path(folder) if folder else FOLDER
    digest = hashlib.sha256()
    facts = hashlib.sha256()
    documents = {
        name: read_document(folder, name, *([digest] if name in PRICES else [digest, facts]))
        for name in FILES
    }
    entries = _entries_by_catalog(documents)
    of_models = _model_catalogs(documents, entries)
    models, regions = of_models["models"], documents["prices"]["regions"]
    tables = _plain_tables(entries)
    instances = instance_table(entries["instances"], tables["gpus"])
    check_ranges(entries["assumptions"], label_of("assumptions"))
    check_references(entries, models, of_models["stacks"], **tables)
    check_support(entries["support"], sorted(set(instances["family"])), **tables)
    readings, left_out = _own_readings(folder, digest, facts)
    prices = price_table(entries["prices"], instances, regions, documents["prices"]["sagemaker"])
    history = read_history(folder, digest)
    capacity = read_document(folder, "capacity", digest)["capacity"]
    return Catalogs(
        **of_models,
        **tables,
        readings=reading_table(readings),
        left_out=left_out,
        quality=entries["quality"],
        instances=instances,
        regions=table_of({region: {"name": name} for region, name in regions.items()}),
        prices=prices,
        price_history=history_table(history, instances, documents["prices"]["sources"]),
        storage_and_traffic=storage_table(entries["storage_and_traffic"], regions),
        endpoints=endpoint_table(entries["endpoints"], models, regions),
        capacity=capacity_table(capacity),
        about=_about(documents),
        version=digest.hexdigest()[:10],
        facts_version=facts.hexdigest()[:8],
        prices_as_of=max(prices["on_demand_as_of"].max(), prices["spot_as_of"].max()),
        read_on=today or date.today().isoformat(),
    )


def _model_catalogs(documents: Json, entries: Json) -> Json:
    """Return the catalogs of models and of what they are made of, by their name in `Catalogs`."""
    of_families = families_with_types(entries["families"], entries["model_types"])
    families = families_of(of_families, documents["families"]["traits"], entries["blocks"])
    check_families(entries["models"], entries["heads"], families)
    models, stacks = model_table(entries["models"], families)
    return {
        "models": models,
        "stacks": stacks,
        "families": families,
        "model_types": model_types_of(documents["model_types"], families),
        "config_defaults": defaults_with_types(entries["config_defaults"], entries["model_types"]),
        "blocks": entries["blocks"] | entries["software_blocks"],
        "heads": entries["heads"],
    }


def _entries_by_catalog(documents: Json) -> Json:
    """Return the entries of every catalog (name -> id -> entry); choices.yaml holds several."""
    entries = {name: entries_of(documents[name], name) for name in FILES if name != "choices"}
    return entries | {name: entries_of(documents["choices"], name, "choices") for name in CLOSED}


def _plain_tables(entries: Json) -> dict[str, pd.DataFrame]:
    """Return the catalogs that become tables as they are, a row per entry."""
    other_tables = {*PRICES, "instances", "utilization"}
    tables = {name: table_of(entries[name]) for name in entries.keys() - NOT_TABLES - other_tables}
    return tables | {"utilization": by_card(entries["utilization"])}


def _about(documents: Json) -> Json:
    """Return what each file says apart from its entries, such as its date and its sources."""
    return {
        name: {key: value for key, value in document.items() if key != name}
        for name, document in documents.items()
    }


def _own_readings(folder: Path, *digests: Any) -> tuple[Json, tuple[str, ...]]:
    """Your own readings (none without a file), and why the file is left out if it is faulty."""
    if not path_of(READINGS, folder).exists():
        return {}, ()
    try:
        return entries_of(read_document(folder, READINGS, *digests), READINGS), ()
    except CatalogError as error:
        return {}, (str(error),)


def add_models(catalogs: Catalogs, entries: Mapping[str, Json]) -> Catalogs:
    """Return the catalogs with your own models (id -> entry as in models.yaml).

    An entry may hold what a foreign model may hold (calc/models/foreign.py), and its name carries a
    mark. It replaces a model of yours with the same id. If the catalog has a model with this id,
    CatalogError is raised.
    """
    _check_own_ids(entries, catalogs)
    entries = {model: foreign_entry(model, entry) for model, entry in entries.items()}
    check_families(entries, {}, catalogs.families)
    try:
        own_models, stacks = model_table(entries, catalogs.families)
    except (ArithmeticError, LookupError, TypeError, ValueError):
        names = ", ".join(f"'{model}'" for model in entries)
        raise CatalogError(
            f"The sizes of {names} contradict each other, or belong to another kind of model; "
            f"correct the entry, or give the model's config.json."
        ) from None
    check_blocks(stacks, catalogs.blocks)
    models = catalogs.models[~catalogs.models.index.isin(own_models.index)]
    others = catalogs.stacks[~catalogs.stacks["model"].isin(own_models.index)]
    digest = hashlib.sha256(
        (catalogs.version + json.dumps(entries, sort_keys=True, default=str)).encode()
    )
    return replace(
        catalogs,
        models=pd.concat([models, own_models]),
        stacks=pd.concat([others, stacks], ignore_index=True),
        version=digest.hexdigest()[:10],
        base=catalogs,
    )


def _check_own_ids(models: Iterable[str], catalogs: Catalogs) -> None:
    """Raise CatalogError for an id that your own model cannot have."""
    for model in models:
        if not MODEL_ID.fullmatch(model):
            raise CatalogError(
                f"A model cannot have the id '{visible(model)}'; use letters, digits, dots, dashes "
                f"and underscores, for example '{model_id_of(model)}'."
            )
        if model in catalog_ids(catalogs):
            raise CatalogError(
                f"The catalog already has a model '{model}', which cannot be replaced; give yours "
                f"another name, for example '{free_id(model, catalog_ids(catalogs))}'."
            )


def catalog_ids(catalogs: Catalogs) -> frozenset[str]:
    """Return the ids of the catalog's models, without your own."""
    base = catalogs
    while base.base is not None:
        base = base.base
    return frozenset(base.models.index)


def with_readings(catalogs: Catalogs, entries: Mapping[str, Json]) -> Catalogs:
    """The catalogs with these readings (id -> entry as in calibration.yaml), and no others."""
    digest = hashlib.sha256(
        (catalogs.version + READINGS + json.dumps(entries, sort_keys=True)).encode()
    )
    return replace(
        catalogs, readings=reading_table(entries), version=digest.hexdigest()[:10], base=catalogs
    )


def read_document(folder: Path, name: str, *digests: Any) -> Json:
    """One file of the folder, read strictly and checked; its bytes update the digests."""
    content = _content(folder, name)
    for digest in digests:
        digest.update(name.encode() + b"\0" + content + b"\0")
    return document_of(content, name, label_of(name))


def read_catalog(file: type[File]) -> File:
    """Return one catalog as an object of its class, for example `read_catalog(setups.File)`."""
    name = file.__module__.rpartition(".")[2]
    text = document_text(_content(FOLDER, name), name, label_of(name))
    return msgspec.json.decode(text, type=file)


def _content(folder: Path, name: str) -> bytes:
    """The bytes of one file of the folder. Raises CatalogError."""
    try:
        return path_of(name, folder).read_bytes()
    except OSError as error:
        raise CatalogError(
            f"{label_of(name)}: it cannot be read ({error.strerror}); restore the file."
        ) from None


def read_once(read: Reader) -> Reader:
    """Decorator: cache a function that reads a catalog of BESIDE until `read_again` is called."""
    cached = cache(read)
    READERS.append(cached)
    return cast(Reader, cached)


def read_again(folder: Path = FOLDER) -> None:
    """Read the catalogs of BESIDE again. Raises CatalogError, and then changes nothing."""
    for name in BESIDE:
        read_document(folder, name)
    for reader in READERS:
        reader.cache_clear()
    for reader in READERS:
        reader()


def entries_of(document: Json, name: str, file: str = "") -> Json:
    """The entries of a document (id -> entry), in order, with their sources written out."""
    file = label_of(file or name)
    if "sources" in document:
        _write_out_sources(document.get(name, {}), document["sources"], file, (name,))
    entries = document.get(name)
    if isinstance(entries, list):
        check_order([entry["id"] for entry in entries], file)
        entries = {
            entry["id"]: {key: value for key, value in entry.items() if key != "id"}
            for entry in entries
        }
    if not isinstance(entries, dict) or not entries:
        raise CatalogError(
            f"{file}, field {name}: the entries are missing; list them under {name} by id."
        )
    check_order(list(entries), file)
    return entries


def _write_out_sources(entry, sources, file, path):
    """Replace the short name of each source by the source itself, at any depth of an entry."""
    for key, value in entry.items() if isinstance(entry, dict) else enumerate(entry):
        if key == "source" or str(key).endswith("_source"):
            ids = value if isinstance(value, list) else [value]
            for source in ids:
                check_reference(source, sources, file, (*path, str(key)), "source")
            entry[key] = "; ".join(sources[source] for source in ids)
        elif isinstance(value, dict | list):
            _write_out_sources(value, sources, file, (*path, str(key)))
