"""Compare how configs are counted with their classes on the meta device.

`python -m validation.model_types [types|parts|published]`.

types: the default config of every type that has a head, with what LACKS adds; of a type of several
parts the text part is held against the language model and the head. parts: the law over all default
configs that have a class: the class counts as its row and what its note leaves out, or the note
says that less is known. published: the config.json files that a serving planner ships
(aiconfigurator-core 0.12.0, ai-dynamo, 2026-09), their sizes alone. What cannot be built is left
out. Needs requirements/validation.txt.
"""

import json
import logging
import signal
import sys
from collections import Counter
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import pandas as pd
import torch
from transformers import (
    CONFIG_MAPPING,
    AutoConfig,
    AutoModel,
    AutoModelForCausalLM,
    AutoModelForCTC,
    AutoModelForImageClassification,
    AutoModelForImageTextToText,
    AutoModelForMaskedLM,
    AutoModelForSeq2SeqLM,
)
from transformers.models.auto import modeling_auto

from calc import load_catalogs
from calc.memory.overhead import fewest_parameters_ratio, most_parameters_ratio
from calc.models.architecture import model_table
from calc.models.huggingface.config import ConfigError, read_config

HERE = Path(__file__).parent
SETS = {
    "causal": (modeling_auto.MODEL_FOR_CAUSAL_LM_MAPPING_NAMES, AutoModelForCausalLM),
    "image-text": (
        modeling_auto.MODEL_FOR_IMAGE_TEXT_TO_TEXT_MAPPING_NAMES,
        AutoModelForImageTextToText,
    ),
    "masked": (modeling_auto.MODEL_FOR_MASKED_LM_MAPPING_NAMES, AutoModelForMaskedLM),
    "sequence to sequence": (
        modeling_auto.MODEL_FOR_SEQ_TO_SEQ_CAUSAL_LM_MAPPING_NAMES,
        AutoModelForSeq2SeqLM,
    ),
    "image": (
        modeling_auto.MODEL_FOR_IMAGE_CLASSIFICATION_MAPPING_NAMES,
        AutoModelForImageClassification,
    ),
    "sound": (modeling_auto.MODEL_FOR_CTC_MAPPING_NAMES, AutoModelForCTC),
}
# What a default config leaves empty that a model needs to run, as published files of the type fill
# it.
LACKS = {
    "dbrx": {"attn_config": {"rope_theta": 500000.0}},
    "deepseek_v2": {"num_experts_per_tok": 6},
    "dots1": {"n_routed_experts": 128, "n_shared_experts": 2, "num_experts_per_tok": 6},
    "glm4_moe": {"head_dim": 128},
    "hunyuan_v1_dense": {"head_dim": 128},
    "hunyuan_v1_moe": {"head_dim": 128},
    "lfm2_moe": {"layer_types": ["conv", "conv", "full_attention", "conv"] * 8},
    "ministral": {"head_dim": 128},
    "nemotron": {"num_key_value_heads": 8},
}
OF_TEXT = ("language_model.", ".text_model.", "lm_head", "embed_out")
BESIDE_TEXT = "embed_tokens_extend."  # towers inside a language model (Phi-4 multimodal)
# Fields of a published file that a class does not take.
OF_FILES = (
    "model_type",
    "quantization_config",
    "auto_map",
)
SECONDS = 60  # a class that takes longer to build is left out


@contextmanager
def at_most(seconds):
    """Raise TimeoutError in code that takes longer than this."""
    signal.signal(signal.SIGALRM, lambda *_: (_ for _ in ()).throw(TimeoutError()))
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)


class Built(NamedTuple):
    """A class as its config builds it: all its parameters, and those of its text part, if any."""

    config: dict
    parameters: int
    text_parameters: int


def build(name, head, fields):
    """Build the class of a type, or return the name of the error that prevents it."""
    try:
        with at_most(SECONDS), torch.device("meta"):
            config = AutoConfig.for_model(name, **fields)
            model = head.from_config(config)
            model.tie_weights()
    except Exception as error:
        return type(error).__name__
    every = {name: parameter.numel() for name, parameter in model.named_parameters()}
    sizes = {name: size for name, size in every.items() if BESIDE_TEXT not in name}
    text = {name: size for name, size in sizes.items() if any(part in name for part in OF_TEXT)}
    several = any(part in name for name in text for part in OF_TEXT[:2])
    named = {**config.to_dict(), "architectures": [type(model).__name__]}
    return Built(named, sum(every.values()), sum((text if several else sizes).values()))


def ours(config, catalogs):
    """Return our row of a config, or the sentence that refuses it."""
    try:
        return model_table({"it": read_config(config, "it", catalogs)}, catalogs.families)[0].loc[
            "it"
        ]
    except ConfigError as error:
        return str(error)


def verdict_of_count(truth, row):
    """Return exact, wrong or refused, and whether the note says that the class is not covered."""
    why = (
        row
        if isinstance(row, str)
        else row["note"]
        if "Its architectures name" in row["note"]
        else ""
    )
    if why:
        return {"verdict": "refused", "class": truth, "why": why}
    here = int(row["parameters"])
    return {"verdict": "exact" if here == truth else "wrong", "class": truth, "here": here}


