"""The launch kit of a row: files for each tool, and the choices that they cannot express."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from calc.catalogs.load import Catalogs
from calc.columns import GLOSSARY
from calc.engine.pipeline import estimate
from calc.evaluate import Row
from calc.files.configs.problem import ConfigProblem
from calc.files.configs.run import idle_inputs, read_run
from calc.files.launch.formats import file_text, flags
from calc.files.launch.specs import KitSpec, Spec, filled, kit_specs, matches, place_files
from calc.files.launch.values import launch_values
from calc.scenarios.inputs import BY_NAME, SAME_AS_SEQUENCE

# A name, what the instance settles, and what no run depends on.
NOT_COMPARED = ("scenario", "gpu", "region", "hours_per_month", "runs_per_month", "plan_months")
# transformers writes trainer_state.json after weights, optimizer and random state: where it is, the checkpoint is complete.
LAST_CHECKPOINT = "LAST=$(ls -d checkpoints/checkpoint-*/trainer_state.json 2>/dev/null | sort -V | tail -n 1 || true)"
FETCHED = '[ -z "${BUCKET:-}" ] || aws s3 sync --only-show-errors "s3://$BUCKET/checkpoints" checkpoints'
INSERTED = {  # the field as the first of its file, replacing an earlier one
    "json": """-e '/"resume_from_checkpoint"/d' -e "1a \\"resume_from_checkpoint\\": \\"${LAST%/*}\\"," """,
    "yaml": """-e "1i resume_from_checkpoint: ${LAST%/*}" -e "/^resume_from_checkpoint:/d" """,
}


class Inexpressible(NamedTuple):
    """A choice that the files cannot express: the scenario's value, and the tool's."""

    column: str
    wanted: Any
    taken: Any


class Kit(NamedTuple):
    """A tool's files (name -> text), and the choices that they cannot express."""

    id: str
    name: str
    files: dict[str, str]
    differences: list[Inexpressible]


def kits(row: Row, catalogs: Catalogs, market: str = "on-demand") -> list[Kit]:
    """A kit for every tool that runs the row (catalogs/edited/launch_files.yaml)."""
    values = {**launch_values(row, catalogs), "market": market, "spot": str(market == "spot").lower()}
    chosen = [spec for spec in kit_specs() if values["implementation"] in spec.software and matches(spec.when, values)]
    written = [_kit(spec, row, values, catalogs, market) for spec in chosen]
    return sorted(written, key=lambda kit: len(kit.differences))


def read_back(files: Mapping[str, str], catalogs: Catalogs) -> tuple[dict[str, Any], set[str]]:
    """The estimate of the files as `import` reads them, and the columns that they leave open."""
    run = read_run([(name, text.encode()) for name, text in files.items()], catalogs)
    choices = {name: run.row[name] for name in BY_NAME if run.row[name]}
    return estimate(choices, catalogs, solve=False), set(BY_NAME) - set(choices)


def _kit(spec: KitSpec, row: Row, values: dict[str, Any], catalogs: Catalogs, market: str) -> Kit:
    files = {name: file_text(_fields(specs, values), form) for name, (form, specs) in spec.files.items()}
    start = "#!/bin/bash\nset -euo pipefail\n"
    command = " \\\n  ".join([filled(spec.command, values), *flags(_fields(spec.flags, values))])
    before = resuming(spec.resume, spec.files[spec.resume][0] if spec.resume else "", market == "spot") if row["work"] == "training" else ""
    place = place_files(values) if row["instance"] else {}
    readable = {
        **files,
        "launch.sh": f"{start}{before}{command}\n",
        **{name: text for name, text in place.items() if name != "spot_watch.sh"},
    }
    differences = _differences(row, readable, catalogs)
    missing = [comment(difference, spec.name) for difference in differences]
    same = "it is the same scenario, but for what follows" if missing else "it is the same scenario"
    head = [f"{_what(row, values)}. Brought back by `python -m calc import` {same}.", *missing, filled(spec.about, values)]
    commented = {name: file_text(_fields(specs, values), form, missing) for name, (form, specs) in spec.files.items()}
    launch = start + "".join(f"# {line}\n" for line in head) + f"{before}{command}\n"
    return Kit(spec.id, spec.name, {**commented, "launch.sh": launch, **place}, differences)


def resuming(file: str, form: str, spot: bool) -> str:
    """Shell lines that fetch the checkpoints and point `file` to the last one.

    Empty `file`: the tool looks for it itself.
    """
    lines = [LAST_CHECKPOINT, f'[ -z "$LAST" ] || sed -i {INSERTED[form]}{file}'] if file else []
    return "".join(f"{line}\n" for line in [*([FETCHED] if spot else []), *lines])


def _fields(specs: tuple[Spec, ...], values: dict[str, Any]) -> dict[str, Any]:
    return {spec.field: value for spec in specs if (value := spec.value(values)) is not None}


def _differences(row: Row, files: dict[str, str], catalogs: Catalogs) -> list[Inexpressible]:
    """The columns that read back with another value."""
    try:
        back, left = read_back(files, catalogs)
    except ConfigProblem as error:  # a kit that cannot be read back is wrong, and says so
        return [Inexpressible("problem", "", str(error))]
    follows = [name for name in SAME_AS_SEQUENCE if row[name] == row["sequence_tokens"]]
    skipped = (*NOT_COMPARED, *follows, *idle_inputs(row["work"], row["tuning"]))
    names = [name for name in BY_NAME if name not in skipped]
    return [Inexpressible(name, row[name], None if name in left else back[name]) for name in names if not _same(name, row, back)]


def _same(name: str, row: Row, back: dict[str, float | str]) -> bool:
    wanted, got = row.get(name), back.get(name)
    if wanted in ("", None) and back["memory_bytes"] == row["memory_bytes"]:  # the software's default, written or not
        return True
    if name == "train_tokens" and wanted == wanted and got == got and wanted and got:
        return abs(wanted - got) <= row["batch"] * row["accumulation_steps"] * row["gpus"] * row["sequence_tokens"]  # whole steps
    return str(wanted) == str(got) or (wanted != wanted and got != got)


def comment(difference: Inexpressible, tool: str) -> str:
    """A difference in one sentence, for a file and for the screen."""
    if difference.column == "problem":
        return str(difference.taken)
    wanted, taken = (_said(value) for value in (difference.wanted, difference.taken))
    label, takes = GLOSSARY[difference.column].label, f"it takes {taken}" if taken else "it leaves that open"
    return f"No equivalent in {tool}: {label} {wanted or 'as usual'} ({difference.column}); {takes}."


def _said(value: float | str | None) -> str:
    if value is None or value == "" or value != value:
        return ""
    return f"{value:,.10g}" if isinstance(value, int | float) else str(value)


def _what(row: Row, values: dict[str, Any]) -> str:
    work = "Serving" if row["work"] == "inference" else "Training"
    place = f" on {values['nodes']} x {row['instance']}" if row["instance"] else ""
    return f"{work} {values['hub']}{place}, {values['gpus']} GPU{'s' if values['gpus'] > 1 else ''}"
