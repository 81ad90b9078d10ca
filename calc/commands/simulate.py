"""`python -m calc simulate`: a model's own class on fake tensors, without a GPU."""

import argparse
import json
import re
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pandas as pd

from calc.catalogs.load import Catalogs
from calc.commands.command import plan_rows, write_table
from calc.files.simulated_models import simulated_model, write_simulated
from calc.files.streams import read, replacing_stream
from calc.mappings import Json
from calc.scenarios.problems import TableError
from calc.units import GIB

ROOT = Path(__file__).resolve().parents[2]
OF_SIMULATE = ROOT / ".venv-simulate" / "bin" / "python"
FORMATS = ("bf16", "amp")
MOST_SECONDS = 1800
SIMULATED = (
    "work",
    "tuning",
    "precision",
    "batch",
    "sequence_tokens",
    "recompute",
    "optimizer",
    "optimizer_kernel",
    "attention",
)
BUILD_ARGUMENTS = ("lora_targets", "lora_rank")


def interpreter() -> str:
    """The Python that has torch and transformers. Raises TableError if there is none."""
    if OF_SIMULATE.exists():
        return str(OF_SIMULATE)
    if find_spec("torch") and find_spec("transformers") and find_spec("peft"):
        return sys.executable
    raise TableError(
        "simulate runs the model's own class: PyTorch and transformers are missing; install "
        "them with make simulate."
    )


def answer_of(request: Json) -> Json:
    """Return the result of the simulation; raise TableError if it does not run at all."""
    command = [interpreter(), "-m", "validation.simulate.here"]
    try:
        run = subprocess.run(
            command,
            cwd=ROOT,
            input=json.dumps(request),
            capture_output=True,
            text=True,
            check=False,
            timeout=MOST_SECONDS,
        )
    except subprocess.TimeoutExpired:
        raise TableError(
            f"the simulation took longer than {MOST_SECONDS / 60:.0f} minutes and was stopped."
        ) from None
    try:
        return json.loads(run.stdout)
    except ValueError:
        last = (run.stderr.strip().splitlines() or ["it said nothing"])[-1][:200]
        raise TableError(
            f"the simulation did not run ({last}); it needs g++ and what make simulate installs."
        ) from None


def read_off(
    config: Json, model_id: str, catalogs: Catalogs, progress: str = ""
) -> tuple[Json, Path]:
    """Read a model's blocks off and write its file. Return the answer and the file's path.

    `progress` is a file for the share that is done.
    """
    answer = answer_of({"config": config, "blocks": FORMATS, "progress": progress})
    if "problem" in answer["blocks"]:
        raise TableError(answer["blocks"]["problem"])
    return answer, write_simulated(simulated_model(config, model_id, answer, catalogs), model_id)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `simulate`."""
    parser.epilog = (
        "Runs the model's own class from transformers on fake tensors: no GPU, no weights, no code "
        "from a hub. Without --row its blocks are written into your own catalogs "
        "(HEADROOM_CATALOGS, or ~/.headroom/catalogs), which later estimates read."
    )
    parser.add_argument("config", metavar="config.json", help="a Hugging Face config.json")
    row = "simulate the whole step of each row of this plan instead"
    parser.add_argument("--row", metavar="plan.csv", default="", help=row)


def main(options: argparse.Namespace, catalogs: Catalogs) -> int:
    """Simulate the rows of a plan whole, or read the model's blocks off."""
    config = _config(options.config)
    name = Path(options.config).stem
    model_id = re.sub(
        r"[^a-z0-9._-]+",
        "-",
        (Path(options.config).resolve().parent.name if name == "config" else name).lower(),
    )
    if options.row:
        write_table(_whole(config, plan_rows(options.row, catalogs)), options.output)
        return 0
    answer, path = read_off(config, model_id, catalogs)
    with replacing_stream(options.output) as target:
        blocks = answer["blocks"]
        target.write(
            f"{model_id}: {blocks['parameters']:,} parameters, {len(blocks['kinds'])} kinds of "
            f"block, read off in {blocks['seconds']:.0f} s "
        )
        target.write(
            f"with transformers {answer['transformers']}.\nWritten to {path}; rows and the "
            f"page know it as {model_id}.\n"
        )
    return 0


def _config(path: str) -> Json:
    """Read a config.json from a file or from standard input."""
    try:
        with read(path) as stream:
            config = json.loads(stream.read().decode("utf-8-sig"))
    except ValueError:
        raise TableError(f"{path} is not JSON; give a config.json as the hub has it.") from None
    if not isinstance(config, dict):
        raise TableError(f"{path} is not a JSON object; give a config.json as the hub has it.")
    return config


def _whole(config: Json, rows: pd.DataFrame) -> pd.DataFrame:
    """Return the simulated peak of each row's own step and the estimate, or why there is none."""
    records = rows.to_dict("records")
    covered = [row["gpus"] == 1 and row["implementation"] == "transformers" for row in records]
    requests = [
        {name: row[name] for name in (*SIMULATED, *BUILD_ARGUMENTS) if name in row}
        for row, is_covered in zip(records, covered, strict=True)
        if is_covered
    ]
    answer = answer_of({"config": config, "rows": requests})
    simulated_rows = iter(answer["rows"])
    results = [
        next(simulated_rows) if is_covered else {"problem": ONE_GPU} for is_covered in covered
    ]
    table = pd.DataFrame(
        results, columns=["allocated_peak_bytes", "parameters", "seconds", "problem"]
    )
    basis = f"simulated here, transformers {answer['transformers']}"
    return pd.DataFrame(
        {
            "scenario": rows["scenario"].to_numpy(),
            "allocated_peak_gib": table["allocated_peak_bytes"].to_numpy(dtype=float) / GIB,
            "estimated_peak_gib": rows["allocated_peak_bytes"].to_numpy(dtype=float) / GIB,
            "parameters": table["parameters"].to_numpy(dtype=float),
            "seconds": table["seconds"].to_numpy(dtype=float),
            "basis": ["" if "problem" in result else basis for result in results],
            "problem": table["problem"].fillna(""),
        }
    )


ONE_GPU = (
    "Only one GPU with implementation transformers is simulated; the estimate stands for the rest."
)
