"""A recorded grid: a few thousand varied scenarios with the results of the day on which they were
recorded.

`make test` ends with what moved against it. A wanted change is recorded anew in its own commit:
PYTHONPATH=. .venv/bin/python tests/grid.py --record
"""

import argparse
import json
from pathlib import Path

import numpy as np
import pandas as pd

FILE = Path(__file__).parent / "recorded" / "grid.parquet"
SCENARIO = "given."  # what the columns of the scenarios begin with in the file
SEED = 20_261_121
TOLERANCE = 1e-9
# result -> what it is a small rest of: another result, or 1; a last place of the whole is many of
# the rest
WHOLES = {
    "spot_overhead_ratio": 1,
    "sober_overhead_ratio": 1,
    "spot_saving_ratio": 1,
    "lost_work_hours": "spot_run_hours",
    "headroom_bytes": "gpu_memory_bytes",
}

# The order of a layout.
DEGREES = (
    "gpus",
    "tensor_parallel",
    "pipeline_parallel",
    "context_parallel",
    "expert_parallel",
)
CHOICES = json.loads((FILE.parent / "cases" / "grid_choices.json").read_text("utf-8"))


def scenarios(catalogs):
    """Every model trained, tuned and served plainly, then each choice of the catalogs against
    random others.
    """
    plain = [
        {"model": model, **way}
        for model in catalogs.models.index
        for way in (
            {"work": "training", "gpu": "h100-80gb-sxm"},
            {
                "work": "training",
                "tuning": "lora",
                "precision": "nf4-dq",
                "instance": "g6e.xlarge",
                "train_tokens": 1e9,
            },
            {
                "work": "training",
                "recompute": "full",
                "sharding": "zero3",
                "gpus": 8,
                "instance": "p5.48xlarge",
                "train_tokens": 1e10,
            },
            {"work": "inference", "batch": 8, "gpu": "a100-80gb-sxm"},
            {
                "work": "inference",
                "implementation": "vllm",
                "batch": 32,
                "instance": "p4d.24xlarge",
                "gpus": 8,
                "tensor_parallel": 8,
            },
        )
    ]
    draw = np.random.default_rng(SEED)
    varied = [
        _drawn(draw, work, catalogs) for work in ("training", "inference") for _ in range(1800)
    ]
    return pd.DataFrame(plain + varied).astype(object).fillna("").map(_cell).astype(object)


def _drawn(draw, work, catalogs):
    """One random scenario; every choice of a catalog comes up, the usual one more often."""
    choices = CHOICES[work]
    tuning = choices["tuning"][draw.integers(3)] if work == "training" else "full"
    able = "serves" if work == "inference" else "adapts" if tuning == "lora" else "trains"
    precisions, software = catalogs.precisions, catalogs.implementations
    if draw.integers(20):  # now and then one that is refused
        precisions, software = (
            precisions[precisions[able]],
            software[software["serves" if work == "inference" else "trains"]],
        )
    models = catalogs.models.index[(catalogs.models["refused"] == "") | (draw.integers(40) == 0)]
    named = {
        "model": tuple(models),
        "precision": tuple(precisions.index),
        "implementation": (*(["transformers"] * 3), *software.index),
    }
    if work == "training":
        named |= {
            "optimizer": tuple(catalogs.optimizers.index),
            "sharding": tuple(catalogs.shardings.index),
        }
        named |= {"recompute": ("none", *catalogs.recomputes.index)}
    row = {
        name: values[draw.integers(len(values))]
        for name, values in {**named, **CHOICES["sizes"], **choices}.items()
    }
    row |= {"tuning": tuning} if work == "training" else {}
    sizes = dict(zip(DEGREES, row.pop("layout"), strict=True))
    if work == "inference":
        sizes["context_parallel"] = 1
    if draw.integers(4):
        sizes["expert_parallel"] = 1
    place = draw.integers(4)
    if place == 1:
        sizes["gpu"] = catalogs.gpus.index[draw.integers(len(catalogs.gpus))]
    elif place > 1:
        sizes["instance"] = catalogs.instances.index[draw.integers(len(catalogs.instances))]
    return {"work": work, **row, **sizes}


