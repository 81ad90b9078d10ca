"""Measure what a CUDA GPU holds in each phase: `python -m validation.measure --out FILE`.

`make measure` does the same.

Needs torch, transformers and peft; models are made from `configs.json` with random weights, nothing
is downloaded. A supervisor starts a worker that appends a row per case of `cases.csv` and leaves at
the first error that may have spoilt the CUDA context; the supervisor then starts the next worker
behind that case. Running out of memory is a row like any other. Per phase, in bytes: allocated and
reserved are PyTorch's peaks, driver is what the driver counts on the card at the end of the phase
with the context, left is what stays allocated.
"""

import argparse
import csv
import gc
import subprocess
import sys
import time
from pathlib import Path

HERE = Path(__file__).parent
PHASES = ("build", "first_step", "forward", "backward", "step", "prefill", "decode")
COUNTERS = ("allocated", "reserved", "driver", "left")
MACHINE = ("card", "card_bytes", "context_bytes", "torch", "transformers", "driver_version")
SUSPECT_CONTEXT = 3


def read_cases(path):
    with Path(path).open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def columns_of(cases):
    """The columns of the result: the case, what happened, peaks, counters by phase, the machine."""
    peaks = [f"peak_{counter}_bytes" for counter in COUNTERS[:3]]
    counters = [f"{phase}_{counter}_bytes" for phase in PHASES for counter in COUNTERS]
    return [
        *cases[0],
        "status",
        "parameters",
        *peaks,
        *counters,
        "retries",
        "seconds",
        *MACHINE,
        "error",
    ]


def append(path, cases, row):
    with Path(path).open("a", newline="", encoding="utf-8") as file:
        csv.DictWriter(file, columns_of(cases), extrasaction="ignore").writerow(row)


def reader_of_counters(row, cuda):
    """Return a function that writes the memory counters into the row at the end of a phase.

    On a CPU there are none.
    """

    def read(phase):
        if not cuda:
            return
        cuda.synchronize()
        free, total = cuda.mem_get_info()
        seen = (
            cuda.max_memory_allocated(),
            cuda.max_memory_reserved(),
            total - free,
            cuda.memory_allocated(),
        )
        for counter, value in zip(COUNTERS, seen, strict=True):
            row[f"{phase}_{counter}_bytes"] = value
            row[f"peak_{counter}_bytes"] = max(row.get(f"peak_{counter}_bytes", 0), value)
        cuda.reset_peak_memory_stats()

    return read


def machine(device, torch, transformers):
    """Return the card, the versions, and the memory that the driver counts before any model. [B]"""
    about = {"torch": torch.__version__, "transformers": transformers.__version__, "card": device}
    if device == "cuda":
        torch.ones(8, 8, device="cuda") @ torch.ones(8, 8, device="cuda")
        torch.cuda.synchronize()
        torch.cuda.empty_cache()
        free, total = torch.cuda.mem_get_info()
        query = ["nvidia-smi", "--query-gpu=driver_version", "--format=csv,noheader"]
        version = subprocess.run(query, capture_output=True, text=True, check=False).stdout.strip()
        card = torch.cuda.get_device_name()
        about |= {
            "card": card,
            "card_bytes": total,
            "context_bytes": total - free,
            "driver_version": version,
        }
    return about


def measure_case(case, about, device, torch):
    """Measure one case. Return its row, whether it ran, ran out of memory or failed."""
    from validation import steps

    cuda = torch.cuda if device == "cuda" else None
    row = {**case, **about, "status": "ok"}
    began = time.time()
    try:
        row["parameters"] = steps.run(case, device, reader_of_counters(row, cuda))
    except torch.OutOfMemoryError as error:
        row |= {"status": "out of memory", "error": str(error).splitlines()[0]}
        row["peak_allocated_bytes"] = torch.cuda.max_memory_allocated()
        row["peak_reserved_bytes"] = torch.cuda.max_memory_reserved()
    except Exception as error:  # a row of any kind is worth more than a worker that lives
        row |= {"status": "error", "error": f"{type(error).__name__}: {str(error)[:300]}"}
    row["seconds"] = round(time.time() - began, 1)
    gc.collect()
    if cuda and row["status"] != "error":
        row["retries"] = cuda.memory_stats().get("num_alloc_retries", "")
        cuda.empty_cache()
        cuda.reset_accumulated_memory_stats()
        cuda.reset_peak_memory_stats()
    return row


def work(options):
    """Run the worker: append a row per case, from `start` on.

    It exits with SUSPECT_CONTEXT after an unexpected error.
    """
    import torch
    import transformers

    transformers.logging.set_verbosity_error()
    cases = read_cases(options.cases)
    about = machine(options.device, torch, transformers)
    for number, case in enumerate(cases[options.start :], start=options.start):
        if time.time() > options.until:
            break
        options.progress.write_text(str(number), encoding="utf-8")
        row = measure_case(case, about, options.device, torch)
        append(options.out, cases, row)
        peak = row.get("peak_allocated_bytes", 0) / 2**30
        words = [value for value in case.values() if value]
        print(
            f"{number + 1}/{len(cases)} {row['status']}, {peak:.3f} GiB:",
            *words,
            row.get("error", ""),
            flush=True,
        )
        if row["status"] == "error":
            return SUSPECT_CONTEXT
    return 0


def supervise(options):
    """Start workers until every case has its row or the time is up."""
    cases = read_cases(options.cases)
    options.out.parent.mkdir(parents=True, exist_ok=True)
    with options.out.open("w", newline="", encoding="utf-8") as file:
        csv.DictWriter(file, columns_of(cases)).writeheader()
    start = 0
    while start < len(cases) and time.time() < options.until:
        command = [
            sys.executable,
            "-m",
            "validation.measure",
            "--worker",
            "--start",
            start,
            "--until",
            options.until,
        ]
        command += ["--out", options.out, "--cases", options.cases, "--device", options.device]
        code = subprocess.run(
            [str(part) for part in command], check=False, cwd=HERE.parent
        ).returncode
        if code == 0:
            break
        if not options.progress.exists():
            print(
                "The worker ended before its first case: is there a CUDA GPU, and are the "
                "requirements installed?"
            )
            return 1
        done = int(options.progress.read_text(encoding="utf-8"))
        if code != SUSPECT_CONTEXT:
            append(
                options.out,
                cases,
                {**cases[done], "status": "died", "error": f"the worker ended with {code}"},
            )
        start = done + 1
    options.progress.unlink(missing_ok=True)
    return 0


def main():
    parser = argparse.ArgumentParser(
        description="Measure the cases of validation/cases.csv on a GPU."
    )
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--cases", type=Path, default=HERE / "cases.csv")
    parser.add_argument(
        "--device",
        default="cuda",
        help="cpu tries the script without a GPU: the counters stay empty",
    )
    parser.add_argument("--minutes", type=float, default=60)
    parser.add_argument("--worker", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--start", type=int, default=0, help=argparse.SUPPRESS)
    parser.add_argument("--until", type=float, default=0, help=argparse.SUPPRESS)
    options = parser.parse_args()
    options.out, options.cases = options.out.resolve(), options.cases.resolve()
    options.progress = options.out.with_suffix(".progress")
    options.until = options.until or time.time() + 60 * options.minutes
    return work(options) if options.worker else supervise(options)


if __name__ == "__main__":
    sys.exit(main())
