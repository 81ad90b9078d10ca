"""How many published configs are counted as their classes count them, on the meta device: data/published_configs.jsonl.

They are the config.json files that a serving planner ships (aiconfigurator-core 0.12.0, ai-dynamo, 2026-09), their sizes alone.
Needs requirements/validation.txt: `python -m validation.published_configs`.
"""

import json
import logging
from collections import Counter
from pathlib import Path

import pandas as pd
from transformers import CONFIG_MAPPING, AutoConfig, AutoModelForCausalLM, AutoModelForImageTextToText

from calc import load_catalogs
from validation.model_types import SECONDS, at_most, counted_by_class, counted_here

DATA = Path(__file__).parent / "data" / "published_configs.jsonl"
FILE = Path(__file__).parent / "results" / "published_configs.csv"


def row_of(name, config, catalogs):
    """One config: the class's count and ours, and what comes of it; a class that transformers lacks is `not built`."""
    counted = counted_here(config, catalogs)
    row = {"id": name, "type": config["model_type"]}
    if isinstance(counted, str):
        return {**row, "verdict": "refused", "why": counted}
    try:
        with at_most(SECONDS):
            fields = {field: value for field, value in config.items() if field not in ("model_type", "quantization_config", "auto_map")}
            head = AutoModelForImageTextToText if "vision_config" in config else AutoModelForCausalLM
            named = config["model_type"]
            kind = named if named in CONFIG_MAPPING else catalogs.model_types.aliases.get(named, "")
            _, truth = counted_by_class(AutoConfig.for_model(kind, **fields), head)
    except Exception as error:
        return {**row, "verdict": "not built", "here": counted, "why": type(error).__name__}
    return {**row, "verdict": "exact" if counted == truth else "wrong", "class": truth, "here": counted}


def main():
    logging.disable(logging.WARNING)
    catalogs = load_catalogs()
    published = map(json.loads, DATA.read_text("utf-8").splitlines())
    rows = [row_of(case["id"], case["config"], catalogs) for case in published]
    verdicts = Counter(row["verdict"] for row in rows)
    print(f"{len(rows)} configs: " + ", ".join(f"{count} {verdict}" for verdict, count in sorted(verdicts.items())))
    pd.DataFrame(rows, columns=["id", "type", "verdict", "class", "here", "why"], dtype=object).to_csv(FILE, index=False)


if __name__ == "__main__":
    main()
