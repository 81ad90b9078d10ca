"""Long tables for charts, made from result rows: GiB per GPU, USD and words."""

from collections import Counter
from collections.abc import Iterable, Sequence
from operator import itemgetter
from typing import Any

import numpy as np
import pandas as pd

from calc.catalogs.load import CLOSED, Catalogs
from calc.columns import ALLOCATED, COMPONENTS, GLOSSARY
from calc.plan.figures import records
from calc.say.place import card_family, card_name
from calc.say.setting import name_of
from calc.say.speed import pace_seconds
from calc.units import GIB, MILLISECONDS

NAMING_COLUMNS = (
    "model",
    "precision",
    "optimizer",
    "kv_precision",
    "tuning",
    "recompute",
    "sharding",
    "batch",
    "sequence_tokens",
    "region",
)
COMPONENT_LABELS = {name: GLOSSARY[name].label for name in COMPONENTS}


def word_column(values: Any) -> pd.Index:
    """Words as plain objects; in small tables pandas' Arrow strings would cost most of the time."""
    return pd.Index(values, dtype=object)


def labels(rows: pd.DataFrame, catalogs: Catalogs) -> list[str]:
    """A name for each row: the choices that differ between rows, then its GPUs and instance.

    Equal names are numbered, because a chart needs unique ones.
    """
    differing = [name for name in NAMING_COLUMNS if rows[name].nunique(dropna=False) > 1]
    machine = ["instance", "gpu", "gpus", "gpus_paid", "instances_needed"]
    counts: Counter[str] = Counter()
    names = []
    for row in rows[list(dict.fromkeys([*differing, *machine]))].to_dict("records"):
        parts = [name_of(name, row[name], catalogs) for name in differing]
        parts.append(_where(catalogs, *(row[name] for name in machine)))
        name = " · ".join(filter(None, parts))
        counts[name] += 1
        names.append(f"{name} ({counts[name]})" if counts[name] > 1 else name)
    return names


def _where(catalogs, instance, gpu, gpus, gpus_paid, instances_needed):
    """The machines of a row: 2 × p5.48xlarge, with (4 GPUs) if some are idle, or its card."""
    count = f"{gpus:.0f} GPU{'s' if gpus > 1 else ''}"
    if not instance:
        return f"{gpus:.0f} × {card_name(gpu, catalogs)}" if gpu else count
    if not instances_needed > 0:
        return f"{instance}, {count}"
    return f"{instances_needed:.0f} × {instance}" + (f" ({count})" if gpus != gpus_paid else "")


def _needed_part(rows: pd.DataFrame, name: str) -> np.ndarray:
    """Return a component of the memory that must fit; the overhead is all beyond the peak. [B]"""
    if name != "overhead_bytes":
        return rows[name].to_numpy(dtype=float)
    beside = rows["needed_bytes"].to_numpy(dtype=float) - rows[[*ALLOCATED]].sum(axis=1)
    return np.maximum(beside.to_numpy(dtype=float), 0)


def by_component(rows: pd.DataFrame, names: list[str], components: Iterable[str]) -> pd.DataFrame:
    """Stacked bars: a row for each scenario and component; the last component is marked."""
    sound = (rows["problem"] == "").to_numpy()
    rows = rows[sound]
    names = [name for name, is_drawn in zip(names, sound, strict=True) if is_drawn]
    parts = np.column_stack([_needed_part(rows, name) for name in components])
    total = rows["needed_bytes"].to_numpy(dtype=float)
    count, width = parts.shape
    return pd.DataFrame(
        {
            "label": word_column(names).repeat(width),
            "rank": np.repeat(np.arange(count), width),
            "component": word_column([COMPONENT_LABELS[name] for name in components] * count),
            "order": np.tile(np.arange(width), count),
            "gib": parts.ravel() / GIB,
            "share_ratio": (parts / total[:, None]).ravel(),
            "total_gib": np.repeat(total / GIB, width),
            "card_gib": np.repeat(rows["gpu_memory_bytes"].to_numpy(dtype=float) / GIB, width),
            "fits": word_column(rows["fits"]).repeat(width),
            "last": np.tile(np.arange(width) == width - 1, count),
        }
    )


def drawn_components(table: pd.DataFrame) -> tuple[str, ...]:
    """The components that are above zero in some row of `by_component`, in their order."""
    labels = set(table.loc[table["gib"] > 0, "component"])
    return tuple(name for name in COMPONENTS if COMPONENT_LABELS[name] in labels)


