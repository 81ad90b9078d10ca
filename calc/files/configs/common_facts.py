"""The GPUs that services of a file share by number, and the release of vLLM that it needs."""

import re
from itertools import combinations

from calc.files.configs.inside.kinds import COMMENT
from calc.files.configs.tool_commands import LAUNCH, Reading
from calc.mappings import Json

DEVICES, SHARED = "device_names", "shared_gpus"  # parts of a run
REQUIRED = re.compile(r"\bvllm(?:\[[\w,-]{1,40}\])?==(\d{1,3}(?:\.\d{1,3}){1,3})")  # of pip and uv
LISTED = re.compile(r"\d{1,3}(?:,\d{1,3})*")


def with_shared_gpus(runs: list[list[Reading]]) -> list[list[Reading]]:
    """The runs, those that take a GPU of another one with a part that says which."""
    devices = [_devices(readings) for readings in runs]
    shared: dict[int, set[str]] = {}
    for one, other in combinations(range(len(runs)), 2):
        if common := devices[one] & devices[other]:
            shared.setdefault(one, set()).update(common)
            shared.setdefault(other, set()).update(common)
    return [
        [*readings, *([_note(readings, shared[place])] if place in shared else [])]
        for place, readings in enumerate(runs)
    ]


def _devices(readings: list[Reading]) -> set[str]:
    """The numbers of the devices that a run names; empty where it names none."""
    named = (str(reading.parts.get(DEVICES, "")) for reading in readings)
    return {number for text in named if LISTED.fullmatch(text) for number in text.split(",")}


def _note(readings: list[Reading], numbers: set[str]) -> Reading:
    return Reading(readings[0].file, None, {}, LAUNCH, {SHARED: " and ".join(sorted(numbers))})


def required_release(texts: list[str]) -> Json:
    """The part of the release of vLLM that the files install, vllm==0.11.0, if it is one alone."""
    named = {match for text in texts for match in REQUIRED.findall(COMMENT.sub("", text))}
    return {"software_release": named.pop()} if len(named) == 1 else {}
