"""The files of one run as a scenario row, with the open and the unused fields."""

import re
from typing import Any, NamedTuple

from calc.catalogs.load import Catalogs
from calc.catalogs.schemas.config_fields import Rule
from calc.files.configs.derived import derive, machine, stored
from calc.files.configs.documents import base_of, several_readings
from calc.files.configs.fields import Tool, field_catalog
from calc.files.configs.lines import Line, field_lines
from calc.files.configs.model_names import by_sizes, model_id, nearest_id
from calc.files.configs.objective import settle_objective, unread_trainer
from calc.files.configs.preference import objective_of
from calc.files.configs.problem import MOST_DOCUMENTS, ConfigProblem
from calc.files.configs.settled import Settled, settle_reading
from calc.files.configs.texts import checked_text
from calc.files.configs.tool_commands import ANY_TRAINER, LAUNCH, Reading
from calc.scenarios.inputs import BY_NAME, INFERENCE_ONLY, LORA_ONLY, TRAINING_ONLY

OTHER_MODELS = ("value_model", "reward_model")
SIZE = "size_"  # prefix of the parts that give a size of the model
STORED = "The checkpoint stores its weights as {}, and the engine serves them so."
CLASS_ENDS = re.compile(r"(For[A-Z]|LMHead|Model$).*")  # of LlamaForCausalLM
FAMILY = "named_family"  # the part of a flag that says whose shapes the sizes are
NO_MODEL = "no model of the catalog has these sizes ({}); is it {}"
SEVERAL = "these sizes ({}) do not say which model it is: is it {}"
ABOUT = ("source_file", "source_tool", "source_defaults", "not_said", "unused", "note", "problem")


class Run(NamedTuple):
    """One run: its scenario row, and how each field of its files was read."""

    row: dict[str, str]
    lines: list[Line]


def read_run(documents: list[tuple[str, bytes]], catalogs: Any, model: str = "") -> Run:
    """The first run of some files (name, bytes), line by line; raises ConfigProblem."""
    return read_runs(documents, catalogs, model)[0]


def read_runs(documents: list[tuple[str, bytes]], catalogs: Any, model: str = "") -> list[Run]:
    """The scenario row of each run of some files (name, bytes); raises ConfigProblem.

    Several files are one run; one file may start several services, or leave a choice of machines.
    `model`: an id of the catalog, for files that name no model or one that the catalog lacks.
    """
    if len(documents) > MOST_DOCUMENTS:
        raise ConfigProblem(
            f"{documents[0][0]}: a run has at most {MOST_DOCUMENTS} files; give its config "
            f"and its launcher alone."
        )
    texts = [(checked_text(content, file), file) for file, content in documents]
    named = next(filter(None, map(_named_objective, *zip(*texts, strict=True))), None)
    try:
        several = [
            (sorted(readings, key=lambda reading: reading.rank)) for readings in _runs(texts)
        ]
        mains = [_main(readings) for readings in several]
    except ConfigProblem:
        if named:
            raise unread_trainer(*named) from None
        raise
    return [
        _run(readings, main, named, catalogs, model)
        for readings, main in zip(several, mains, strict=True)
    ]


def _run(
    readings: list[Reading],
    main: Tool,
    named: tuple[str, str] | None,
    catalogs: Catalogs,
    model: str,
) -> Run:
    """The scenario row of the readings of one run."""
    settled = Settled()
    for reading in readings:
        others = (
            other.tool.id
            for other in readings
            if other.tool and other.fields and other is not reading
        )
        settle_reading(settled, reading, frozenset(others))
    for reading in readings:
        _defaults(settled, reading, main)
    stored(settled, catalogs)
    machine(settled, main, catalogs)
    settle_objective(settled, main, *((main.work == "training" and named) or ("", "")))
    _apply(settled, [rule for name in main.rules for rule in field_catalog().rules[name]], main)
    derive(settled, main, catalogs)
    _by_sizes(settled, main, catalogs, model)
    if model and not model_id(str(settled.values.get("model") or ""), catalogs):
        settled.values["model"] = model
    _contradicted(settled, catalogs)
    row = _row(settled, main, readings, catalogs)
    return Run(row, field_lines(readings, settled, row))


def _named_objective(text: str, file: str) -> tuple[str, str] | None:
    """What a file calls its training by preference or reward, with the file; None for no such."""
    try:
        name = objective_of(text, file)
    except ConfigProblem:
        return None
    return (name, file) if name else None


