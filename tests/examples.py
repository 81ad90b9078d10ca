"""Scenarios for the tests: one by hand, many at random (the same in every run), and what a test may
choose from.
"""

import csv
import json
import os
from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st

from calc import estimate, load_catalogs
from calc.catalogs.load import read_document
from calc.catalogs.rooms import FOLDER
from calc.catalogs.strict_yaml import read_strictly
from calc.columns import COMPONENTS
from calc.job.cells import JobRow
from calc.plan.bill import bill_rows
from calc.search.rankings import ranking_of
from validation.speed import time_table

# How many times the examples; beyond 1 they differ from run to run.
TIMES = int(os.environ.get("HEADROOM_TIMES", "1"))


# the same examples in every run of `make test`; one that fails is small as it is
settings.register_profile(
    "steady",
    derandomize=TIMES == 1,
    max_examples=8 * TIMES,
    deadline=None,
    database=None,
    print_blob=True,
    phases=(Phase.explicit, Phase.generate),
    suppress_health_check=list(HealthCheck),
)
settings.load_profile("steady")


def steady(examples):
    """So many examples in `make test`, and HEADROOM_TIMES as many in `make long` and `make
    bench`.
    """
    return settings(max_examples=examples * TIMES)


PARTS = tuple(name for name in COMPONENTS if name != "overhead_bytes")


def recorded(name):
    """A file of tests/recorded: of JSON lines its rows, of JSON what it holds."""
    text = (Path(__file__).parent / "recorded" / name).read_text("utf-8")
    return (
        [json.loads(line) for line in text.splitlines()] if name.endswith("l") else json.loads(text)
    )


CHOICES = recorded("cases/choices.json")
MODELS = tuple(CHOICES["both"]["model"])


@cache
def catalogs():
    return load_catalogs()


def entries(name):
    """What a catalog's file says of each of its entries."""
    return read_document(FOLDER, name)[name]


def published(name):
    """A file of tests/published."""
    path = Path(__file__).parent / "published" / f"{name}.yaml"
    return read_strictly(path.read_text("utf-8"), path.name)


def one(solve=False, **scenario):
    """The result of one scenario, checked to be without a problem; with its largest batch where
    `solve` asks for it.
    """
    result = estimate(scenario, catalogs(), solve)
    assert result["problem"] == "", result["problem"]
    return result


def table(rows, solve=False, **same):
    """The results of rows (dicts) that all have `same` as well."""
    return estimate(pd.DataFrame([{**same, **row} for row in rows]), catalogs(), solve)


def problem_of(**scenario):
    """What the estimate says against one scenario: a single sentence."""
    result = estimate({"model": "llama-3.1-8b", **scenario}, catalogs(), solve=False)
    return result["problem"]


def spread(row):
    """A row with its layout and its card written out as columns."""
    row = dict(row)
    gpus, tensor, pipeline, context = row.pop("layout")
    card = row.pop("card")
    row["instance" if "." in card else "gpu"] = card
    context = context if row["work"] == "training" else 1
    layout = {"tensor_parallel": tensor, "pipeline_parallel": pipeline, "context_parallel": context}
    return {**row, "gpus": gpus, **layout}


def choices(work, **fixed):
    """A hypothesis strategy of scenarios that read well (some layouts are refused by some
    models).
    """
    values = {**CHOICES["both"], **CHOICES[work]}
    drawn = {
        name: st.sampled_from(options) for name, options in values.items() if name not in fixed
    }
    constant = {name: st.just(value) for name, value in fixed.items()}
    return st.fixed_dictionaries({"work": st.just(work), **drawn, **constant}).map(spread)


def at_random(rows, seed=20_26):
    """A table of random scenarios, training and serving mixed."""
    draw = np.random.default_rng(seed)

    def row():
        work = ("training", "inference")[draw.integers(2)]
        values = {**CHOICES["both"], **CHOICES[work]}
        return spread(
            {"work": work}
            | {name: options[draw.integers(len(options))] for name, options in values.items()}
        )

    return pd.DataFrame([row() for _ in range(rows)])


@cache
def many():
    """400 random scenarios and their results; about a fifth are refused, as they should be."""
    scenarios = at_random(400)
    return scenarios, estimate(scenarios, catalogs())


def answered():
    """The results of `many` that have no problem."""
    _, results = many()
    return results[results["problem"] == ""]


def timed(catalogs, *scenarios):
    """The table of time of scenarios, none of which has a problem."""
    table, problems = time_table(pd.DataFrame(list(scenarios)), catalogs)
    assert "".join(problems) == ""
    return table


def written(path):
    """The rows of a CSV file, as text."""
    with path.open(newline="", encoding="utf-8") as stream:
        return list(csv.DictReader(stream))


def least_usd(job, catalogs):
    """The lowest cost of a job, whatever is named for a tie; NaN where nothing qualifies. No row is
    estimated for it.
    """
    ranked = ranking_of(JobRow.of(job), catalogs)
    usd = ranked.candidates.usd[ranked.qualifying] if ranked else ()
    return min(usd, default=np.nan)


def bill_row(catalogs, market="on-demand", **scenario):
    """The bill of one scenario on a market, checked to be without a problem."""
    row = bill_rows(table([scenario]).assign(market=market), catalogs).iloc[0].to_dict()
    assert row["problem"] == ""
    return row


# A config.json of a model that no catalog holds.
SMALL_LLAMA = {
    "architectures": ["LlamaForCausalLM"],
    "model_type": "llama",
    "hidden_size": 1024,
    "num_hidden_layers": 8,
    "num_attention_heads": 16,
    "num_key_value_heads": 8,
    "intermediate_size": 4096,
    "vocab_size": 32000,
}
