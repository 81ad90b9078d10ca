"""Accuracy of times against published runs: `python -m validation.speed`.

It prints the errors and writes results/speed_errors.csv.

The numbers of catalogs/calibrated/utilization.yaml, engines.yaml, serving_steps.yaml and
kernels.yaml were fitted to one part of the rows; the other was held out of the fit, by a rule that
was there before it. A row whose set-up a scenario cannot say is left out, with the reason in the
data file.
"""

import json
import zlib
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd

from calc import add_models, load_catalogs
from calc.charts.accuracy import by_source
from calc.engine.pipeline import parts
from calc.engine.stages import AFTER_MEMORY, TIME, memory, walk
from calc.evaluate import Columns
from calc.say.remarks.text import remarks_text
from calc.scenarios.inputs import BY_NAME

DATA = Path(__file__).parent / "data"
RESULTS = Path(__file__).parent / "results"
OF_PROMPTS = ("time_to_first_token_seconds", "prefill_tokens_per_second")
SERVED = (
    "time_per_output_token_seconds",
    "time_to_first_token_seconds",
)  # what a row of serving under load says
# Engines whose runs are asked as software that is like them.
ASKED_AS_ANOTHER = "InternEvo|SGLang|TensorRT|infinity|ONNX|text-embeddings|timm|not stated"
NOMINAL = ("nominal_prompt_tokens", "nominal_answer_tokens")
SWEEP = (
    "model",
    "precision",
    "engine",
    "gpu",
    "tensor_parallel",
    "gpus",
    "expert_parallel",
    *NOMINAL,
)
SHOWN = (
    "row",
    "published_model",
    "work",
    "measured",
    "value",
    "predicted",
    "error_ratio",
    "inside",
    "held_out",
)
SET_UP = (
    "engine",
    "engine_release",
    "gpu",
    "precision",
    "gpus",
    "tensor_parallel",
    "expert_parallel",
    "batch",
    "sequence_tokens",
)
# engines whose releases are the scenario's; others are asked as one, whose releases are their own
OWN_RELEASES = ("vLLM", "transformers")
# The engine that a row ran on, by the first word of its name; others are asked as vLLM.
INFERENCE_ENGINES = {"SGLang": "sglang", "TensorRT-LLM": "tensorrt-llm", "NIM": "tensorrt-llm"}
TUNED_RECIPES = "Megatron"  # whose published runs are its maker's performance recipes
# Engines that run every waiting prompt before the next decode step, asked at one length.
IN_STEP = {"SGLang": "in-step"}


def published():
    """Published figures that a scenario can express, one a row; `held_out` if not fitted."""
    return pd.concat([_read("throughput_published", 3), serving()], ignore_index=True).astype(
        {"value": float}
    )


def serving():
    """Serving under load: a row for each time of a run.

    A sweep over requests in flight is held out as a whole or not at all.
    """
    rows = _read("throughput_serving_2026", 2, SWEEP)
    lengths = rows[[*NOMINAL, "sequence_tokens"]].astype(float)
    of_one_length = lengths[[*NOMINAL]].sum(axis=1) == lengths["sequence_tokens"]
    usual = of_one_length.map({True: "together", False: ""})
    rows["load_pattern"] = rows["engine"].map(IN_STEP).fillna(usual)
    figures = rows.melt(
        [name for name in rows if name not in SERVED], list(SERVED), "measured", "value"
    )
    return figures[figures["value"] != ""]  # a time that no scenario can say is left out


def encoders():
    """Published rates of encoders of text, images and sound, a third of them held out.

    They are in tokens read; for speech, in tokens written.
    """
    return _read("throughput_encoders", 3).astype({"value": float})


def _read(name, one_of, key=("row",)):
    """The rows of a file that a scenario can express; one in so many keys is held out."""
    rows = pd.read_csv(DATA / f"{name}.csv", keep_default_na=False, low_memory=False)
    rows["software_release"] = rows["engine_release"].where(rows["engine"].isin(OWN_RELEASES), "")
    rows = rows[rows["left_out"] == ""].reset_index(drop=True)
    named = rows["engine"].str.split().str[0].map(INFERENCE_ENGINES).fillna("")
    rows["inference_engine"] = named.where(rows["work"] == "inference", "")
    tuned = (rows["work"] == "inference") | rows["engine"].str.startswith(TUNED_RECIPES)
    rows["engine_flags"] = tuned.map({True: "tuned", False: ""})
    keys = rows[list(key)].astype(str).agg(" ".join, axis=1)
    return rows.assign(held_out=[zlib.crc32(text.encode()) % one_of == 0 for text in keys])