def rows_of_types(catalogs):
    """Yield every type of each set of heads: the count of its class, and ours."""
    for kind, (names, head) in SETS.items():
        for name in sorted(names):
            made = build(name, head, LACKS.get(name, {}))
            row = (
                {"verdict": "not built", "why": made}
                if isinstance(made, str)
                else verdict_of_count(made.text_parameters, ours(made.config, catalogs))
            )
            yield {"set": kind, "type": name, **row}


def rows_of_published(catalogs):
    """Yield every published config: the count of its class, and ours.

    A class that transformers lacks is `not built`.
    """
    for case in map(
        json.loads, (HERE / "data" / "published_configs.jsonl").read_text("utf-8").splitlines()
    ):
        config, named = case["config"], case["config"]["model_type"]
        row, fields = (
            ours(config, catalogs),
            {name: value for name, value in config.items() if name not in OF_FILES},
        )
        head = AutoModelForImageTextToText if "vision_config" in config else AutoModelForCausalLM
        made = build(
            named if named in CONFIG_MAPPING else catalogs.model_types.aliases.get(named, ""),
            head,
            fields,
        )
        verdict = verdict_of_count(None if isinstance(made, str) else made.text_parameters, row)
        if isinstance(made, str) and verdict["verdict"] != "refused":
            verdict |= {"verdict": "not built", "why": made}
        yield {"id": case["id"], "type": named, **verdict}


def verdict_of_parts(of_class, row, ratios):
    """Return how well our row and its note account for all parameters of a class.

    counted: the row and the parts left out add up to the class. named: the note names a part
    without a count. sized: the note says that a plain model stands for it, and the class is within
    its range; beyond: it is not; else silent.
    """
    here, left_out = int(row["parameters"]), int(row["left_out_parameters"])
    if of_class == here + left_out:
        return "counted"
    if "whose parameters are not counted" in row["note"] or "of unknown size" in row["note"]:
        return "named" if of_class > here else "beyond"
    if row["sized"]:
        fewest, most = 0.0, ratios["high"]
        if row["sized"] > 1:
            own = (row["sized"], row["expert_share_ratio"])
            fewest = fewest_parameters_ratio(*own, ratios["low"], ratios["expert"])
            most = most_parameters_ratio(*own, ratios["high"], ratios["expert"])
        within = fewest * here <= of_class <= most * here + ratios["high"] * left_out
        return "sized" if within else "beyond"
    return "silent"


def rows_of_parts(catalogs):
    """Yield for every type what its class counts, what we count and leave out, and our note."""
    heads = {
        name: AutoModel for name in modeling_auto.MODEL_MAPPING_NAMES if name in CONFIG_MAPPING
    }
    heads |= {name: head for names, head in SETS.values() for name in names}
    ratios = {
        end: catalogs.overheads["value"][f"sized_{end}_ratio"] for end in ("low", "high", "expert")
    }
    for name in sorted(heads):
        made = build(name, heads[name], LACKS.get(name, {}))
        if isinstance(made, str):
            yield {"type": name, "verdict": "not built", "note": made}
        elif isinstance(row := ours(made.config, catalogs), str):
            yield {"type": name, "verdict": "refused", "class": made.parameters, "note": row}
        else:
            about = {
                "here": int(row["parameters"]),
                "left_out": int(row["left_out_parameters"]),
                "note": row["note"].partition(". ")[0],
            }
            yield {
                "type": name,
                "verdict": verdict_of_parts(made.parameters, row, ratios),
                "class": made.parameters,
                **about,
            }


TABLES = {  # what is counted -> its rows, the file in results/, its columns
    "types": (rows_of_types, "model_types", ["set", "type", "verdict", "class", "here", "why"]),
    "parts": (
        rows_of_parts,
        "parts_left_out",
        ["type", "verdict", "class", "here", "left_out", "note"],
    ),
    "published": (
        rows_of_published,
        "published_configs",
        ["id", "type", "verdict", "class", "here", "why"],
    ),
}


def main(what="types"):
    logging.disable(logging.WARNING)
    rows_of, file, columns = TABLES[what]
    rows = list(rows_of(load_catalogs()))
    for kind, verdicts in (
        pd.DataFrame(rows)
        .assign(set=lambda table: table.get("set", what))
        .groupby("set", sort=False)["verdict"]
    ):
        print(
            f"{kind}: "
            + ", ".join(f"{count} {verdict}" for verdict, count in Counter(verdicts).items())
        )
    for row in rows:
        if row["verdict"] == "wrong":
            print(f"  {row['type']}: {row['here']:,} and not {row['class']:,}", file=sys.stderr)
    pd.DataFrame(rows, columns=columns, dtype=object).to_csv(
        HERE / "results" / f"{file}.csv", index=False
    )


if __name__ == "__main__":
    main(*sys.argv[1:])
