"""The long tables that charts draw, made from result rows: GiB per GPU, USD, words; no number that the rows lack."""

import numpy as np
import pandas as pd

from calc.columns import GIB

NAMED = (
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
CATALOG_OF = {
    "precision": "precisions",
    "optimizer": "optimizers",
    "recompute": "recomputes",
    "sharding": "shardings",
    "model": "models",
}


def card_name(gpu, catalogs):
    """The card without its vendor: H100 SXM5 80GB."""
    return catalogs.gpus["name"].get(gpu, gpu).split(" ", 1)[-1] if gpu else ""


def name_of(column, value, catalogs):
    """A choice in the words of its catalog; the value itself where no catalog names it."""
    if column == "kv_precision":
        return f"KV {value or '16-bit'}"
    table = getattr(catalogs, CATALOG_OF.get(column, ""), None)
    if table is not None and value in table.index:
        return str(table.at[value, "name"])
    return f"{column} {value:g}" if isinstance(value, float) else str(value)


def labels(rows, catalogs, always=()):
    """A name for each row: the choices in which the rows differ, then the GPUs and where they stand."""
    places = [
        _where(row, catalogs)
        for row in rows[["gpus", "gpus_paid", "gpu", "instance", "instances_needed"]].to_dict("records")
    ]
    return _told_apart(
        [" · ".join([*parts, place]) for parts, place in zip(_choices(rows, catalogs, always), places, strict=True)]
    )


def _choices(rows, catalogs, always=()):
    """For each row the choices in which the rows differ, in words."""
    different = [name for name in NAMED if name in always or len(set(rows[name])) > 1]
    return [[name_of(name, row[name], catalogs) for name in different] for row in rows[different].to_dict("records")]


def _where(row, catalogs):
    """2 × p5.48xlarge; (4 GPUs) beside it where some stay idle; 8 × H100 SXM5 80GB without an instance."""
    gpus = f"{row['gpus']:.0f} GPU{'s' if row['gpus'] > 1 else ''}"
    if not row["instance"]:
        return f"{row['gpus']:.0f} × {card_name(row['gpu'], catalogs)}" if row["gpu"] else gpus
    if not row["instances_needed"] > 0:
        return f"{row['instance']}, {gpus}"
    return f"{row['instances_needed']:.0f} × {row['instance']}" + (
        f" ({gpus})" if row["gpus"] != row["gpus_paid"] else ""
    )


def plan_names(rows, catalogs):
    """A name for each row without its GPU count: the choices in which the rows differ, then the card or instance."""
    places = [
        row["instance"] or card_name(row["gpu"], catalogs) for row in rows[["instance", "gpu"]].to_dict("records")
    ]
    return _told_apart(
        [
            " · ".join([*parts, place] if place else parts)
            for parts, place in zip(_choices(rows, catalogs), places, strict=True)
        ]
    )


def _told_apart(names):
    """A chart draws rows of one name on top of each other, so a repeated name gets its number."""
    seen = {}
    for place, name in enumerate(names):
        seen[name] = seen.get(name, 0) + 1
        if seen[name] > 1:
            names[place] = f"{name} ({seen[name]})"
    return names


def by_component(rows, names, component_labels):
    """One row per scenario and component alive at its peak, for stacked bars; the last component is marked."""
    sound = (rows["problem"] == "").to_numpy()
    rows, names = rows[sound], [name for name, kept in zip(names, sound, strict=True) if kept]
    parts = rows[list(component_labels)].to_numpy(dtype=float)
    total = rows["memory_bytes"].to_numpy(dtype=float)
    count, width = parts.shape
    return pd.DataFrame(
        {
            "label": np.repeat(names, width),
            "rank": np.repeat(np.arange(count), width),
            "component": np.tile(list(component_labels.values()), count),
            "order": np.tile(np.arange(width), count),
            "gib": parts.ravel() / GIB,
            "share_ratio": (parts / total[:, None]).ravel(),
            "total_gib": np.repeat(total / GIB, width),
            "card_gib": np.repeat(rows["gpu_memory_bytes"].to_numpy(dtype=float) / GIB, width),
            "fits": np.repeat(rows["fits"].to_numpy(dtype=object), width),
            "last": np.tile(np.arange(width) == width - 1, count),
        }
    )


def cards(rows, catalogs):
    """The usable memory of each card among the rows; cards within 1 % share a rule; tiers keep names apart."""
    held = rows[["gpu", "gpu_memory_bytes"]].dropna().drop_duplicates("gpu").sort_values("gpu_memory_bytes")
    groups = []
    for gpu, capacity in held.itertuples(index=False):
        if groups and capacity <= groups[-1][1] * 1.01:
            groups[-1][0].append(card_name(gpu, catalogs).split(" ")[0])
        else:
            groups.append(([card_name(gpu, catalogs).split(" ")[0]], capacity))
    return pd.DataFrame(
        {
            "card": [f"{', '.join(dict.fromkeys(names))} {capacity / GIB:.3g} GiB" for names, capacity in groups],
            "card_gib": [capacity / GIB for _, capacity in groups],
            "tier": [place % 3 for place in range(len(groups))],
        }
    ).astype({"card": object, "card_gib": float, "tier": int})


def points(rows, names):
    """One row per scenario that has a price: usd, gib, whether it lies on the frontier."""
    table = pd.DataFrame(
        {
            "label": names,
            "usd": rows["usd"].to_numpy(dtype=float),
            "gib": rows["memory_bytes"].to_numpy(dtype=float) / GIB,
            "fits": rows["fits"].to_numpy(dtype=object),
            "frontier": rows["frontier"].to_numpy(dtype=bool),
        }
    )
    table = table[table["usd"].notna() & table["gib"].notna()]
    return table.assign(name=np.where(table["frontier"], table["label"], ""))


def against_gpus(rows, names, usd):
    """One row per plan and GPU count: gib and usd."""
    table = pd.DataFrame(
        {
            "plan": names,
            "gpus": rows["gpus"].to_numpy(dtype=float),
            "gib": rows["memory_bytes"].to_numpy(dtype=float) / GIB,
            "usd": usd.to_numpy(dtype=float),
            "fits": rows["fits"].to_numpy(dtype=object),
        }
    )
    return table[table["gib"].notna()]


def by_phase(phases, component_labels):
    """The phases of one scenario (phase, component, bytes) with their totals; the last component is marked."""
    phases = phases[phases["component"].isin(list(component_labels))]
    total = phases.groupby("phase")["bytes"].transform("sum")
    order = phases["component"].map({name: place for place, name in enumerate(component_labels)})
    return pd.DataFrame(
        {
            "phase": phases["phase"],
            "rank": phases["phase"].map({phase: place for place, phase in enumerate(dict.fromkeys(phases["phase"]))}),
            "component": phases["component"].map(component_labels),
            "order": order,
            "gib": phases["bytes"] / GIB,
            "phase_gib": total / GIB,
            "last": order == len(component_labels) - 1,
        }
    )


def for_screen(rows):
    """The rows with every _bytes column beside it in GiB and every _ratio in per cent; the share of the card used."""
    rows = (
        rows.assign(used_ratio=rows["memory_bytes"] / rows["gpu_memory_bytes"])
        if "gpu_memory_bytes" in rows and "fits" in rows
        else rows
    )
    wide = {
        name.removesuffix("_bytes") + "_gib": rows[name].astype(float) / GIB
        for name in rows.columns
        if name.endswith("_bytes")
    }
    wide |= {
        name.removesuffix("_ratio") + "_percent": rows[name].astype(float) * 100
        for name in rows.columns
        if name.endswith("_ratio")
    }
    return pd.concat(
        [rows, pd.DataFrame({name: values for name, values in wide.items() if name not in rows}, index=rows.index)],
        axis=1,
    )


def two_markets(names, on_demand, spot):
    """On demand and spot of each row in one long table, rows without any price left out."""
    table = pd.DataFrame(
        {
            "label": np.repeat(names, 2),
            "rank": np.repeat(np.arange(len(names)), 2),
            "market": ["on demand", "spot"] * len(names),
            "usd": np.column_stack([np.asarray(on_demand, float), np.asarray(spot, float)]).ravel(),
        }
    )
    return table[table["usd"].notna()]
