"""Values of a shell's substitutions, $(...), as far as the script itself says them."""

import re

EVERY_GPU = "gpu"  # as torchrun's --nproc_per_node takes it: one process for each GPU of the node
GPUS_OF_NODE = "SLURM_GPUS_ON_NODE"  # the variable that holds their number, where it is known
COUNTS_GPUS = re.compile(r"nvidia-smi\b.*\b(?:wc -l|grep -c)|cuda\.device_count\(\)", re.S)
COUNTS_ITEMS = re.compile(r"echo\s+['\"]?(?P<items>[\w,. ]+?)['\"]?\s*\|.*\bwc -[lw]", re.S)
SEQUENCE = re.compile(r"seq(?:\s+(?P<first>\d{1,6}))?\s+(?P<last>\d{1,6})")
MOST_NUMBERS = 1_000  # of a sequence
SUM = "("  # how what stands inside $((1 + 2)) begins


def substituted(line: str, variables: dict[str, str]) -> str:
    """A line whose substitutions are one word each: their value, or the command's first word."""
    parts: list[str] = []
    place = 0
    while (begin := line.find("$(", place)) >= 0:
        end = _end(line, begin + 1)
        if not end:
            break
        parts += [line[place:begin], _value(line[begin + 2 : end - 1].strip(), variables)]
        place = end
    return "".join([*parts, line[place:]])


def _end(line: str, opened: int) -> int:
    """The place after the bracket that closes the one at a place; 0 where nothing does."""
    depth = 0
    for place in range(opened, len(line)):
        depth += {"(": 1, ")": -1}.get(line[place], 0)
        if depth == 0:
            return place + 1
    return 0


def _value(command: str, variables: dict[str, str]) -> str:
    """The text that a command prints, if it counts GPUs or items or is a sequence of numbers."""
    if COUNTS_GPUS.search(command):
        return variables.get(GPUS_OF_NODE) or EVERY_GPU
    if items := COUNTS_ITEMS.fullmatch(command):
        return str(len([one for one in re.split(r"[\s,]+", items["items"]) if one]))
    if numbers := SEQUENCE.fullmatch(command):
        several = range(int(numbers["first"] or 1), int(numbers["last"]) + 1)[:MOST_NUMBERS]
        return " ".join(map(str, several))
    if command.startswith(SUM):
        return f"$({''.join(command.split())})"
    words = command.split()
    return f"$({words[0]})" if words and re.fullmatch(r"[\w./-]+", words[0]) else "$(...)"
