"""The readings of each run of several texts, and what of them says nothing."""

from pathlib import PurePath

from calc.files.configs.documents import base_of, several_readings
from calc.files.configs.hostfiles import gpus_of_hosts
from calc.files.configs.manifests_beside import machines_of_manifest, starts_script
from calc.files.configs.problem import MOST_DOCUMENTS, ConfigProblem
from calc.files.configs.script_asides import UNREAD
from calc.files.configs.tool_commands import LAUNCH, Reading


def runs_of_texts(texts: list[tuple[str, str]]) -> list[list[Reading]]:
    """The readings of each run; a text that another takes over is part of that.

    What one file leaves to choose makes several runs, each with the readings of all other files.
    """
    by_file = {file: text for text, file in texts}
    bases = {file: base_of(text, by_file) for text, file in texts}
    runs: list[list[Reading]] = [[]]
    unread: dict[str, ConfigProblem] = {}
    for text, file in texts:
        base = bases[file]
        if file in bases.values():
            continue
        try:
            choices = _readings_beside(text, file, by_file, base)
        except ConfigProblem as error:
            unread[file] = error
            continue
        runs = [[*run, *readings] for run in runs for readings in choices][:MOST_DOCUMENTS]
    if unread and not any(_is_told(reading) for run in runs for reading in run):
        raise next(iter(unread.values()))
    asides = tuple(f"{UNREAD} {PurePath(file).name}" for file in unread)
    beside = [Reading(next(iter(unread)), None, {}, LAUNCH, {}, asides)] if unread else []
    return [[*run, *beside] for run in runs]


def _is_told(reading: Reading) -> bool:
    """Return whether a reading says what is run: by a tool that trains or serves."""
    return reading.tool is not None and not reading.tool.launches and bool(reading.fields)


def _readings_beside(
    text: str, file: str, by_file: dict[str, str], base: str
) -> list[list[Reading]]:
    """The readings of each run of a file among others; raises ConfigProblem.

    A file that cannot be read and starts one of the other files, such as a Kubernetes Job, or
    builds an image from them says nothing that they do not.
    """
    if hosts := gpus_of_hosts(text):
        return [[Reading(file, None, {}, LAUNCH, hosts)]]
    try:
        return several_readings(text, file, (by_file[base], base) if base else None)
    except ConfigProblem:
        if starts_script(text, by_file) and (machines := machines_of_manifest(text, file)):
            return machines
        scripts = {PurePath(other).name for other in by_file if other != file}
        words = set(text.replace('"', " ").split())
        builds = len(by_file) > 1 and "build:" in words  # its image, from another of the files
        if builds or any(name.endswith((".sh", ".py")) for name in scripts & words):
            return [[]]
        raise