def _cell(value):
    """A cell as a CSV has it."""
    return value if isinstance(value, str) else repr(value)


def recorded():
    """The scenarios, and their recorded results."""
    table = pd.read_parquet(FILE)
    names = [name for name in table.columns if name.startswith(SCENARIO)]
    return table[names].rename(columns=lambda name: name.removeprefix(SCENARIO)).astype(
        object
    ), table.drop(columns=names)


def moved(before, after):
    """One row per result that differs: row, column, group, before, after, change (a ratio; infinite
    where words differ).

    The rest of a subtraction is compared with what it was subtracted from: processors differ in the
    last place of that.
    """
    parts = []
    group = (
        before["work"].astype(str)
        + ", "
        + before["tuning"].astype(str)
        + ", "
        + before["implementation"].astype(str)
    )
    for name in before.columns:
        if name not in after.columns:
            parts.append(
                pd.DataFrame(
                    {
                        "row": [-1],
                        "column": name,
                        "group": "all",
                        "before": "made",
                        "after": "gone",
                        "change": np.inf,
                    }
                )
            )
            continue
        old, new = before[name], after[name].reset_index(drop=True)
        if old.dtype.kind == "f":
            first, second = old.to_numpy(), new.to_numpy(dtype=float)
            minuend = WHOLES.get(name, 0)
            size = np.fmax(
                np.abs(first), before[minuend].to_numpy() if isinstance(minuend, str) else minuend
            )
            with np.errstate(divide="ignore", invalid="ignore"):
                change = np.abs(second - first) / size
            change = np.where(
                np.isnan(first) & np.isnan(second) | (first == second),
                0.0,
                np.where(np.isnan(change), np.inf, change),
            )
        else:
            change = np.where(old.astype(str).to_numpy() == new.astype(str).to_numpy(), 0.0, np.inf)
        rows = np.flatnonzero(change > TOLERANCE)
        if len(rows):
            values = {
                "before": old.astype(str).to_numpy()[rows],
                "after": new.astype(str).to_numpy()[rows],
            }
            parts.append(
                pd.DataFrame(
                    {
                        "row": rows,
                        "column": name,
                        "group": group.to_numpy()[rows],
                        **values,
                        "change": change[rows],
                    }
                )
            )
    columns = ["row", "column", "group", "before", "after", "change"]
    return pd.concat(parts, ignore_index=True)[columns] if parts else pd.DataFrame(columns=columns)


def summary(changes, rows):
    """What moved, in a few lines: how many results, where most, the largest change."""
    if not len(changes):
        return f"Recorded grid: nothing moved in {rows:,} scenarios."
    lines = [
        (
            f"Recorded grid: {len(changes):,} results of {changes['row'].nunique():,} of "
            f"{rows:,} scenarios moved."
        )
    ]
    for column, part in sorted(changes.groupby("column"), key=lambda pair: -len(pair[1]))[:12]:
        top = part.loc[part["change"].idxmax()]
        most = part["group"].value_counts().index[0]
        example = f"row {top['row']}: {top['before']} -> {top['after']}"
        lines.append(
            f"  {column}: {len(part):,}, most in {most}; largest {top['change']:.3g} ({example})"
        )
    return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--record", action="store_true", help="write today's results as the record")
    parser.add_argument(
        "--new-scenarios",
        action="store_true",
        help="draw the scenarios anew from the catalogs first",
    )
    options = parser.parse_args()
    from calc import estimate, load_catalogs

    catalogs = load_catalogs()
    table = scenarios(catalogs) if options.new_scenarios or not FILE.exists() else recorded()[0]
    results = estimate(table, catalogs)
    if FILE.exists() and not options.new_scenarios:
        print(summary(moved(recorded()[1], results), len(table)))
    if options.record:
        plain = results.astype(
            {name: object for name in results.columns if results[name].dtype.kind != "f"}
        )
        pd.concat([table.add_prefix(SCENARIO), plain], axis=1).to_parquet(
            FILE, compression="zstd", index=False
        )
        print(
            f"Recorded {len(table):,} scenarios in {FILE.name}, {FILE.stat().st_size / 1e6:.1f} MB."
        )


if __name__ == "__main__":
    main()
