"""Lines that trainers, engines and benchmarks print (catalogs/edited/run_logs.yaml)."""

import json
import re
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from datetime import datetime
from statistics import median
from typing import Any, NamedTuple

from calc.catalogs.load import read_catalog, read_once
from calc.catalogs.schemas import run_logs
from calc.files.door import one_sentence
from calc.files.oom.explain import text_of
from calc.files.oom.failures import failures, fullest
from calc.files.oom.log_problem import LogProblem
from calc.files.oom.logs import logged_figures
from calc.files.oom.sizes import in_bytes
from calc.files.oom.snapshots import peaks_of
from calc.mappings import Json

MOST_CHARACTERS, MOST = 4_000_000, 1e15  # of a text; of a figure
MOST_DOCUMENTS, MOST_PART_CHARACTERS = 500, 8_000_000  # of one JSON text; of all its parts
TOO_MANY = (
    f"This text holds more than {MOST_DOCUMENTS} benchmarks or JSON documents, or more than "
    f"{MOST_PART_CHARACTERS / 1e6:.0f} MB of them; give those of the plan alone."
)
MEBIBYTES = re.compile(r"\s*(\d{1,9})(?: MiB)?\s*")
NUMBER = r"(?P<value>-?\d[\d,]{0,15}(?:\.\d{1,20})?(?:[eE][-+]?\d{1,3})?)"
COLORS = re.compile(r"\x1b\[[\d;]{0,9}m")
QUERIED, LONGEST_QUERY = "memory.used", 400  # a column of nvidia-smi; characters of its first line
MOST_CARDS = 64  # lines of one answer of nvidia-smi
OF_MEMORY = {
    "allocated_peak",
    "reserved_peak",
    "used",
    "weights",
    "activation_peak",
    "non_torch",
    "card",
    "kv_pool",
}


class LoggedRun(NamedTuple):
    """Facts of a log: who printed it, what it measured, what it says of the run, and its day.

    Figures: bytes, seconds and rates. Facts: columns of a result, and totals from which they
    follow. The day is ISO, or empty.
    """

    tools: tuple[str, ...]
    figures: dict[str, float]
    facts: Json
    day: str


@read_once
def printed_of_runs() -> run_logs.File:
    """Who prints what of a run (catalogs/edited/run_logs.yaml)."""
    return read_catalog(run_logs.File)


@one_sentence
def runs(text: str) -> list[LoggedRun]:
    """The runs of a text: one, or each of a file of several benchmarks; raises LogProblem."""
    return [run for part in _parts(text) if (run := _run(part)).figures]


def runs_of_log(content: bytes) -> list[LoggedRun]:
    """The runs of a file, a pickled snapshot among them; raises LogProblem."""
    return runs(text_of(content))


def _parts(text: str) -> list[str]:
    """Each benchmark of a JSON document, each document of JSON lines; else the whole text."""
    text = COLORS.sub("", text[:MOST_CHARACTERS])
    if not text.lstrip().startswith("{"):
        return [text]
    try:
        documents = [json.loads(text)]
    except (ValueError, RecursionError):
        try:
            lines = [line for line in text.splitlines() if line.strip()]
            documents = [json.loads(line) for line in lines[: MOST_DOCUMENTS + 1]]
        except (ValueError, RecursionError):
            return [text]
    several = documents[0].get("benchmarks")
    args = documents[0].get("args")
    is_list = len(documents) == 1 and isinstance(several, list)
    repeated_characters = len(json.dumps(args)) * len(several) if is_list else 0
    if (
        len(several if is_list else documents) > MOST_DOCUMENTS
        or repeated_characters > MOST_PART_CHARACTERS
    ):
        raise LogProblem(TOO_MANY)
    if is_list:
        documents = [{"args": args, "benchmark": part} for part in several]
    return [json.dumps(document) for document in documents]