def published_runs(catalogs):
    """Number of published runs by kind of work, software, model, card and precision.

    As in catalogs/calibrated/time_runs.yaml. Of models and cards that the catalog has, and of the
    software itself: engines that are asked as another are left out.
    """
    rows = pd.concat([published(), encoders()], ignore_index=True)
    in_catalogs = rows["model"].isin(catalogs.models.index) & rows["gpu"].isin(catalogs.gpus.index)
    return (
        rows[in_catalogs & ~rows["engine"].str.contains(ASKED_AS_ANOTHER)]
        .groupby(["work", "implementation", "model", "gpu", "precision"])["row"]
        .nunique()
    )


def with_published_models(catalogs):
    """Return the catalogs with the missing models and cards of published runs added."""
    models = json.loads((DATA / "throughput_models.json").read_text("utf-8"))
    for name, card in json.loads((DATA / "throughput_cards.json").read_text("utf-8")).items():
        gpus, utilization = (table.copy() for table in (catalogs.gpus, catalogs.utilization))
        gpus.loc[name], utilization.loc[name] = (
            gpus.loc[card["like"]],
            utilization.loc[card["like"]],
        )
        gpus.loc[name, "bandwidth_bytes_per_second"] = card["bandwidth_bytes_per_second"]
        gpus.loc[name, [f"{width}_flops_per_second" for width in ("bf16", "fp8")]] *= card[
            "rate_ratio"
        ]
        catalogs = replace(catalogs, gpus=gpus, utilization=utilization)
    lacking = {name: entry for name, entry in models.items() if name not in catalogs.models.index}
    return add_models(catalogs, lacking)


def time_table(scenarios: pd.DataFrame, catalogs) -> tuple[Columns, np.ndarray]:
    """The columns of the scenarios up to time, and the problem of each row."""
    table, problems = {}, np.full(len(scenarios), "", dtype=object)
    for part in parts(scenarios, catalogs):
        with np.errstate(divide="ignore", invalid="ignore"):
            timed = walk(memory(part.table), AFTER_MEMORY[: AFTER_MEMORY.index(TIME[-1]) + 1])
        problems[part.rows] = [*map(remarks_text, part.problems.remarks)]
        for name, values in timed.items():
            if isinstance(values, np.ndarray) and values.ndim == 1:
                table.setdefault(name, np.full(len(scenarios), np.nan))[part.rows] = values
    return table | {"rows": len(scenarios)}, problems


def errors(rows, catalogs):
    """The rows with the predicted value and its error beside the published one."""
    scenarios = rows[[name for name in rows if name in BY_NAME]].fillna("")
    table, problems = time_table(scenarios, catalogs)
    # What benchmarks print.
    of = table | {"time_to_first_token_seconds": table["closed_loop_first_token_seconds"]}
    kinds = rows["measured"].unique()
    predicted = np.select(
        [rows["measured"] == name for name in kinds], [of[name] for name in kinds]
    )
    # True time / ours.
    ratio = np.where(
        rows["measured"].str.endswith("_seconds"),
        rows["value"] / predicted,
        predicted / rows["value"],
    )
    of_prompts = rows["measured"].isin(OF_PROMPTS)
    low, high = (
        np.where(of_prompts, table[f"first_token_{end}_ratio"], table[f"time_{end}_ratio"])
        for end in ("low", "high")
    )
    inside = (ratio >= low) & (ratio <= high)
    stated = {"low_ratio": low, "high_ratio": high, "inside": inside, "problem": problems}
    return rows.assign(predicted=predicted, error_ratio=predicted / rows["value"] - 1, **stated)


def summary(compared, by):
    """The errors by group, as the Accuracy tab shows them by source."""
    return by_source(compared, by).set_index(by).round(3)


def main():
    """Print the errors and write them."""
    compared = errors(
        pd.concat([published(), encoders()], ignore_index=True),
        with_published_models(load_catalogs()),
    )
    served = compared["measured"].isin(SERVED)
    for by in (
        ["work", "measured", "held_out"],
        ["source", "implementation", "engine", "held_out"],
    ):
        print(summary(compared[~served | (len(by) == 3)], by).to_string(), "\n")
    for measured in SERVED:
        print(measured)
        by = ["engine", "engine_release", "gpu", "model", "held_out"]
        print(summary(compared[compared["measured"] == measured], by).to_string(), "\n")
    RESULTS.mkdir(exist_ok=True)
    compared[[*SHOWN, *SET_UP, "problem", "source", "assumed"]].to_csv(
        RESULTS / "speed_errors.csv", index=False, float_format="%.5g"
    )


if __name__ == "__main__":
    main()
