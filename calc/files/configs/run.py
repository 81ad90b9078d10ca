"""The files of one run as a scenario row, with the open and the unused fields."""

import math
import re
from collections.abc import Iterator
from typing import Any, NamedTuple

from calc.catalogs.load import Catalogs
from calc.catalogs.schemas.config_fields import Rule
from calc.evaluate import Row
from calc.files.configs.combined_fields import derive, settle_stored_format
from calc.files.configs.commands_beside import (
    machine_of_comments,
    said_in_comments,
    with_commands,
)
from calc.files.configs.common_facts import required_release, with_shared_gpus
from calc.files.configs.env_files import with_env_files
from calc.files.configs.field_report import Line, field_lines
from calc.files.configs.fields import Tool, field_catalog
from calc.files.configs.files_beside import with_terraform, with_units
from calc.files.configs.folders import downloads_of
from calc.files.configs.here_documents import with_written_files
from calc.files.configs.inside.kinds import other_script
from calc.files.configs.kustomize import with_overlays
from calc.files.configs.machine_of_run import machine
from calc.files.configs.model_names import model_id
from calc.files.configs.model_of_run import (
    check_model_class,
    known_model,
    settle_folder,
    settle_from_sizes,
    settle_other_name,
)
from calc.files.configs.objective import missing_configs, settle_objective, unread_trainer
from calc.files.configs.own_scripts import ANY_TRAINER, LIKE_ANY
from calc.files.configs.preference import objective_of
from calc.files.configs.problem import MOST_DOCUMENTS, ConfigProblem, joined_problems
from calc.files.configs.run_settings import RunSettings, settle_reading, without_repeats
from calc.files.configs.runs_of_texts import runs_of_texts
from calc.files.configs.script_sources import with_sources
from calc.files.configs.short_flags import with_long_flags
from calc.files.configs.texts import checked_text
from calc.files.configs.tool_commands import HYPERPOD, LAUNCH, Reading
from calc.scenarios.inputs import BY_NAME, INFERENCE_ONLY, LORA_ONLY, TRAINING_ONLY

OTHER_MODELS = ("value_model", "reward_model")
REWARDS = re.compile(r"[-_](?:rm|reward|reward-model|critic)(?=-|_|$)", re.I)  # of its head alone
SLURM = "slurm"
ROLE = "disaggregation_mode"  # of SGLang: the phase that a service runs
OF_LENGTH = "vllm"  # an engine that starts only if its cache holds a request of the longest length
LONGEST = (
    "Without --max-model-len vLLM takes the model's {:,} tokens and starts only if its cache holds "
    "them."
)
STORED = "The checkpoint stores its weights as {}, and the engine serves them so."
ABOUT = ("source_file", "source_tool", "source_defaults", "not_said", "unused", "note", "problem")


class Run(NamedTuple):
    """One run: its scenario row, and how each field of its files was read."""

    row: dict[str, str]
    lines: list[Line]
    problems: dict[str, str]  # sentence -> the column that it is of


def read_run(documents: list[tuple[str, bytes]], catalogs: Any, model: str = "") -> Run:
    """The first run of some files (name, bytes), line by line; raises ConfigProblem."""
    return read_runs(documents, catalogs, model)[0]


