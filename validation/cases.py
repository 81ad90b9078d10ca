"""Reference values as cases: a scenario, the result column to compare, the true bytes.

Simulated rows are written as such cases. Published runs and measurements are read here, because one
of their rows is several cases or none. A row whose set-up the scenario columns cannot express says
why in `left_out`.
"""

import csv
from pathlib import Path

import pandas as pd

DATA = Path(__file__).parent / "data"
NOT_OF_A_PUBLISHED_RUN = {
    "source",
    "note",
    "confidence",
    "outcome",
    "quantity",
    "gigabytes",
    "left_out",
    "gpu",
}
RESULT_OF_A_QUANTITY = {
    "reserved_bytes": "memory_bytes",
    "allocated_peak_bytes": "logged_peak_bytes",
}
MEASURED_IN = (
    "work",
    "model",
    "precision",
    "tuning",
    "lora_targets",
    "optimizer",
    "optimizer_kernel",
    "recompute",
    "attention",
    "logits",
)
MEASURED_COUNTS = ("lora_rank", "batch", "sequence_tokens", "layers")


def read(name):
    """The rows of a data file as dicts of text; none if the file does not exist yet."""
    path = DATA / f"{name}.csv"
    if not path.exists():
        return []
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def as_numbers(values):
    """The values that are not empty; integers as int."""
    return {
        name: int(value) if value.isdigit() else value for name, value in values.items() if value
    }


def published_scenario(row):
    """The scenario of a published run."""
    return as_numbers(
        {name: value for name, value in row.items() if name not in NOT_OF_A_PUBLISHED_RUN}
    )


def simulated_cases():
    """The cases of simulated PyTorch, by file and number: from files whose rows have a `truth`."""
    for path in sorted(DATA.rglob("*.csv")):
        name = path.relative_to(DATA).with_suffix("").as_posix()
        with path.open(encoding="utf-8") as file:
            simulated = "truth" in file.readline().rstrip().split(",")
        for row in read(name) if simulated else ():
            yield as_numbers(row) | {"case": f"{name} {row['case']}", "source": f"{name}.csv"}


def measured_cases():
    """Two cases for each run on a real GPU: PyTorch's peak and the driver's."""
    for number, row in enumerate(read("measured"), start=1):
        scenario = as_numbers({name: row[name] for name in (*MEASURED_IN, *MEASURED_COUNTS)})
        scenario |= (
            {"kv_precision": "fp32"}
            if row["precision"] == "fp32" and row["work"] == "inference"
            else {}
        )
        left_out = "" if row["status"] == "ok" else f"{row['status']} on {row['card']}"
        about = {
            "case": f"measured {number}",
            "source": "measured.csv",
            "group": f"measured {row['work']}",
            "left_out": left_out,
        }
        for quantity, truth in (
            ("logged_peak_bytes", "peak_allocated_bytes"),
            ("memory_bytes", "peak_driver_bytes"),
        ):
            yield scenario | about | {"quantity": quantity, "truth": row[truth] or "nan"}


def published_cases():
    """The peaks of published runs: allocated, or reserved by the allocator without the context."""
    for number, row in enumerate(read("published_memory"), start=1):
        if row["gigabytes"]:
            yield published_scenario(row) | {
                "case": f"published_memory {number}",
                "source": "published_memory.csv",
                "group": f"published {row['work']}, {row['confidence']} confidence",
                "quantity": RESULT_OF_A_QUANTITY.get(row["quantity"], row["quantity"]),
                "truth": 1e9 * float(row["gigabytes"]),
                "left_out": row["left_out"],
                "published_by": row["source"],
                "lacks_context": float(row["quantity"] == "reserved_bytes"),
            }


def all_cases():
    """Every case as a table: scenario columns, group, source, quantity, truth, left_out."""
    cases = pd.DataFrame([*simulated_cases(), *published_cases(), *measured_cases()])
    absent = {"layers": 0, "left_out": "", "published_by": "", "lacks_context": 0.0}
    return cases.fillna(absent).astype({"layers": int, "truth": float})
