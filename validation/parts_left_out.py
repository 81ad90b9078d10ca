"""The law over all default configs: a class counts as its row and what its note leaves out, or the note says that less is known.

Every type of transformers that has a class, its default config and its class on the meta device. Needs requirements/validation.txt:
`python -m validation.parts_left_out`.
"""

import logging
from collections import Counter
from pathlib import Path

import pandas as pd
import torch
from transformers import CONFIG_MAPPING, AutoConfig, AutoModel
from transformers.models.auto.modeling_auto import MODEL_MAPPING_NAMES

from calc import load_catalogs
from calc.models.architecture import model_table
from calc.models.huggingface.config import ConfigError, read_config
from validation.model_types import LACKS, SETS, at_most

FILE = Path(__file__).parent / "results" / "parts_left_out.csv"
SECONDS = 60  # a class that takes longer to build is left out
COLUMNS = ["type", "verdict", "class", "here", "left_out", "note"]


def whole_class(config, head):
    """The name of the class and all its parameters. [parameters]"""
    with torch.device("meta"):
        model = head.from_config(config)
    model.tie_weights()
    return type(model).__name__, sum(parameter.numel() for parameter in model.parameters())


def verdict_of(of_class, here, left_out, row, ratios):
    """counted: the row and what is left out make the class; named: the note names a part without a count.

    sized: the note says that a plain model stands for it, and the class is within its range; beyond: it is not; else silent.
    """
    if of_class == here + left_out:
        return "counted"
    if "whose parameters are not counted" in row["note"] or "of unknown size" in row["note"]:
        return "named" if of_class > here else "beyond"
    if row["sized"]:
        return "sized" if ratios["low"] * (row["sized"] > 1) * here <= of_class <= ratios["high"] * (here + left_out) else "beyond"
    return "silent"


def row_of(name, head, catalogs):
    """One type: the class's count, ours, and what our note says."""
    try:
        with at_most(SECONDS):
            config = AutoConfig.for_model(name, **LACKS.get(name, {}))
            class_name, of_class = whole_class(config, head)
    except Exception as error:
        return {"type": name, "verdict": "not built", "note": type(error).__name__}
    try:
        entry = read_config({**config.to_dict(), "architectures": [class_name]}, "it", catalogs)
    except ConfigError as error:
        return {"type": name, "verdict": "refused", "class": of_class, "note": str(error)}
    row = model_table({"it": entry}, catalogs.families)[0].loc["it"]
    here, left_out = int(row["parameters"]), int(row["left_out_parameters"])
    about = {"class": of_class, "here": here, "left_out": left_out, "note": row["note"].partition(". ")[0]}
    ratios = {end: catalogs.overheads["value"][f"sized_{end}_ratio"] for end in ("low", "high")}
    return {"type": name, "verdict": verdict_of(of_class, here, left_out, row, ratios), **about}


def main():
    logging.disable(logging.WARNING)
    catalogs = load_catalogs()
    heads = {name: AutoModel for name in MODEL_MAPPING_NAMES if name in CONFIG_MAPPING}
    heads |= {name: head for names, head in SETS.values() for name in names}
    rows = [row_of(name, heads[name], catalogs) for name in sorted(heads)]
    print(f"{len(rows)} types: " + ", ".join(f"{count} {verdict}" for verdict, count in Counter(row["verdict"] for row in rows).items()))
    pd.DataFrame(rows, columns=COLUMNS, dtype=object).to_csv(FILE, index=False)


if __name__ == "__main__":
    main()