def read_runs(
    documents: list[tuple[str, bytes]], catalogs: Any, model: str = "", objective: str = ""
) -> list[Run]:
    """The scenario row of each run of some files (name, bytes); raises ConfigProblem.

    Several files are one run; one file may start several services, or leave a choice of machines.
    `model`: an id of the catalog, for files that name no model or one that the catalog lacks.
    `objective`: said beside the files, for one that no row expresses.
    """
    if len(documents) > MOST_DOCUMENTS:
        raise ConfigProblem(
            f"{documents[0][0]}: a run has at most {MOST_DOCUMENTS} files; give its config "
            f"and its launcher alone."
        )
    texts = [(checked_text(content, file), file) for file, content in documents]
    texts = with_overlays(with_terraform(with_units(texts)))
    texts = with_written_files(with_env_files(texts))
    sets = [with_sources(one) for one in with_commands(with_long_flags(texts))]
    objectives = (_named_objective(text, file) for text, file in texts)
    named = next((one for one in objectives if one), None)
    named = (objective, named[1]) if named and objective else named
    missing = missing_configs(texts)
    try:
        several = [(run, one) for one in sets for run in runs_of_texts(one)]
        found = with_shared_gpus([run for run, _ in several])
        runs = [sorted(readings, key=lambda reading: reading.rank) for readings in found]
        trainers = [_main(readings, missing) for readings in runs]
    except ConfigProblem:
        if named:
            raise unread_trainer(*named, missing) from None
        raise
    downloads = downloads_of([text for text, _ in texts])
    for readings, trainer, (_, own_texts) in zip(runs, trainers, several, strict=True):
        readings += _said_beside(readings, trainer, own_texts)
    return [
        _run(readings, trainer, named or ("", ""), missing, catalogs, model, downloads)
        for readings, trainer in zip(runs, trainers, strict=True)
    ]


def _said_beside(
    readings: list[Reading], trainer: Tool, texts: list[tuple[str, str]]
) -> list[Reading]:
    """Return what the texts of a run say beside its settings: a release, comments."""
    released = required_release([text for text, _ in texts])
    release = [Reading(readings[0].file, None, {}, LAUNCH, released)]
    is_training = trainer.work == "training"
    said = said_in_comments(texts, readings) if is_training else machine_of_comments(texts)
    return [*(release if trainer.id == OF_LENGTH else []), *said]


def _run(
    readings: list[Reading],
    main: Tool,
    named: tuple[str, str],
    missing: list[str],
    catalogs: Catalogs,
    model: str,
    downloads: dict[str, str],
) -> Run:
    """Return the scenario row of one run from what its files say.

    `named`: the objective with its file; `missing`: configs that the files name and are not here.
    """
    settings = RunSettings()
    for reading in without_repeats(readings):
        others = (
            other.tool.id
            for other in readings
            if other.tool and other.fields and other is not reading
        )
        settle_reading(settings, reading, frozenset(others))
    for reading in readings:
        _defaults(settings, reading, main)
    settle_folder(settings, catalogs, downloads, _served_names(readings))
    settle_stored_format(settings, catalogs)
    machine(settings, main, catalogs)
    if main.work == "training":
        settle_objective(settings, main, *named, missing)
    _apply(settings, [rule for name in main.rules for rule in field_catalog().rules[name]], main)
    derive(settings, main, catalogs)
    settle_from_sizes(settings, main, catalogs, model)
    settle_other_name(settings, readings, catalogs)
    if model and not model_id(str(settings.values.get("model") or ""), catalogs):
        settings.values["model"] = model
    check_model_class(settings, catalogs)
    row = _row(settings, main, readings, catalogs, missing)
    return Run(row, field_lines(readings, settings, row), settings.problems)


def _served_names(readings: list[Reading]) -> list[str]:
    """The names under which the files serve the model."""
    names = (
        value
        for reading in readings
        for value in (reading.fields.get("served_model_name"), reading.parts.get("named_as"))
    )
    return [word for name in names if name for word in str(name).split()]


def _named_objective(text: str, file: str) -> tuple[str, str] | None:
    """Return the objective that a file names, with the file; None without one."""
    try:
        name = objective_of(text, file)
    except ConfigProblem:
        return None
    return (name, file) if name else None


