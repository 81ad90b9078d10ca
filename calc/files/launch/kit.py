"""The launch kit of a row: files for each tool, and the choices that they cannot express."""

from collections.abc import Collection, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from calc.catalogs.load import Catalogs
from calc.engine.pipeline import estimate
from calc.evaluate import Row
from calc.files.configs.problem import ConfigProblem
from calc.files.configs.run import idle_inputs, read_run
from calc.files.launch.file_formats import file_text, flags, settings
from calc.files.launch.fleet import fleet_values
from calc.files.launch.kit_values import launch_values
from calc.files.launch.shell import Script, comment_line, filled_script, filled_text
from calc.files.launch.specs import (
    KitSpec,
    Spec,
    kit_specs,
    matches,
    place_files,
    rented_file,
    standing,
)
from calc.mappings import Json
from calc.say.differences import label
from calc.scenarios.inputs import BY_NAME, SAME_AS_SEQUENCE
from calc.table import is_missing
from calc.units import GIB

PYTORCH_ATTENTION = "sdpa"  # in rows and in files
# A name, what the instance settles, and what no run depends on.
NOT_COMPARED = ("scenario", "gpu", "region", "hours_per_month", "runs_per_month", "plan_months")
# Files that say nothing of the scenario.
TIGHT = "TIGHT: it fits as estimated, and may run out of memory all the same."
NOT_READ = ("setup.sh", "spot_watch.sh", "dataset_info.json")


class Inexpressible(NamedTuple):
    """A choice that the files cannot express: the scenario's value, and the tool's."""

    column: str
    wanted: Any
    taken: Any
    label: str = ""


class Kit(NamedTuple):
    """A tool's files (name -> text), and the choices that they cannot express."""

    id: str
    name: str
    files: dict[str, str]
    differences: list[Inexpressible]


def kits(
    row: Row, catalogs: Catalogs, market: str = "on-demand", allowed: Collection[str] = ()
) -> list[Kit]:
    """Return a kit for every tool that runs the row (catalogs/edited/launch_files.yaml).

    `allowed`: the types that its job allows beside the row's own; every one if empty.
    """
    values = launch_values(row, catalogs, market)
    values |= fleet_values(row, values, allowed, catalogs)
    chosen = [
        spec
        for spec in kit_specs()
        if values["implementation"] in spec.software and matches(spec.when, values)
    ]
    written = [_kit(spec, row, values, catalogs) for spec in chosen]
    return sorted(written, key=lambda kit: len(kit.differences))


def read_back(files: Mapping[str, str], catalogs: Catalogs) -> tuple[Json, set[str]]:
    """The estimate of the files as `import` reads them, and the columns that they leave open."""
    run = read_run([(name, text.encode()) for name, text in files.items()], catalogs)
    choices = {name: run.row[name] for name in BY_NAME if run.row[name]}
    row = estimate({"model": "", **choices}, catalogs, solve=False)
    return row, set(BY_NAME) - set(choices)


def _kit(spec: KitSpec, row: Row, values: Json, catalogs: Catalogs) -> Kit:
    """The files of one tool for a row, and what differs when they are read back."""
    values = _values_of_kit(spec, values)
    files = _files_of(spec, values, ["read back"])
    to_read = {name: text for name, text in files.items() if name not in NOT_READ}
    differences = [
        one
        for one in _differences(row, to_read, catalogs)
        if one.column != "implementation" or one.taken not in spec.software
    ]
    missing = [comment(difference, spec.name) for difference in differences]
    same = "it is the same scenario, but for what follows" if missing else "it is the same scenario"
    head = [
        *([TIGHT] if row["fits"] == "tight" else []),
        f"{_what(row, values)}. Brought back by `python -m calc import` {same}.",
        *missing,
        *(filled_text(block.text, values) for block in standing(spec.about, values)),
    ]
    return Kit(spec.id, spec.name, _files_of(spec, values, head, missing), differences)


def _values_of_kit(spec: KitSpec, values: Json) -> Json:
    """The values of a row with those of one tool: its scripts and its command filled in."""
    is_watched = spec.saves == values["watched"] == "yes"
    saves = is_watched and values["several_nodes"] == "no"  # a notice is for one node
    values = {
        **values,
        "kit": spec.id,
        "saves": "yes" if saves else "no",
        "prepares": "yes" if spec.setup else "no",
        "resume": spec.resume,
        "resumed": spec.files[spec.resume][0] if spec.resume else "no",
    }
    packages = [filled_script(block.text, values) for block in standing(spec.packages, values)]
    values |= {
        "packages": Script(" ".join(packages)),
        "setup": filled_script(spec.setup, values),
        "before": filled_script(spec.before, values),
    }
    words = [*flags(_fields(spec.flags, values)), *settings(_fields(spec.settings, values))]
    command = " \\\n  ".join([filled_script(spec.command, values), *words])
    return {**values, "command": Script(values["before"] + command)}


