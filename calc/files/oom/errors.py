"""An error in its own words: its last line, and the options that it wants changed."""

import re

from calc.files.oom.sizes import MOST_CHARACTERS, one_line, printed_lines

ERROR = re.compile(r"[ \t]*(?:[A-Za-z_]\w{0,60}\.){0,8}\w{0,60}(?:Error|Exception)\b(?::[ \t].*)?$")
LONGEST_ERROR, MOST_OPTIONS = 160, 3  # characters; options of one message
OPTION = r"[`'\"]?(--?[a-z][\w-]{2,60}|[a-z]{2,30}(?:_[a-z0-9]{1,30}){1,6})(?![\w(./])[`'\"]?"
# Decrease `--max-batch-total-tokens` or `--max-batch-prefill-tokens`.
WANTED = re.compile(
    r"\b(?P<way>decreas\w{1,3}|reduc\w{1,3}|lower(?:ing)?|smaller(?: \w{1,10})? for|"
    r"increas\w{1,3}|rais\w{1,3}|larger(?: \w{1,10})? for)"
    rf"(?P<options> (?:(?:the|either|your) )?{OPTION}(?:,? (?:or|and) {OPTION})?)",
    re.I,
)
MORE = ("incr", "rais", "larg")


def last_error(text: str) -> str:
    """Return the last line of a log that is an exception, shortened; empty without one."""
    lines = [line.strip() for line in printed_lines(text) if ERROR.match(line)]
    return lines[-1][:LONGEST_ERROR] if lines else ""


def wanted_options(text: str) -> list[str]:
    """Return the options that a message asks people to lower or to raise, as cures."""
    cures = {}
    for match in WANTED.finditer(one_line(text[-MOST_CHARACTERS:])):
        size = "larger" if match["way"].lower().startswith(MORE) else "smaller"
        for option in re.findall(OPTION, match["options"]):
            cures[option] = f"A {size} {option}, as the message asks"
    return list(cures.values())[-MOST_OPTIONS:]