def _run(text: str) -> LoggedRun:
    """Return what one text says of one run."""
    tools: dict[str, None] = {}
    figures: dict[str, float] = {}
    facts: Json = {}
    for line in printed_of_runs().lines:
        values = list(_values(line.pattern, text))
        if not values:
            continue
        tools[line.tool] = None
        if line.figure is not None:
            batch, value = _steady(values)
            figures.setdefault(line.figure, value * (line.each or 1))
            if batch:
                facts["batch"] = batch
        elif line.fact is not None:
            value = values[-1][1]
            facts.setdefault(line.fact, value * line.each if line.each else value)
    memory = (
        {name: value for name, value in logged_figures(text).items() if name in OF_MEMORY}
        | _queried_memory_bytes(text)
        | _snapshot(text)
    )
    if failed := failures(text):
        # Of a run that failed no peak is known.
        memory = {"card": fullest(failed).total or memory.get("card", 0.0)}
    if memory.get("card"):
        facts["card"] = memory.pop("card")
    return LoggedRun(tuple(tools), figures | memory, _with_rates(facts, figures), _day(text))


def _values(pattern: str, text: str) -> Iterator[tuple[float, Any]]:
    """The concurrent sequences (0 where not given) and the value of every match above 0."""
    for match in re.finditer(pattern.replace("{number}", NUMBER), text):
        named = match.groupdict()
        if "text" in named:
            yield 0, named["text"].strip()
        elif 0 < (value := float(named["value"].replace(",", ""))) < MOST:
            yield float(named.get("batch") or 0), value


def _steady(values: list[tuple[float, Any]]) -> tuple[float, float]:
    """The most usual number of concurrent sequences, and the median of the later half there."""
    usual = Counter(batch for batch, _ in values).most_common(1)[0][0]
    steady = [value for batch, value in values if batch == usual]
    return usual, median(steady[len(steady) // 2 :])


def _with_rates(facts: Json, figures: dict[str, float]) -> Json:
    """The facts, with those that follow: lengths, requests in flight, sequences of a step.

    Without a limit on them, the requests in flight are their rate times the time of one (Little).
    """
    columns = dict(facts)
    requests = columns.pop("requests", 0)
    for total, name in (("prompts_tokens", "prompt_tokens"), ("answers_tokens", "answer_tokens")):
        if (tokens := columns.pop(total, 0)) and requests:
            columns[name] = tokens / requests
    first = (figures | columns).get("first_token_seconds", 0)
    each = (figures | columns).get("time_per_output_token_seconds", 0)
    rate = (figures | columns).get("served_tokens_per_second", 0)
    answer = (figures | columns).get("answer_tokens", 0)
    if "users" not in columns and answer > 1 and each and rate:
        columns["users"] = rate / answer * (first + (answer - 1) * each)
    if figures.get("steps_per_second") and figures.get("sequences_per_second"):
        columns.setdefault(
            "step_sequences", figures["sequences_per_second"] / figures["steps_per_second"]
        )
    return columns


def _queried_memory_bytes(text: str) -> dict[str, float]:
    """Memory in use by nvidia-smi's CSV query, the fullest card's. [B]"""
    used: list[float] = []
    columns, place, rows_left = 0, 0, 0
    for line in text.splitlines() if QUERIED in text else ():
        cells = line.split(",") if len(line) <= LONGEST_QUERY else []
        names = [cell.strip().partition(" ")[0] for cell in cells] if QUERIED in line else []
        if QUERIED in names:
            columns = len(cells)
            place = names.index(QUERIED)
            rows_left = MOST_CARDS
        elif rows_left:
            rows_left -= 1
            size = MEBIBYTES.fullmatch(cells[place]) if len(cells) == columns else None
            used += [in_bytes(size[1], "MiB")] if size else []
    return {"used": max(used)} if used else {}


def _snapshot(text: str) -> dict[str, float]:
    """The peaks of torch.cuda.memory._snapshot() as JSON. [B]"""
    if '"device_traces"' not in text or '"segments"' not in text:
        return {}
    with suppress(ValueError, RecursionError):
        return logged_figures(json.dumps(peaks_of(json.loads(text))))
    return {}


def _day(text: str) -> str:
    """The last day that the text names as when it was written, ISO; empty where it names none."""
    days = []
    for kind in printed_of_runs().days:
        for match in re.finditer(kind.pattern, text):
            named = match.groupdict()
            written = (
                f"{named['year']}-{named['month']}-{named['day']}"
                if named
                else "-".join(match.groups())
            )
            try:
                days.append(
                    datetime.strptime(written, "%Y-%b-%d" if named else "%Y-%m-%d")
                    .date()
                    .isoformat()
                )
            except ValueError:
                continue
    return max(days, default="")
