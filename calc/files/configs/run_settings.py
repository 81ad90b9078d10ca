"""The columns that the files of a run settle, their sources, and what is left open."""

import re
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import PurePosixPath
from typing import Any

from calc.evaluate import formulas_of
from calc.files.configs import field_rules
from calc.files.configs.fields import Field, field_catalog
from calc.files.configs.problem import ConfigProblem
from calc.files.configs.substitutions import EVERY_GPU
from calc.files.configs.tool_commands import CONFIG, LAUNCH, Reading
from calc.files.configs.values import OPEN, VARIABLE, NoEqual, as_word, is_off, read_value, whole
from calc.mappings import Json
from calc.scenarios.inputs import BY_NAME

RECIPE = re.compile(r"(?:^|/)([a-z]\w{1,30})/([\w.]{1,20}?)_(qlora|lora|full)((?:_\w{1,40})?)$")
TAKES_EVERY_GPU = "takes_every_gpu"  # the part of a command that runs on all GPUs of its machine
RECIPES = "recipes"  # the field of HyperPod's launcher that names its recipe
ABSENT_RECIPE = (
    "{}: the recipe {} is not here, and sets the sharding, the recomputation and more; add its "
    "YAML file with +."
)
HYPERPOD = re.compile(
    r"(?:[a-z]+_)??(?P<model>[a-z]+\w*?_\d+b\w*?)_seq(?P<thousands>\d{1,3})k_gpu_(?P<work>\w+)"
)
STAGE = re.compile(
    r"(?:zero|stage|(?:^|[/_-])z)[_-]?(?:stage)?[_-]?([0-3])(?!\d)"
)  # ds_z3, zero_stage1
OFFLOADS = re.compile(r"(?<!no)(?<!no[-_])(?<!without[-_])offload")
COLUMN_OF_PART = {
    **dict.fromkeys(("nodes", "gpus_per_node", "asked_gpus"), "gpus"),
    **dict.fromkeys(("weights", "quantized", "bf16", "fp16", "eight"), "precision"),
    **dict.fromkeys(("global_batch", "script_batch"), "batch"),
    **dict.fromkeys(("epochs", "steps", "steps_each", "samples"), "train_tokens"),
}
SPECIAL = {reader.__name__: reader for reader in formulas_of(field_rules)}


@dataclass
class RunSettings:
    """Columns and parts as the files settle them, with the source of each.

    `values`: column or part -> value; `fields`: -> its field; `made_of`: -> the parts of its rule;
    `left`: named by a file, but without a value that can be read.
    """

    values: Json = field(default_factory=dict)
    fields: dict[str, str] = field(default_factory=dict)
    ranks: dict[str, int] = field(default_factory=dict)
    files: dict[str, str] = field(default_factory=dict)
    made_of: dict[str, tuple[str, ...]] = field(default_factory=dict)
    explicit: set[str] = field(default_factory=set)
    defaulted: set[str] = field(default_factory=set)
    left: set[str] = field(default_factory=set)
    unused: dict[str, None] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    problems: dict[str, str] = field(default_factory=dict)  # sentence -> the column that it is of
    unread: dict[str, str] = field(default_factory=dict)  # column or part -> its problem
    absent: set[str] = field(
        default_factory=set
    )  # tools whose config a command names, and no file is

    def matches(self, part: str, wanted: str) -> bool:
        """Return whether the part has one of the wanted values (a|b; - where no file says it)."""
        return str(self.values.get(part, "-")) in wanted.split("|")

    def default(self, meaning: Field, tool: str) -> None:
        """Take the tool's default of a field that no file names."""
        usual = meaning.default_of(str(self.values.get("software_release") or ""))
        for name, setting in _parts(meaning, usual, tool).items():
            if setting is not None and name not in self.values:
                self.values[name], self.fields[name] = setting, tool
                self.defaulted.add(name)

    def put(self, name: str, value: Any, source: str, reading: Reading) -> None:
        """Take a value of a file; where two files differ, the higher rank wins, with a problem."""
        if name not in self.explicit:
            self.problems.pop(self.unread.pop(name, ""), None)  # another file gives the value
            self.values[name] = value
            self.fields[name] = source
            self.ranks[name] = reading.rank
            self.files[name] = reading.file
            self.explicit.add(name)
            self.left.discard(name)
        elif str(self.values[name]) != str(value):
            if reading.rank == self.ranks[name] or min(reading.rank, self.ranks[name]) >= CONFIG:
                self.complain(
                    f"{reading.file}, {source}: {value} here and {self.values[name]} in "
                    f"{self.files[name]}; "
                    f"{self.values[name]} was taken, make them equal.",
                    name,
                )
            elif source != self.fields[name]:  # the same field is changed where the run starts
                self.unused[source] = None

    def derive(self, column: str, value: int | str, parts: Sequence[str]) -> None:
        """Set a column that follows from some parts; it is a default if all of them are."""
        self.values[column], self.made_of[column] = value, tuple(parts)
        self.fields[column] = next(
            (self.fields[part] for part in parts if part in self.fields), column
        )
        if not any(part in self.explicit for part in parts):
            self.defaulted.add(column)
            return
        self.defaulted.discard(column)
        if column not in BY_NAME:
            self.explicit.add(column)

    def complain(self, sentence: str, name: str) -> None:
        """Keep a sentence on what is wrong with a column, or with a part of one."""
        self.problems[sentence] = COLUMN_OF_PART.get(name, name)

    def leave(self, name: str) -> None:
        """Leave a column open that a file names without a value that can be read."""
        if name not in self.explicit:
            self.left.add(name)


