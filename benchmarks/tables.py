"""The tables that the benchmarks estimate: realistic scenarios, the same in every run."""

import numpy as np
import pandas as pd

from calc import load_catalogs

SEED = 7
CROSSED = {
    "model": ("llama-3.1-8b", "llama-3.1-70b", "qwen2.5-32b", "mixtral-8x7b", "gpt-oss-20b"),
    "work": ("training", "inference"),
    "batch": range(1, 64),
    "sequence_tokens": (2048, 4096, 8192),
    "gpus": (1, 8, 16),
    "sharding": ("none", "zero2", "zero3"),
    "instance": ("p5.48xlarge", "g6e.12xlarge"),
}


def rows_of_few_choices(rows):
    """Draw rows from a few values of each choice: at most 34,020 distinct ones."""
    draw = np.random.default_rng(SEED)
    return pd.DataFrame(
        {name: draw.choice(np.array(values), rows) for name, values in CROSSED.items()}
    ).astype({"batch": int})


def all_distinct(rows, seed=SEED):
    """Draw rows with any batch and sequence over every model and instance; hardly one repeats."""
    catalogs = load_catalogs()
    models, instances = catalogs.models[catalogs.models["refused"] == ""], catalogs.instances
    draw = np.random.default_rng(seed)
    longest = models["max_position"].fillna(0).clip(64, 131_072).to_numpy(dtype=float)
    model = draw.integers(len(longest), size=rows)
    instance = draw.integers(len(instances), size=rows)
    trains = draw.random(rows) < 0.5
    tokens = np.exp(draw.uniform(np.log(32), np.log(longest[model])))
    precisions = (
        draw.choice(("bf16", "bf16-mixed", "fp16-mixed"), rows),
        draw.choice(("bf16", "fp8", "int8"), rows),
    )
    columns = {
        "model": models.index.to_numpy()[model],
        "work": np.where(trains, "training", "inference"),
        "precision": np.where(trains, *precisions),
        "batch": draw.integers(1, 512, size=rows),
        "sequence_tokens": tokens.astype(int),
        "gpus": instances["gpus"].to_numpy(dtype=int)[instance],
        "sharding": np.where(
            trains, draw.choice(("none", "zero1", "zero2", "zero3"), rows), "none"
        ),
        "instance": instances.index.to_numpy()[instance],
    }
    return pd.DataFrame(
        {
            name: values if values.dtype.kind == "i" else values.astype(object)
            for name, values in columns.items()
        }
    )
