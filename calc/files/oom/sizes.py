"""Sizes as torch, engines and drivers print them, in powers of 1024. [B]"""

import re

SIZE = r"(\d{1,15}(?:\.\d{1,6})?)\s?(bytes|B|[KMGT]i?B)"
POWERS = {"b": 0, "k": 1, "m": 2, "g": 3, "t": 4}
MOST_CHARACTERS = 200_000
# What loggers and launchers write before each line: [rank0]: and (VllmWorker rank=1 pid=12) ERROR
# 06-05 12:00:00 [file.py:1]
PREFIX = re.compile(
    r"^[ \t]*(?:\[?rank\d{1,5}\]?:[ \t]*)?(?:\([\w ]{1,40}[^()\n]{0,80}\)[ "
    r"\t]*)?(?:(?:ERROR|INFO|WARNING|DEBUG)[^\n\]]{0,80}\][ \t]?)?",
    re.M,
)


def in_bytes(number: str, unit: str) -> float:
    """A printed size. [B]"""
    return float(number) * 1024.0 ** POWERS[unit[0].lower()]


def first_size(pattern: str, text: str) -> float | None:
    """The first size at the {} of the pattern, or None. [B]"""
    match = re.search(pattern.replace("{}", SIZE), text)
    return in_bytes(*match.groups()[:2]) if match else None


def printed_lines(text: str) -> list[str]:
    """The lines of the text without prefixes of loggers."""
    return PREFIX.sub("", text[:MOST_CHARACTERS]).splitlines()


def one_line(text: str) -> str:
    """The text without prefixes of loggers, on one line."""
    return " ".join(PREFIX.sub("", text[:MOST_CHARACTERS]).split())
