"""Configs of models in use: counted as their classes count them, and none wrong."""

import csv
import json
from pathlib import Path

import pytest
from test_models_parts import CATALOGS

from calc.models.architecture import model_table
from calc.models.huggingface.config import read_config

VALIDATION = Path(__file__).parents[2] / "validation"
CONFIGS = {
    case["id"]: case["config"]
    for case in map(
        json.loads, (VALIDATION / "data/published_configs.jsonl").read_text().splitlines()
    )
}
ROWS = {
    row["id"]: row
    for row in csv.DictReader(
        (VALIDATION / "results/published_configs.csv").read_text("utf-8").splitlines()
    )
}


def test_a_published_config_counts_as_its_class_did_and_none_is_wrong():
    """Models in use, as read when their classes counted them (validation/model_types.py)."""
    verdicts = [row["verdict"] for row in ROWS.values()]
    assert list(ROWS) == list(CONFIGS)
    assert "wrong" not in verdicts
    assert verdicts.count("exact") >= 0.8 * len(verdicts)
    counts = {name: int(row["class"]) for name, row in ROWS.items() if row["verdict"] == "exact"}
    models, _ = model_table(
        {name: read_config(CONFIGS[name], name, CATALOGS) for name in counts}, CATALOGS.families
    )
    assert models["parameters"].to_dict() == counts


@pytest.mark.parametrize(
    "name",
    ["deepseek-ai/DeepSeek-V4-Pro", "sgl-project/DeepSeek-V4-Flash-FP8", "MiniMaxAI/MiniMax-M3"],
)
def test_what_is_another_matter_is_sized_and_says_why(name):
    entry = read_config(CONFIGS[name], "it", CATALOGS)
    assert entry["sized"] == 2
    assert "not modeled yet" in entry["remark"]
