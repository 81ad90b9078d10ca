"""Memory figures in logs of torch, vLLM, SGLang, DeepSpeed and nvidia-smi."""

import json
import re
from collections.abc import Collection, Iterator
from typing import Any

from calc.catalogs.load import read_catalog, read_once
from calc.catalogs.schemas import memory_logs
from calc.files.oom.peaks import peaks_by_name
from calc.files.oom.sizes import MOST_CHARACTERS, SIZE, in_bytes, one_line, printed_lines
from calc.mappings import Json

NUMBER, COUNT = r"(\d{1,12}(?:\.\d{1,9})?)", r"(\d[\d,]{0,14})"
STARTUP = re.compile(
    r"Free memory on device(?: [\w:]{1,20})? \(([\d.]{1,12})/([\d.]{1,12}) GiB\) on startup "
    r"is less than desired GPU memory utilization \(([\d.]{1,12})"
)
# A line of DeepSpeed, in GiB.
HOST_SHARE = re.compile(
    r"CPU Virtual Memory: {1,4}used = ([\d.]{1,12}) GB, percent = ([\d.]{1,6})%"
)
HOST_USE = re.compile(r"was running was ([\d.]{1,12})GB ?/ ?([\d.]{1,12})GB")  # of Ray, in GiB
SIZED = "Tried to allocate"  # torch's message with its sizes
STATED = re.compile(r"\d{3}")  # a count or a size in a message
LONGEST_QUOTE = 200  # characters
CELL = rf"\s{{0,20}}{SIZE}\s{{0,20}}"


@read_once
def log_patterns() -> memory_logs.File:
    """Return the words that torch, engines and drivers print (catalogs/edited/memory_logs.yaml)."""
    return read_catalog(memory_logs.File)


def logged_figures(text: str) -> dict[str, float]:
    """Every figure of the text by name: sizes in bytes, counts, ratios."""
    if text.lstrip().startswith("{") and (stats := _stats(text)):
        return stats
    line = one_line(text)
    figures: dict[str, float] = {}
    for kind in log_patterns().figures:
        name = kind.name
        for value in _values(kind, line):
            peak = name.endswith("_peak") or name in ("used", "weights")
            figures[name] = max(figures.get(name, 0.0), value) if peak else value
    if (start := STARTUP.search(line)) and float(start[2]) > 0:
        figures |= {
            "free_at_start": in_bytes(start[1], "GiB"),
            "card": in_bytes(start[2], "GiB"),
            "utilization": float(start[3]),
        }
    return figures | _host_memory(line) | _summary(text[:MOST_CHARACTERS])


def stated_figures(text: str) -> dict[str, float]:
    """Every figure of a text that is known to be a log, peaks by any program's names among them."""
    return peaks_by_name(text) | logged_figures(text)


def named_failures(text: str) -> list[memory_logs.SilentFailure]:
    """The failures of a text that give no size, in the order of the catalog."""
    line = one_line(text)
    return [kind for kind in log_patterns().silent if _place(kind, line) is not None]


def silent_failures(text: str) -> list[memory_logs.SilentFailure]:
    """The failures that a log reports without a size, with at most one that has no name.

    The unnamed one counts only if the log has neither a named failure nor a message with sizes.
    """
    named = named_failures(text)
    unnamed = log_patterns().unnamed
    line = one_line(text)
    if named or SIZED in line or _place(unnamed, line) is None:
        return named
    return [unnamed]


def silent(text: str, others: Collection[str] = ()) -> list[str]:
    """The meaning of failures that give no size, each with the line that states its figures.

    `others`: cures of the failures that are no cause here, such as of ranks that another one ended.
    """
    lines = printed_lines(text)
    kinds = [kind for kind in silent_failures(text) if kind.cures not in others]
    meanings = [" ".join((kind.meaning, *_quoted(kind, lines))) for kind in kinds]
    return list(dict.fromkeys(meanings))


def _place(kind: memory_logs.SilentFailure, line: str) -> int | None:
    """Return the position of a failure's words in a text on one line; None without them."""
    places = [place for words in kind.words if (place := line.find(words)) >= 0]
    if kind.pattern and (match := re.search(kind.pattern, line)):
        places.append(match.start())
    return min(places, default=None)


def _quoted(kind: memory_logs.SilentFailure, lines: list[str]) -> Iterator[str]:
    """The first line with a failure's words, where it states a count or a size."""
    for line in lines:
        if (place := _place(kind, line)) is None:
            continue
        start = place if place > LONGEST_QUOTE / 2 else 0
        words = line[start : start + LONGEST_QUOTE].strip(' ."')
        if STATED.search(words):
            yield f'The log: "{words}".'
        return


def last_named(text: str, words_by_name: dict[str, list[str]]) -> tuple[str, str] | None:
    """The name whose word stands last in a text, and that word; None without one."""
    places = {
        (name, word): text.rfind(word) for name, words in words_by_name.items() for word in words
    }
    last = max(places, key=places.__getitem__)
    return last if places[last] >= 0 else None


def _host_memory(line: str) -> dict[str, float]:
    """The RAM of the machine that DeepSpeed or Ray last saw in use, and all of it. [B]"""
    if seen := HOST_USE.findall(line):
        used, total = (in_bytes(number, "GiB") for number in seen[-1])
        return {"host_used": used, "host_total": total}
    if (seen := HOST_SHARE.findall(line)) and float(seen[-1][1]) > 0:
        used = in_bytes(seen[-1][0], "GiB")
        return {"host_used": used, "host_total": 100 * used / float(seen[-1][1])}
    return {}


def _values(kind: memory_logs.PrintedFigure, line: str) -> Iterator[float]:
    """The values of a kind of figure, in order."""
    pattern = kind.pattern
    for match in re.finditer(
        pattern.replace("{}", SIZE).replace("{count}", COUNT).replace("{number}", NUMBER), line
    ):
        groups = [group for group in match.groups() if group is not None]
        value = in_bytes(*groups[:2]) if "{}" in pattern else float(groups[0].replace(",", ""))
        yield value * (kind.each or 1)


def _summary(text: str) -> dict[str, float]:
    """The peaks and counts of torch.cuda.memory_summary()."""
    names = log_patterns().summary.rows
    counts = log_patterns().summary.counts
    rows = re.findall(rf"\|\s{{0,40}}({'|'.join(names)})\s{{0,40}}\|{CELL}\|{CELL}\|", text)
    peaks = {names[name]: in_bytes(number, unit) for name, _, _, number, unit in rows}
    matches = {}
    if peaks:
        matches = {
            name: re.search(pattern.replace("{count}", COUNT), text)
            for name, pattern in counts.items()
        }
    return peaks | {
        name: float(match[1].replace(",", "")) for name, match in matches.items() if match
    }


def _stats(text: str) -> dict[str, float]:
    """The figures of torch.cuda.memory_stats() as JSON."""
    try:
        stats: Any = json.loads(text)
    except (ValueError, RecursionError):
        return {}
    values: Json = (
        {name: stats.get(key) for key, name in log_patterns().stats.items()}
        if isinstance(stats, dict)
        else {}
    )
    return {
        name: float(value)
        for name, value in values.items()
        if type(value) in (int, float) and 0 <= value < 1e18
    }
