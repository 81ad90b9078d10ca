"""Compare estimates with simulated steps for families that the catalog has no blocks of.

Their blocks are read off on this machine.

Each family's default config in bf16, AdamW, no recompute. Needs requirements/validation.txt:
`python -m validation.read_here [FAMILY...]`.
"""

import sys
import tempfile
from pathlib import Path

from validation.simulate.here import answer  # isort: skip: its device stands before torch is used

import pandas as pd
from transformers import AutoConfig

from calc import estimate, load_catalogs
from calc.files.simulated_models import simulated_model, with_simulated, write_simulated
from validation.model_types import LACKS

FILE = Path(__file__).parent / "results" / "read_here.csv"
FAMILIES = (
    "afmoe",
    "bitnet",
    "blt",
    "diffllama",
    "doge",
    "gpt_neo",
    "hrm_text",
    "jetmoe",
    "nanochat",
    "persimmon",
    "zaya",
)
ROW = {
    "work": "training",
    "tuning": "full",
    "precision": "bf16",
    "batch": 32,
    "sequence_tokens": 1024,
    "recompute": "none",
}
ROW |= {"optimizer": "adamw", "optimizer_kernel": "foreach", "attention": "flash"}


def row_of(name, config, scenario, said, catalogs):
    """One family: its simulated peak, the estimate with its own blocks, and the time of both."""
    first, blocks = said["rows"][0], said["blocks"]
    row = {"type": name, "batch": scenario["batch"], "sequence_tokens": scenario["sequence_tokens"]}
    row |= {
        "simulated_peak_bytes": first.get("allocated_peak_bytes"),
        "step_seconds": first["seconds"],
    }
    row |= {
        "blocks_seconds": blocks["seconds"],
        "problem": first.get("problem") or blocks.get("problem", ""),
    }
    if row["problem"]:
        return row
    with tempfile.TemporaryDirectory() as folder:
        write_simulated(simulated_model(config, "it", said, catalogs), "it", Path(folder))
        extended = with_simulated(catalogs, Path(folder))
    estimated = estimate(
        {"model": "it", "gpu": "b200", "implementation": "transformers", **scenario},
        extended,
        False,
    )
    ratio = estimated["allocated_peak_bytes"] / row["simulated_peak_bytes"] - 1
    return row | {
        "estimated_peak_bytes": round(estimated["allocated_peak_bytes"]),
        "error_ratio": f"{ratio:.7f}",
    }


def main(names):
    catalogs, rows = load_catalogs(), []
    for name in names:
        config = AutoConfig.for_model(name, **LACKS.get(name, {})).to_dict()
        scenario = ROW | {
            "sequence_tokens": min(
                ROW["sequence_tokens"], config.get("max_position_embeddings") or 512
            )
        }
        rows.append(
            row_of(
                name,
                config,
                scenario,
                answer({"config": config, "rows": [scenario], "blocks": ["bf16"]}),
                catalogs,
            )
        )
        print(rows[-1], flush=True)
    columns = [
        "type",
        "batch",
        "sequence_tokens",
        "simulated_peak_bytes",
        "estimated_peak_bytes",
        "error_ratio",
    ]
    columns += ["step_seconds", "blocks_seconds", "problem"]
    before = (
        pd.read_csv(FILE, dtype=object, keep_default_na=False).to_dict("records")
        if FILE.exists()
        else []
    )
    rows = sorted(
        [row for row in before if row["type"] not in names] + rows, key=lambda row: row["type"]
    )
    pd.DataFrame(rows, columns=columns, dtype=object).to_csv(FILE, index=False)


if __name__ == "__main__":
    main(sys.argv[1:] or FAMILIES)
