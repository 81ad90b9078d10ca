"""The forms of an array in a shell script: on one line, a word a line, or both."""

import re

DECLARED = r"[ \t]*(?:(?:declare|typeset|local|readonly|export)[ \t]+(?:-\w{1,5}[ \t]+)?)?"
ARRAY = re.compile(
    DECLARED + r"(?P<name>[A-Za-z_]\w{0,100})(?P<adds>\+?)=\([ \t]*(?:#.*)?"
)  # ARGS=( ... ), a line each
ARRAY_LINE = re.compile(
    DECLARED + r"(?P<name>[A-Za-z_]\w{0,100})(?P<adds>\+?)=\((?P<words>[^()]*)\)[ \t]*(?:#.*)?"
)  # ARGS=(--seed 1)
ARRAY_BEGIN = re.compile(
    DECLARED + r"(?P<name>[A-Za-z_]\w{0,100})(?P<adds>\+?)=\((?P<words>[ \t]*[^\s)#].*)"
)  # IO=( --data $(cat blend.txt), whose words begin behind the bracket
MOST_ARRAY_LINES = 60


def closing_line(lines: list[str], first: int) -> int:
    """The number of the line behind that which closes the bracket of an array; 0 without one."""
    depth = 0
    for place in range(first, min(len(lines), first + MOST_ARRAY_LINES)):
        depth += lines[place].count("(") - lines[place].count(")")
        if depth <= 0:
            return place + 1 if lines[place].rstrip().endswith(")") else 0
    return 0