def card_rules(rows: pd.DataFrame, catalogs: Catalogs) -> pd.DataFrame:
    """The usable memory of each card in the rows; cards within 1 % share a rule."""
    capacities = dict(zip(rows["gpu"], rows["gpu_memory_bytes"], strict=True))
    groups: list[tuple[list[str], float]] = []
    for gpu, capacity in sorted(
        ((gpu, memory) for gpu, memory in capacities.items() if memory > 0), key=itemgetter(1)
    ):
        if groups and capacity <= groups[-1][1] * 1.01:
            groups[-1][0].append(card_family(gpu, catalogs))
        else:
            groups.append(([card_family(gpu, catalogs)], capacity))
    return pd.DataFrame(
        {
            "card": word_column(
                [
                    f"{', '.join(dict.fromkeys(names))} {capacity / GIB:.3g} GiB"
                    for names, capacity in groups
                ]
            ),
            "card_gib": [capacity / GIB for _, capacity in groups],
        }
    ).astype({"card_gib": float})


def by_phase(phases: pd.DataFrame, components: Sequence[str]) -> pd.DataFrame:
    """The phases of one scenario (phase, component, bytes) with totals; the last one is marked."""
    phases = phases[phases["component"].isin(list(components))]
    names = phases["phase"].astype(object)
    component = phases["component"].astype(object)
    total = phases["bytes"].groupby(names).transform("sum")
    order = component.map({name: place for place, name in enumerate(components)})
    return pd.DataFrame(
        {
            "phase": names,
            "rank": names.map({phase: place for place, phase in enumerate(dict.fromkeys(names))}),
            "component": component.map(COMPONENT_LABELS),
            "order": order,
            "gib": phases["bytes"] / GIB,
            "phase_gib": total / GIB,
            "last": order == len(components) - 1,
        }
    )


def catalog_table(catalogs: Catalogs, name: str) -> pd.DataFrame:
    """A catalog as one table with its ids; closed lists are stacked."""
    if name == "choices":
        lists = [
            getattr(catalogs, name_of_list)
            .rename_axis("id")
            .reset_index()
            .assign(list=name_of_list.replace("_", " "))
            for name_of_list in CLOSED
        ]
        stacked = pd.concat(lists, ignore_index=True)
        return stacked[
            [
                "id",
                "list",
                "meaning",
                *stacked.columns.difference(["id", "list", "meaning"], sort=False),
            ]
        ]
    catalog = getattr(catalogs, name)
    table = (
        catalog
        if isinstance(catalog, pd.DataFrame)
        else pd.DataFrame.from_dict(catalog, orient="index")
    )
    return table if name == "prices" else table.rename_axis("id").reset_index()


def for_screen(rows: pd.DataFrame, names: Iterable[str]) -> pd.DataFrame:
    """The named columns for a table on screen; _gib, _ms, _percent and used_percent are derived."""
    return pd.DataFrame({name: _on_screen(rows, name) for name in names}, index=rows.index)


def pace_ms(rows: pd.DataFrame, catalogs: Catalogs) -> list[float]:
    """Return the time of each service for the unit of its pace: a token, a batch, sound. [ms]"""
    return [pace_seconds(row, catalogs) * MILLISECONDS for row in records(rows)]


def _on_screen(rows, name):
    """A column of results in the unit of its name on screen: GiB, ms or percent."""
    if name in rows:
        return rows[name]
    if name == "used_percent":
        return 100 * rows["needed_bytes"] / rows["gpu_memory_bytes"]
    if name.endswith("_gib"):
        return rows[name.removesuffix("_gib") + "_bytes"].astype(float) / GIB
    if name.endswith("_ms"):
        return rows[name.removesuffix("_ms") + "_seconds"].astype(float) * MILLISECONDS
    return 100 * rows[name.removesuffix("_percent") + "_ratio"].astype(float)


def screen_names(columns: Iterable[str]) -> list[str]:
    """Return the names under which columns are shown: NAME_gib for NAME_bytes."""
    return [
        name.removesuffix("_bytes") + "_gib" if name.endswith("_bytes") else name
        for name in columns
    ]


def pivot_rows(rows: pd.DataFrame, down: str, across: str, value: str) -> pd.DataFrame:
    """Return `value` with a row for each value of `down` and a column for each of `across`.

    Both are in the order in which they first occur.
    """
    table = rows.pivot_table(
        index=down, columns=across, values=value, observed=True, dropna=False, sort=False
    )
    return table.reindex(
        index=list(dict.fromkeys(rows[down])), columns=list(dict.fromkeys(rows[across]))
    )


def parts_by_row(
    rows: pd.DataFrame, names: Sequence[str], components: Iterable[str]
) -> pd.DataFrame:
    """Return the GiB of each component and, last, the total, with a column for each row."""
    parts = {COMPONENT_LABELS[name]: _needed_part(rows, name) / GIB for name in components}
    table = pd.DataFrame(
        parts | {"In all": rows["needed_bytes"].to_numpy(dtype=float) / GIB}, index=list(names)
    ).T
    return table.rename_axis("GiB per GPU").reset_index()