def without_repeats(readings: list[Reading]) -> list[Reading]:
    """Readings; flags of an unknown command without those that its script is read with."""
    known = {
        (name, as_word(value))
        for reading in readings
        for name, value in reading.fields.items()
        if reading.tool and name in reading.tool.fields
    }
    return [
        reading
        if reading.tool
        else replace(
            reading,
            fields={
                name: value
                for name, value in reading.fields.items()
                if (name, as_word(value)) not in known
            },
        )
        for reading in readings
    ]


def settle_reading(settings: RunSettings, reading: Reading, others: frozenset[str]) -> None:
    """Settle every field of a reading; `others` are the tools of the other files."""
    for name, value in reading.parts.items():
        _take_part(settings, reading, name, value)
    if reading.tool is None:
        settings.unused |= dict.fromkeys(reading.fields)
        return
    names: dict[int, str] = {}  # of the fields that have been read, by their meanings
    for name, value in _files_first(reading.fields):
        meaning = reading.tool.fields.get(name)
        if meaning is None:
            is_neutral = as_word(value) == ("1" if name.endswith("parallel_size") else "0")
            is_reported = reading.tool.hides(name) and not (is_off(value) or is_neutral)
            is_reported = is_reported and not _repeats(reading, name)
            if is_reported or not reading.tool.is_idle(name):
                settings.unused[name] = None
        elif id(meaning) in names and meaning.name != "flash_attention":
            _compare_names(settings, reading, meaning, names[id(meaning)], name)
        else:
            names[id(meaning)] = name
            _take_field(settings, reading, meaning, name, others)


def _repeats(reading: Reading, name: str) -> bool:
    """Return whether a field says of another model what the tool reads of its own: ref.tp_size."""
    last, word = name.rpartition(".")[2], as_word(reading.fields[name])
    return any(
        known.rpartition(".")[2] == last and as_word(value) == word
        for known, value in reading.fields.items()
        if reading.tool and known in reading.tool.fields
    )


def _take_part(settings: RunSettings, reading: Reading, name: str, value: Any) -> None:
    """Settle a part that a command line or a launcher says."""
    if name not in ("nodes", "gpus_per_node"):
        settings.put(name, value, name, reading)
    elif value == EVERY_GPU:
        settings.put(TAKES_EVERY_GPU, "yes", name, reading)
    elif whole(str(value)):
        settings.put(name, int(value), name, reading)
    else:
        settings.complain(
            f"{reading.file}, {name}: {str(value)[:40]} is not a number; write how many there are.",
            name,
        )
        settings.leave(name)


def _compare_names(
    settings: RunSettings, reading: Reading, meaning: Field, first_name: str, name: str
) -> None:
    """Complain if a file gives a field under two names with two values."""
    value = reading.fields[name]
    is_same = as_word(reading.fields[first_name]) == as_word(value)
    switched = (value, reading.fields[first_name])  # by DeepSpeed's --deepspeed, beside its file
    is_switch = meaning.read == "document" and any(one in (True, "true") for one in switched)
    if not is_same and not is_switch:
        settings.complain(
            f"{reading.file}: {first_name} and {name} are the same field; keep one of the two.",
            meaning.to,
        )


def _take_field(
    settings: RunSettings, reading: Reading, meaning: Field, name: str, others: frozenset[str]
) -> None:
    """Settle the columns and parts of one field of a file, or leave its column open."""
    value = reading.fields[name]
    if as_word(value) in meaning.idle_at or (meaning.read == "open" and is_off(value)):
        return
    if value == EVERY_GPU and meaning.to in ("gpus", "gpus_per_node", "tensor_parallel"):
        settings.put(TAKES_EVERY_GPU, "yes", name, reading)
        settings.leave(meaning.to)
        return
    try:
        for part, setting in meaning.sets.items():
            settings.put(part, setting, name, reading)
        if meaning.read == "open":
            settings.unused[name] = None
        elif meaning.read == "document":
            if not _is_read_already(settings, meaning, value, others):
                _take_document(settings, reading, meaning, name)
        else:
            _take_value(settings, reading, meaning, name)
    except NoEqual:
        settings.unused[name] = None
        settings.leave(meaning.to)
    except ConfigProblem as error:
        if meaning.to not in settings.explicit or not VARIABLE.search(str(value)):
            settings.complain(str(error), meaning.to)
            settings.unread[meaning.to] = str(error)
        settings.leave(meaning.to)