def _main(readings: list[Reading], missing: list[str]) -> Tool:
    """The tool that trains or serves; a launcher where there is no such tool."""
    every = [reading.tool for reading in readings if reading.tool]
    chosen = [tool for tool in every if not tool.launches] or every
    files = "+".join(dict.fromkeys(reading.file for reading in readings))
    starts_nothing = {tool.id for tool in chosen} == {SLURM} and not any(map(_says_model, readings))
    if not chosen or starts_nothing:
        if other := other_script(" ".join(one for each in readings for one in each.asides)):
            raise ConfigProblem(f"{files}: {other[:1].lower()}{other[1:]}")
        named = " or ".join(missing[:1]) or "the trainer's config"
        raise ConfigProblem(
            f"{files}: its launcher was read, but not what it launches; add {named}, or name the "
            f"model as --model_name_or_path."
        )
    own = [tool for tool in chosen if tool.id not in (ANY_TRAINER, HYPERPOD)] or chosen
    if {tool.id for tool in own} == set(LIKE_ANY):  # TRL's arguments are those of transformers
        own = [tool for tool in own if tool.id != LIKE_ANY[0]]
    others = sorted({tool.name for tool in own if not tool.launches and tool.id != own[0].id})
    if others:
        raise ConfigProblem(
            f"{files}: {own[0].name} and {', '.join(others)} are separate runs; give "
            f"their files separately, without +."
        )
    return own[0]


def _says_model(reading: Reading) -> bool:
    return "model" in reading.parts


def _defaults(settings: RunSettings, reading: Reading, main: Tool) -> None:
    """The tool's defaults of fields that its file omits; of a launcher only from its own file."""
    tool = reading.tool
    if tool is None or (tool.launches and reading.rank != LAUNCH and tool is not main):
        return
    fields = {id(field): field for field in tool.fields.values()}
    for field in reversed(fields.values()):  # a tool's own before those of the tool that it is like
        if (
            field.default is not None
            and tool.id not in settings.absent
            and field.to not in settings.values
            and field.to not in settings.left
        ):
            settings.default(field, tool.name)
    for name, value in tool.sets.items():
        if name not in settings.values:
            settings.put(name, value, tool.name, reading)


def _apply(settings: RunSettings, rules: list[Rule], main: Tool) -> None:
    """Settle each column by the first of its rules whose parts all match."""
    closed: set[str] = set()
    for rule in rules:
        is_open = rule.column not in closed | settings.explicit | settings.left
        if is_open and all(settings.matches(*pair) for pair in rule.when.items()):
            closed.add(rule.column)
            _apply_rule(settings, rule, main)


def _apply_rule(settings: RunSettings, rule: Rule, main: Tool) -> None:
    """Settle the column of a rule whose parts match, or leave it open."""
    column, part = rule.column, rule.is_[1:] if rule.is_.startswith("=") else ""
    value = settings.values.get(part, "") if part else rule.is_
    if _absent_config_decides(settings, rule, part, main):
        value = ""
    if rule.unused in settings.explicit:
        settings.unused[settings.fields.get(rule.unused, rule.unused)] = None
    if value == "":
        settings.left.add(column)
        settings.values.pop(column, None)
        return
    origin = (*rule.when, part) if part else tuple(rule.when)
    settings.values[column], settings.made_of[column] = value, origin
    explicit = [part for part in origin if part in settings.explicit]
    settings.fields[column] = settings.fields[explicit[0]] if explicit else main.name
    if explicit:
        settings.defaulted.discard(column)
        if column not in BY_NAME:
            settings.explicit.add(column)
    elif column in BY_NAME:
        settings.defaulted.add(column)


def _absent_config_decides(settings: RunSettings, rule: Rule, part: str, main: Tool) -> bool:
    """Return whether a config that a command names, and that is not here, may decide the rule."""
    is_said = (
        part in settings.explicit
        or bool(settings.explicit & rule.when.keys())
        or bool(rule.when.keys() & main.sets.keys())
    )
    return bool(settings.absent) and not is_said and rule.column != "implementation"


