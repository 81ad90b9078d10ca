"""Peaks of memory under the names that programs of any kind print them with."""

import re

from calc.files.oom.sizes import in_bytes, printed_lines

# memory/max_reserved: 57466159104, or allocated was 31 GB.
STATED = re.compile(
    r"(?:[:=|]|\bwas|\bis)[ '\"]{0,3}(?P<number>\d{1,15}(?:\.\d{1,20})?)"
    r"[ ]?(?P<unit>bytes\b|[KMGT]i?B\b)?"
)
UNIT_IN_NAME = re.compile(r"(?<![a-z])([kmgt]i?b)(?![a-z])")
LONGEST_NAME, MOST_STATED = 60, 4000  # characters; statements of one text
LEAST_BYTES = 1e7  # a number without a unit that is as large is one of bytes
BREAKS = re.compile(r"[|,;{}\[\]'\"]|\d\s")
OF_HOST = ("cpu", "host", "ram", "rss", "virtual")


def peaks_by_name(text: str) -> dict[str, float]:
    """The largest value of each peak that a text states by name and unit, or in bytes. [B]"""
    peaks: dict[str, float] = {}
    stated = 0
    for line in printed_lines(text):
        for match in STATED.finditer(line):
            stated += 1
            if stated > MOST_STATED:
                return peaks
            words = line[max(match.start() - LONGEST_NAME, 0) : match.start()]
            name = BREAKS.split(words.lower())[-1]
            if (figure := _figure(name)) and (value := _bytes(match, name)):
                peaks[figure] = max(peaks.get(figure, 0.0), value)
    return peaks


def _figure(name: str) -> str:
    """The figure that a name is of: a peak of the card or memory of the machine; else empty."""
    if "mem" not in name or not any(word in name for word in ("max", "peak")):
        return ""
    if any(re.search(rf"(?<![a-z]){word}(?![a-z])", name) for word in OF_HOST):
        return "host_used"
    if "reserv" in name:
        return "reserved_peak"
    return "allocated_peak" if "alloc" in name else ""


def _bytes(match: re.Match[str], name: str) -> float:
    """The value in the unit that follows it, or that its name holds; 0 where neither tells."""
    if match["unit"]:
        return in_bytes(match["number"], match["unit"])
    if units := UNIT_IN_NAME.findall(name.replace("_", " ")):
        return in_bytes(match["number"], units[-1])
    value = float(match["number"])
    return value if value >= LEAST_BYTES else 0.0