def _runs(texts: list[tuple[str, str]]) -> list[list[Reading]]:
    """The readings of each run; a text that another takes over is part of that.

    What one file leaves to choose makes several runs, each with the readings of all other files.
    """
    by_file = {file: text for text, file in texts}
    bases = {file: base_of(text, by_file) for text, file in texts}
    runs: list[list[Reading]] = [[]]
    for text, file in texts:
        base = bases[file]
        if file not in bases.values():
            choices = several_readings(text, file, (by_file[base], base) if base else None)
            runs = [[*run, *readings] for run in runs for readings in choices][:MOST_DOCUMENTS]
    return runs


def _main(readings: list[Reading]) -> Tool:
    """The tool that trains or serves; a launcher where there is no such tool."""
    every = [reading.tool for reading in readings if reading.tool]
    chosen = [tool for tool in every if not tool.launches] or every
    files = "+".join(dict.fromkeys(reading.file for reading in readings))
    if not chosen:
        raise ConfigProblem(
            f"{files}: its launcher was read, but not what it launches; add the trainer's "
            f"config, or name the model as --model_name_or_path."
        )
    own = [tool for tool in chosen if tool.id != ANY_TRAINER] or chosen
    others = sorted({tool.name for tool in own if not tool.launches and tool.id != own[0].id})
    if others:
        raise ConfigProblem(
            f"{files}: {own[0].name} and {', '.join(others)} are separate runs; give "
            f"their files separately, without +."
        )
    return own[0]


def _defaults(settled: Settled, reading: Reading, main: Tool) -> None:
    """The tool's defaults of fields that its file omits; of a launcher only from its own file."""
    tool = reading.tool
    if tool is None or (tool.launches and reading.rank != LAUNCH and tool is not main):
        return
    fields = {id(field): field for field in tool.fields.values()}
    for field in reversed(fields.values()):  # a tool's own before those of the tool that it is like
        if (
            field.default is not None
            and tool.id not in settled.absent
            and field.to not in settled.values
            and field.to not in settled.left
        ):
            settled.default(field, tool.name)
    for name, value in tool.sets.items():
        if name not in settled.values:
            settled.put(name, value, tool.name, reading)


def _apply(settled: Settled, listed: list[Rule], main: Tool) -> None:
    """Settle each column by the first of its rules whose parts all match."""
    closed: set[str] = set()
    for rule in listed:
        column, when = rule.column, rule.when
        if column in closed | settled.explicit | settled.left or not all(
            settled.matches(*pair) for pair in when.items()
        ):
            continue
        closed.add(column)
        value = settled.values.get(rule.is_[1:], "") if rule.is_.startswith("=") else rule.is_
        if (
            settled.absent
            and not settled.explicit & when.keys()
            and not when.keys() & main.sets.keys()
        ):
            value = ""  # the config that is not here may say otherwise
        if rule.unused in settled.explicit:
            settled.unused[settled.fields.get(rule.unused, rule.unused)] = None
        if value == "":
            settled.left.add(column)
            settled.values.pop(column, None)
        else:
            origin = (*when, rule.is_[1:]) if rule.is_.startswith("=") else tuple(when)
            settled.values[column], settled.made_of[column] = value, origin
            explicit = [part for part in origin if part in settled.explicit]
            settled.fields[column] = settled.fields[explicit[0]] if explicit else main.name
            if explicit:
                settled.defaulted.discard(column)
                if column not in BY_NAME:
                    settled.explicit.add(column)
            elif column in BY_NAME:
                settled.defaulted.add(column)


def _by_sizes(settled: Settled, main: Tool, catalogs: Any, instead: str) -> None:
    """Settle the model of a tool that gives its sizes; `instead` where no model has them."""
    parts = {name: name.removeprefix(SIZE) for name in settled.values if name.startswith(SIZE)}
    if "model" in settled.values or not {"layers", "hidden", "heads"} <= set(parts.values()):
        settled.unused |= dict.fromkeys(
            settled.fields[name] for name in parts if name in settled.explicit
        )
        return
    tokenizer = model_id(str(settled.values.get("tokenizer", "")), catalogs)
    models, closest = by_sizes(
        {size: settled.values[name] for name, size in parts.items()}, catalogs, tokenizer
    )
    unread = [
        settled.fields.get(name, name.removeprefix(SIZE))
        for name in settled.left
        if name.startswith((SIZE, FAMILY))
    ]
    if len(models) == 1 and not unread:
        origin = (*parts, "tokenizer") if models == [tokenizer] else tuple(parts)
        settled.values["model"], settled.fields["model"], settled.made_of["model"] = (
            models[0],
            main.name,
            origin,
        )
    elif not instead:
        shown = ", ".join(f"{size} {settled.values[name]}" for name, size in sorted(parts.items()))
        doubt = (
            SEVERAL.format(shown, " or ".join(models))
            if models
            else NO_MODEL.format(shown, closest)
        )
        settled.problems.append(f"{main.name}: {doubt}? Choose it, or add its config.json.")