def _row(
    settings: RunSettings,
    main: Tool,
    readings: list[Reading],
    catalogs: Catalogs,
    missing: list[str],
) -> dict[str, str]:
    """The scenario row of a run, with notes on what was read and what is missing."""
    columns = {name: settings.values[name] for name in BY_NAME if name in settings.values}
    columns |= {
        name: model_id(REWARDS.sub("", str(columns[name])), catalogs) or columns[name]
        for name in OTHER_MODELS
        if columns.get(name)
    }
    files = "+".join(dict.fromkeys(reading.file for reading in readings))
    if columns.get("model"):
        columns["model"] = known_model(settings, main, columns, catalogs)
    elif "model" not in settings.problems.values():
        others = " or ".join(missing[:1]) or "the file that names it"
        settings.complain(f"{files}: no file names the model; choose it, or add {others}.", "model")
    columns["work"] = main.work
    if columns.get("tuning") != "lora" and not columns.get("adapters"):
        _drop_lora_columns(settings, main, columns)
    return (
        dict.fromkeys((*BY_NAME, *ABOUT), "")
        | {name: _text(value) for name, value in columns.items()}
        | _about(settings, main, readings, columns, catalogs)
    )


def _about(
    settings: RunSettings, main: Tool, readings: list[Reading], columns: Row, catalogs: Catalogs
) -> dict[str, str]:
    """The columns that say where a row is from, what was assumed, and what is wrong."""
    files = "+".join(dict.fromkeys(reading.file for reading in readings))
    places = (reading.place or str(reading.fields.get(ROLE, "")) for reading in readings)
    place = next(filter(None, places), "")
    tools = dict.fromkeys(reading.tool.id for reading in readings if reading.tool)
    skipped = {"scenario", *idle_inputs(columns["work"], columns.get("tuning"))}
    return {
        "scenario": f"{files} {place}".strip(),
        "source_file": files,
        "source_tool": "+".join(tools),
        "source_defaults": "+".join(
            name for name in BY_NAME if name in columns and name in settings.defaulted
        ),
        "not_said": "+".join(
            name for name in BY_NAME if name not in columns and name not in skipped
        ),
        "unused": "+".join(settings.unused),
        "note": " ".join(_notes(settings, main, columns, catalogs)),
        "problem": " ".join(joined_problems(_model_first(settings.problems))),
    }


def _notes(settings: RunSettings, main: Tool, columns: Row, catalogs: Catalogs) -> Iterator[str]:
    """Yield what the checkpoint or the engine decides where the files leave it open."""
    yield from settings.notes
    if "stored" in settings.made_of.get("precision", ()):
        yield STORED.format(columns["precision"])
    leaves_length = "sequence_tokens" not in {*columns, *settings.problems.values()}
    if main.sets.get("implementation") != OF_LENGTH or not leaves_length:
        return
    longest = catalogs.models["max_position"].get(columns.get("model"), 0)
    if 0 < longest < math.inf:
        yield LONGEST.format(int(longest))


def _drop_lora_columns(settings: RunSettings, main: Tool, columns: Row) -> None:
    """Remove the columns that only LoRA reads; the fields that set them count as unused."""
    for name in LORA_ONLY:
        is_set = columns.pop(name, None) is not None and name not in settings.defaulted
        if is_set and settings.fields[name] != main.name:
            settings.unused[settings.fields[name]] = None


def _model_first(problems: dict[str, str]) -> list[str]:
    """The sentences of problems, those on the model first."""
    return sorted(problems, key=lambda sentence: problems[sentence] != "model")


def idle_inputs(work: str, tuning: Any) -> tuple[str, ...]:
    """The columns that a scenario of this work and tuning does not read."""
    return (
        *(INFERENCE_ONLY if work == "training" else TRAINING_ONLY),
        *(LORA_ONLY if tuning != "lora" else ()),
    )


def _text(value: Any) -> str:
    """A value as a cell of a CSV: a float that is a whole number without its point."""
    if not isinstance(value, float):
        return str(value)
    return str(int(value)) if value.is_integer() else repr(value)
