"""Requests in plain words with their meaning, and what the reader makes of each.

tests/published/requests.csv has one request a line, written after the manner of public issues,
forums and guides. `columns` is what it says: `a|b` is either, `a..b` between, `a+b` all of these,
`x*` begins so; `?value` may be left out, `~name` has no effect. `excludes` is what it rules out,
`asks` what must be asked back, `refuses` a pattern of the reason of a refusal.
"""

import csv
import re
from pathlib import Path

import calc

FILE = Path(__file__).parent / "published" / "requests.csv"
SCALES = {"": 1.0, "k": 1e3, "m": 1e6, "b": 1e9, "t": 1e12}
ROOM_RATIO = 0.005
NUMBER = re.compile(r"(\d+(?:\.\d+)?)([kmbt]?)")
SAME = {  # fact -> the columns that may say it
    "train_tokens": ("train_tokens", "run_tokens"),
    "context_tokens": ("context_tokens", "sequence_tokens"),
    "requests_total": ("requests_total", "tokens_total"),
    "markets_too": ("markets",),
    "gpu_memory_gb": ("gpu_memory_gb", "gpu", "have", "instance"),
    "gpus": ("gpus", "have"),
    "gpu": ("gpu", "have", "instance"),
    "have": ("have", "instance"),
    "instance": ("instance", "have"),
    "precision": ("precision", "fewest_bits"),
}
OF_OTHERS = {"goal", "solve", "excludes", "method"}  # judged by themselves, or implied by others
EUROPE = re.compile(r"eu-")


def requests():
    """The rows of the file."""
    with FILE.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def spans(value, name):
    """The (low, high) intervals of a written number; empty for other text."""
    if ".." in value:
        low, high = value.split("..")
        return [(spans(low, name)[0][0], spans(high, name)[0][1])]
    match = NUMBER.fullmatch(value)
    if not match:
        return []
    factors = {
        SCALES[match[2]],
        1024.0 if match[2] == "k" and name.endswith("tokens") else SCALES[match[2]],
    }
    numbers = [float(match[1]) * factor for factor in factors]
    return [(number * (1 - ROOM_RATIO), number * (1 + ROOM_RATIO)) for number in numbers]


def number(value):
    match = re.match(r"[\d.]+(e[+-]?\d+)?", str(value))
    return float(match[0]) if match else None


def agrees(name, value, found):
    """Whether a column's value is what the request says."""
    several = found if isinstance(found, list) else str(found).split("+")
    if value in ("*", "at-once") or (name == "obtainable"):
        return True
    if name == "regions" and value in ("eu", "europe", "anywhere"):
        return all(EUROPE.match(one) for one in several) or value == "anywhere"
    if name in ("have", "gpu_memory_gb"):
        return True if name == "gpu_memory_gb" else str(found).split(" ")[0] == value.split("x")[0]
    if name == "gpus" and " x " in str(found):
        return number(found) == float(value)
    if name in ("gpu", "instance"):
        several = [one.partition(" x ")[2] or one for one in several]
        if name == "gpu" and any("." in one for one in several):  # an instance has the card
            return True
    if name == "markets_too":
        return value in several and len(several) > 1
    if wanted := spans(value.split(" ")[0], name):
        amount = number(found)
        return amount is not None and any(low <= amount <= high for low, high in wanted)
    if name == "markets" and value.startswith("commit"):
        return any(one.startswith("commit") for one in several)
    parts = [part.rstrip("*") for part in value.split("+")]
    return all(any(one.lower().startswith(part) for part in parts) for one in several) and all(
        any(one.lower().startswith(part) for one in several) for part in parts
    )


def judged(row, catalogs):
    """(verdict, why): right, asked, lost or misread."""
    got = calc.read_request(row["text"], catalogs)
    said = " ".join([got.problem, *(question.text for question in got.questions)])
    if row["refuses"]:
        return (
            ("right", "") if re.search(row["refuses"], said, re.IGNORECASE) else ("misread", said)
        )
    explained, wrong, missing = set(OF_OTHERS), [], []
    for fact in filter(None, (part.strip() for part in row["columns"].split(";"))):
        written, _, value = fact.partition("=")
        names = written.lstrip("~").split("|")
        columns = [column for name in names for column in SAME.get(name, (name,))]
        found = [column for column in columns if column in got.columns]
        explained |= set(columns)
        values = value.lstrip("?").split("|") + (["fp8"] if value == "fp8" else [])
        options = [(names[0], one) for one in values]
        if not found:
            missing += [] if value.startswith("?") or written.startswith("~") else [fact]
        elif not any(
            agrees(name, one, got.columns[column]) for column in found for name, one in options
        ):
            wrong.append(f"{fact}, read {got.columns[found[0]]}")
    wrong += [
        f"takes {part}"
        for part in filter(None, row["excludes"].split("+"))
        if not _excludes(part, got)
    ]
    explained |= {"tokens_total", "prompt_tokens"} if "tokens_total" in row["columns"] else set()
    explained |= {"instances_most"} if "instance=" in row["columns"] else set()
    wrong += [f"sets {name}" for name in got.columns.keys() - explained if name != "assumed"]
    if wrong:
        return "misread", "; ".join(wrong)
    if row["asks"] and not (got.questions or got.columns.get("solve")):
        return "lost", f"does not ask for {row['asks']}"
    if got.questions or got.problem:
        return "asked", said
    return ("lost", "; ".join(missing)) if missing else ("right", "")


def _excludes(part, got):
    """Whether what a request rules out is excluded, and not taken beside."""
    taken = [
        one
        for name in ("instance", "gpu", "markets", "regions")
        for one in got.columns.get(name, [])
    ]
    said = got.columns.get("excludes", "").split("+")
    return part not in taken and (part in said or bool(taken))