def _contradicted(settled: Settled, catalogs: Catalogs) -> None:
    """Leave the model open where the class that a file loads it with is that of another type."""
    model, named = (
        model_id(str(settled.values.get("model") or ""), catalogs),
        str(settled.values.get("model_class") or ""),
    )
    stem = CLASS_ENDS.sub("", named).lower()
    kind = str(catalogs.models["model_type"].get(model, "")).replace("_", "")
    if (
        model
        and not stem.startswith("auto")
        and not kind.startswith(stem)
        and not stem.startswith(kind)
    ):
        settled.values.pop("model")
        settled.problems.append(
            f"{settled.files['model_class']}: {named} does not load {model}; is it {model}? "
            f"Choose it, or name another."
        )


def _row(
    settled: Settled, main: Tool, readings: list[Reading], catalogs: Catalogs
) -> dict[str, str]:
    columns = {name: settled.values[name] for name in BY_NAME if name in settled.values}
    columns |= {
        name: model_id(str(columns[name]), catalogs) or columns[name]
        for name in OTHER_MODELS
        if columns.get(name)
    }
    files, model = (
        "+".join(dict.fromkeys(reading.file for reading in readings)),
        str(columns.get("model") or ""),
    )
    if model:
        served_tokens = columns.get("sequence_tokens") if main.work == "inference" else None
        columns["model"] = _long_enough(model, served_tokens, catalogs)
        if columns["model"] not in catalogs.models.index:
            close = nearest_id(model, catalogs)
            cure = f"the nearest is {close}" if close else "none has a name like it"
            where = f"{settled.files.get('model', main.name)}, {settled.fields['model']}"
            settled.problems.append(
                f"{where}: {model[:80]} is not in the catalog ({cure}); choose another, or "
                f"add its config.json."
            )
    elif not settled.problems:
        settled.problems.append(
            f"{files}: no file names the model; choose it, or add the file that names it."
        )
    columns["work"] = main.work
    for name in (
        LORA_ONLY if columns.get("tuning") != "lora" and not columns.get("adapters") else ()
    ):
        if (
            columns.pop(name, None) is not None
            and name not in settled.defaulted
            and settled.fields[name] != main.name
        ):
            settled.unused[settled.fields[name]] = None
    skipped = {"scenario", *idle_inputs(main.work, columns.get("tuning"))}
    place = next((reading.place for reading in readings if reading.place), "")
    about = {
        "scenario": f"{files} {place}".strip(),
        "source_file": files,
        "source_tool": "+".join(
            dict.fromkeys(reading.tool.id for reading in readings if reading.tool)
        ),
        "source_defaults": "+".join(
            name for name in BY_NAME if name in columns and name in settled.defaulted
        ),
        "not_said": "+".join(
            name for name in BY_NAME if name not in columns and name not in skipped
        ),
        "unused": "+".join(settled.unused),
        "note": STORED.format(columns["precision"])
        if "stored" in settled.made_of.get("precision", ())
        else "",
        "problem": " ".join(settled.problems),
    }
    return (
        dict.fromkeys((*BY_NAME, *ABOUT), "")
        | {name: _text(value) for name, value in columns.items()}
        | about
    )


def _long_enough(name: str, tokens: Any, catalogs: Catalogs) -> str:
    """The id of a model; of a later release of its shapes where the served length needs it."""
    model = model_id(name, catalogs) or name
    releases = {
        other: base for base, later in field_catalog().longer.items() for other in later.values()
    }
    base = releases.get(model, model)
    later = next(
        (other for word, other in field_catalog().longer.get(base, {}).items() if word in name), ""
    )
    if later and tokens and float(tokens) > catalogs.models["max_position"][base]:
        return str(later)
    return base


def idle_inputs(work: str, tuning: Any) -> tuple[str, ...]:
    """The columns that a scenario of this work and tuning does not read."""
    return (
        *(INFERENCE_ONLY if work == "training" else TRAINING_ONLY),
        *(LORA_ONLY if tuning != "lora" else ()),
    )


def _text(value: Any) -> str:
    return (
        repr(value)
        if isinstance(value, float) and not value.is_integer()
        else str(int(value) if isinstance(value, float) else value)
    )