def _is_read_already(
    settings: RunSettings, meaning: Field, value: Any, others: frozenset[str]
) -> bool:
    """Return whether a field names no file, or one that is among the files of the run.

    A switch beside the settings that it switches on names none either.
    """
    names_none = as_word(value) in ("null", "false", "")
    is_switch = value is True and meaning.to in settings.explicit
    return names_none or meaning.to in others or is_switch


def _take_document(settings: RunSettings, reading: Reading, meaning: Field, name: str) -> None:
    """Settle what is known of a file that a field names and that is missing: by its name alone."""
    word = as_word(reading.fields[name])
    file = PurePosixPath(word).name
    shipped = dict(field_catalog().shipped.get(meaning.to, {}).get(file, {}))
    parts = shipped or _of_recipe(meaning.to, word)
    if not parts:
        parts = {**_by_name(meaning.to, file), "unread": name}
    if unread := parts.pop("unread", ""):
        settings.unused[unread] = None
    if reading.tool and meaning.to == reading.tool.id and (not parts or name == RECIPES):
        settings.absent.add(meaning.to)
    if name == RECIPES:
        settings.complain(ABSENT_RECIPE.format(reading.file, word), "sharding")
    named_apart = _parts_named(reading) - {meaning.to}
    for part, setting in (parts or {meaning.to: "named"}).items():
        if part not in named_apart:
            settings.put(part, setting, name, reading)


def _take_value(settings: RunSettings, reading: Reading, meaning: Field, name: str) -> None:
    """Settle the value of a field, and leave its column open if the value cannot be read."""
    value = reading.fields[name]
    word = as_word(value)
    parts = _parts(meaning, value, f"{reading.file}, {name}")
    for part, setting in parts.items():
        if setting is not None:
            settings.put(part, setting, name, reading)
    is_read = None not in parts.values() or (meaning.read == "words" and word in meaning.words)
    is_left_to_trainer = word == "auto" and reading.rank == LAUNCH
    if is_read or meaning.read == "steps" or is_left_to_trainer:
        return
    if not isinstance(value, int | float | None) and word not in OPEN:
        settings.unused[name] = None
    settings.leave(meaning.to)


def _files_first(fields: Json) -> list[tuple[str, Any]]:
    """The fields, a switch such as --deepspeed behind the file that --deepspeed_config names."""
    return sorted(fields.items(), key=lambda each: each[1] is True)


def _parts_named(reading: Reading) -> set[str]:
    """The columns and parts that fields of a file set, which outweigh those of a file it names."""
    known = reading.tool.fields if reading.tool else {}
    named: set[str] = set()
    for name, value in reading.fields.items():
        if name not in known:
            continue
        named.add(known[name].to)
        if known[name].read in SPECIAL:
            with suppress(NoEqual, ConfigProblem):  # said where the field itself is read
                named |= _parts(known[name], value, name).keys()
    return named


def _of_recipe(tool: str, name: str) -> dict[str, str]:
    """Return the settings in the name of a recipe of torchtune or HyperPod.

    As in llama3_1/8B_qlora_single_device and hf_llama3_70b_seq16k_gpu_lora.
    """
    if tool == "hyperpod" and (recipe := HYPERPOD.fullmatch(name.rpartition("/")[2])):
        return {
            "model_name": recipe["model"].replace("_", "-"),
            "sequence_tokens": str(1024 * int(recipe["thousands"])),
            "peft": next((kind for kind in ("qlora", "lora") if kind in recipe["work"]), "none"),
        }
    named = RECIPE.search(name)
    if tool != "torchtune" or not named:
        return {}
    family, size, method, kind = named.groups()
    recipes = field_catalog().shipped["torchtune"]
    builder = f"{family}_{size}".lower().replace(".", "_")
    return {"builder": builder, **(recipes.get(f"{method}{kind}") or recipes[method])}


def _by_name(tool: str, file: str) -> dict[str, str]:
    """Return the settings in the name of a DeepSpeed config that is missing: zero3_offload.json."""
    stage = STAGE.search(file)
    if tool not in ("deepspeed", "accelerate") or not stage:
        return {}
    parts = {"zero": f"zero{stage[1]}" if stage[1] != "0" else "none", "deepspeed": "named"}
    if OFFLOADS.search(file) and stage[1] != "0":
        parts["ds_offload_optimizer"] = "yes"
        parts |= {"ds_offload_param": "yes"} if stage[1] == "3" else {}
    return parts


def _parts(meaning: Field, value: Any, where: str) -> Json:
    """The columns and parts of a value; None for one that stays open."""
    if meanings := field_catalog().lists.get(meaning.read):
        return field_rules.words_of_list(value, meanings)
    return (
        SPECIAL[meaning.read](value)
        if meaning.read in SPECIAL
        else {meaning.to: read_value(meaning, value, where)}
    )