def _files_of(
    spec: KitSpec, values: Json, head: list[str], comments: Sequence[str] = ()
) -> dict[str, str]:
    """The tool's own files and the scripts, `head` on top of the one that starts it."""
    files = {
        name: file_text(_fields(specs, values), form, comments)
        for name, (form, specs) in spec.files.items()
    }
    if values["instance"]:
        files["sky.yaml"] = _sky_text(values)
    return files | place_files({**values, "head": Script("\n".join(map(comment_line, head)))})


def _sky_text(values: Json) -> str:
    """The SkyPilot task that rents the machines and runs the scripts."""
    comments, fields = rented_file()
    head = [filled_text(line.text, values) for line in standing(comments, values)]
    return file_text(_fields(fields, values), "yaml", head)


def _fields(specs: tuple[Spec, ...], values: Json) -> Json:
    return {spec.field: value for spec in specs if (value := spec.value(values)) is not None}


def _differences(row: Row, files: dict[str, str], catalogs: Catalogs) -> list[Inexpressible]:
    """The columns that read back with another value."""
    try:
        back, left = read_back(files, catalogs)
    except ConfigProblem as error:  # a kit that cannot be read back is wrong, and says so
        return [Inexpressible("problem", "", str(error))]
    follows = [name for name in SAME_AS_SEQUENCE if row[name] == row["sequence_tokens"]]
    skipped = [*NOT_COMPARED, *follows, *idle_inputs(row["work"], row["tuning"])]
    if row["attention"] == PYTORCH_ATTENTION and any(
        PYTORCH_ATTENTION in text for text in files.values()
    ):
        skipped.append("attention")  # read back as the software's own kernel, which it is there
    names = [name for name in BY_NAME if name not in skipped]
    return [
        Inexpressible(
            name, row[name], None if name in left else back[name], label(name, [row], catalogs)
        )
        for name in names
        if not _same(name, row, back)
    ]


def _same(name: str, row: Row, back: dict[str, float | str]) -> bool:
    """Return whether a column means the same after its files were read back."""
    wanted = row.get(name)
    got = back.get(name)
    if is_missing(wanted):
        # Files may write the default of the software: that costs nothing.
        costs = ("memory_bytes", "step_seconds")
        if all(str(back[cost]) == str(row[cost]) for cost in costs):
            return True
    if name == "train_tokens" and wanted and got and not (is_missing(wanted) or is_missing(got)):
        # Files hold whole steps, of pairs or of rollouts.
        pairs = 2 * row["batch"] * row["accumulation_steps"] * row["gpus"]
        rollouts = np.nan_to_num(row["prompts_per_step"] * row["generations"])
        return abs(wanted - got) <= max(pairs, rollouts) * row["sequence_tokens"]
    return str(wanted) == str(got)


def not_to_launch(row: Row) -> str:
    """Why a plan should not be started, as a sentence; empty where it runs and fits."""
    if row["runs"] == "no":
        return f"This plan does not run: {row['note'].rstrip('.')}."
    if row["loading"] != "default":
        return f"The kit installs current software, which this card does not run: {row['note']}"
    if row["fits"] == "no":
        needed = row["needed_bytes"] / GIB
        available = row["gpu_memory_bytes"] / GIB
        return (
            f"This plan does not fit: it takes {needed:,.1f} GiB on each GPU, and the card has "
            f"{available:,.1f}."
        )
    return ""


def comment(difference: Inexpressible, tool: str) -> str:
    """A difference in one sentence, for a file and for the screen."""
    if difference.column == "problem":
        return str(difference.taken)
    wanted = _in_words(difference.wanted)
    taken = _in_words(difference.taken)
    takes = f"it takes {taken}" if taken else "it leaves that open"
    choice = f"{difference.label} {wanted or 'as usual'} ({difference.column})"
    return f"No equivalent in {tool}: {choice}; {takes}."


def _in_words(value: float | str | None) -> str:
    if is_missing(value):
        return ""
    return f"{value:,.10g}" if isinstance(value, int | float) else str(value)


def _what(row: Row, values: Json) -> str:
    work = "Serving" if row["work"] == "inference" else "Training"
    place = f" on {values['nodes']} x {row['instance']}" if row["instance"] else ""
    gpus = f"{values['gpus']} GPU{'s' if values['gpus'] > 1 else ''}"
    return f"{work} {values['shown_model']}{place}, {gpus}"
