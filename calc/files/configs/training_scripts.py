"""A Python script that trains: the fields of its trainer, or of a loop of its own."""

import ast
import re
from collections.abc import Sequence
from typing import Any

from calc.files.configs.command_environment import visible_gpus
from calc.files.configs.comments import commands_in_comments, comments_of, script_place
from calc.files.configs.fields import Field, Tool, field_catalog, tools
from calc.files.configs.flags import fields_of
from calc.files.configs.own_loops import accumulation_of_loop
from calc.files.configs.own_scripts import ANY_TRAINER, LIKE_ANY, adapts_otherwise
from calc.files.configs.problem import ConfigProblem
from calc.files.configs.python_calls import CLASS
from calc.files.configs.python_names import (
    flag_defaults,
    known_names,
    parsed_defaults,
    settings_of,
)
from calc.files.configs.python_text import FoundCall, calls_of
from calc.files.configs.python_values import Values, parse_python, variable
from calc.files.configs.run_settings import TAKES_EVERY_GPU
from calc.files.configs.script_asides import IF, OF_FLAGS, SWITCHED_OFF
from calc.files.configs.sections import SIGN
from calc.files.configs.tool_commands import CONFIG, LAUNCH, Reading, launcher_readings
from calc.files.configs.values import VARIABLE
from calc.mappings import Json

GENERATES = re.compile(r"\.generate\(|for_inference\(")
LOOP = re.compile(r"\.backward\(")
MIXES = re.compile(r"autocast|mixed_precision|Accelerator\(|GradScaler|deepspeed|MixedPrecision")
DISTRIBUTED = re.compile(r"init_process_group\(|deepspeed\.initialize\(|mp\.spawn\(|Accelerator\(")
LOADS = (
    "it loads {} and generates without an engine that is read, and trains nothing. Ask for the "
    "model in words, with its format and its card, as in 'serve qwen3-8b in nf4 on t4'."
)
OPTIMIZER = "optim"  # the field that the calls of optimizers set
ACCUMULATION = "gradient_accumulation_steps"
FEWEST_SIGNS = 2  # of training, among the settings of a script that starts its loop elsewhere
RECOMPUTES = (
    *("gradient_checkpointing_enable", "apply_activation_checkpointing"),
    "checkpoint_wrapper",
)  # calls that may stand around some of the blocks alone
OF_METHOD = ("BitsAndBytesConfig", "LoraConfig", "get_peft_model", "FSDP", "fully_shard")


def training_script(text: str, file: str) -> list[Reading]:
    """The fields of a script that trains, and its launcher, if it does; raises ConfigProblem."""
    tree = parse_python(text, file)
    comments = comments_of(text, is_python=True)
    commands = commands_in_comments(comments)
    command = commands[0] if len(commands) == 1 else []
    place = script_place(command)
    flags = _flags(command[place + 1 :], file)
    calls = list(calls_of(tree, file, tuple(field_catalog().calls), flags))
    fields, inputs, names = _fields_of_calls(calls)
    trains = any(_trains(call) for call in calls if not call.switch)
    if names and not trains and not LOOP.search(text) and GENERATES.search(text):
        raise ConfigProblem(f"{file}: {LOADS.format(fields.get('model_name_or_path', 'a model'))}")
    settings = _known_settings(parsed_defaults(tree) | flags, tree, flags)
    if not names or not trains:
        settings = _settings(tree, flags)
        if not _has_own_loop(text, fields | inputs, settings):
            return []
        names.append(ANY_TRAINER)
        fields = _unmixed(text) | fields
    if set(names) == {ANY_TRAINER}:
        fields.setdefault("dtype", "float32")  # of from_pretrained before transformers 5
    is_own = max(names) in LIKE_ANY and adapts_otherwise(settings)
    tool = tools()[ANY_TRAINER if is_own else max(names)]
    for others in (inputs, settings):
        fields |= _unsettled(others, fields, tool)
    own = _flags_by_default(tree, tool) if len(commands) != 1 else []
    by_default = (f"{OF_FLAGS} {', '.join(own)}",) if own else ()
    asides = (*_asides(calls, is_started=bool(commands)), *by_default)
    is_spread = DISTRIBUTED.search(text) and set(names) == {ANY_TRAINER}
    parts = _gpus(bool(is_spread), comments if len(commands) < 2 else "")
    return [
        Reading(file, tool, fields, CONFIG, {}),
        Reading(file, None, {}, LAUNCH, parts, asides),
        *launcher_readings(command[:place], file),
    ]


def _gpus(is_spread: bool, comments: str) -> Json:
    """The GPUs of a script: those that its comments leave visible, or all that there are."""
    visible = visible_gpus(comments)
    every = {TAKES_EVERY_GPU: "yes"} if is_spread else {}
    return every | ({"asked_gpus": visible} if visible else {})


def _fields_of_calls(calls: Sequence[FoundCall]) -> tuple[Json, Json, list[str]]:
    """The fields that calls set, those that inputs have, and the tools that the calls are of."""
    fields: Json = {}
    inputs: Json = {}
    names: list[str] = []
    for call in calls:
        meaning, read = field_catalog().calls[call.name], _read(call)
        if call.switch:
            continue
        if meaning.of_inputs:
            inputs = read | inputs
            continue
        found = {**(meaning.sets or {}), **read}
        is_later = OPTIMIZER in found and not call.doubts  # the last of several is used
        fields = fields | found if is_later else found | fields
        if meaning.tool and (read or not meaning.names):
            names.append(meaning.tool)
    return fields, inputs, names


def _read(call: FoundCall) -> Json:
    """The arguments of a call under the names of the fields that they are."""
    renamed = field_catalog().calls[call.name].names
    read = {
        renamed.get(key, "") if renamed is not None else key: value
        for key, value in call.arguments.items()
    }
    return {
        key: value
        for key, value in read.items()
        if key and value is not None and not _is_known_call(value)
    }


def _trains(call: FoundCall) -> bool:
    """Return whether a call belongs to a trainer, not to the loading of a model."""
    meaning = field_catalog().calls[call.name]
    loads = call.name.endswith("from_pretrained")
    is_trainer = bool(meaning.tool) and not loads and bool(_read(call) or not meaning.names)
    return is_trainer or call.name == "get_peft_model"


def _is_known_call(value: object) -> bool:
    """Return whether a value is the code of a call that is read itself: FSDPStrategy(...)."""
    code = str(value)
    called = code.removeprefix("${").partition("(")[0].rpartition(".")[2]
    return code.startswith("${") and "(" in code and called in field_catalog().calls


def _flags(words: list[str], file: str) -> Json:
    """The flags of a script as constants, numbers as such."""
    flags, _ = fields_of(words, file, {})
    return {name: ast.Constant(_number(value)) for name, value in flags.items()}


def _number(value: Any) -> Any:
    """A number for a text that writes one; any other value as it is."""
    try:
        return float(value) if isinstance(value, str) and not value.isdecimal() else int(value)
    except ValueError:
        return value


def _settings(tree: ast.Module, flags: Json) -> Json:
    """The flags, the configs and the constants of a script that one of its own knows as fields."""
    named = settings_of(tree, flags)
    number = accumulation_of_loop(tree)
    if number is not None:
        named = {ACCUMULATION: number} | named
    if {"rank", "alpha"} <= named.keys():  # of LoRA; beside nothing else, that of a process
        named["lora_r"] = named["rank"]
    settings = _known_settings(named, tree, flags)
    is_said = any(tools()[ANY_TRAINER].fields[ACCUMULATION] is _field(name) for name in settings)
    return settings if number is None or is_said else {ACCUMULATION: variable(number)} | settings


def _field(name: str) -> Field | None:
    """The field of a script of one's own by one of its names."""
    return tools()[ANY_TRAINER].fields.get(name)


def _known_settings(expressions: Json, tree: ast.Module, flags: Json) -> Json:
    """The values of settings that a script of one's own knows as fields."""
    values = Values(known_names(tree, flags))
    known = tools()[ANY_TRAINER].fields
    named = {name: values.value(node) for name, node in expressions.items()}
    return {
        name: value
        for name, value in named.items()
        if (name in known or SIGN.fullmatch(name))
        and value is not None
        and not (isinstance(value, dict) and CLASS in value)
        and not VARIABLE.search(str(value))
    }


def _has_own_loop(text: str, fields: Json, settings: Json) -> bool:
    """Return whether a script names a model and trains it in a loop of its own."""
    known = tools()[ANY_TRAINER].fields
    has_model = any(name in known and known[name].to == "model" for name in fields | settings)
    signs = sum(bool(SIGN.fullmatch(name)) for name in settings)
    says_training = bool(LOOP.search(text)), signs >= FEWEST_SIGNS
    return all(says_training) or (has_model and any(says_training))


def _unmixed(text: str) -> Json:
    """The precision of a loop that nothing casts: that in which its weights are loaded."""
    return {} if MIXES.search(text) else {"bf16": "false", "fp16": "false"}


def _unsettled(inputs: Json, fields: Json, tool: Tool) -> Json:
    """The fields of inputs and settings whose meaning no other field of a script has."""
    settled = {tool.fields[name].to for name in fields if name in tool.fields}
    settled |= {"script_batch"} if "batch" in settled else set()
    return {
        name: value
        for name, value in inputs.items()
        if name not in tool.fields or tool.fields[name].to not in settled
    }


def _flags_by_default(tree: ast.Module, tool: Tool) -> list[str]:
    """The script's own flags with a default that its tool knows as fields."""
    return [
        f"--{name}"
        for name, value in (parsed_defaults(tree) | flag_defaults(tree)).items()
        if name in tool.fields and getattr(value, "value", "") is not None
    ]


def _asides(calls: Sequence[FoundCall], is_started: bool) -> tuple[str, ...]:
    """The tests on which a call of the method hangs, and those that turn one off by default.

    `is_started`: the command is known, which then decides them.
    """
    of_method = [call for call in calls if call.name in OF_METHOD]
    doubted = [*of_method, *(call for call in calls if call.name in RECOMPUTES)]
    doubts = [f"{IF} {test}" for call in doubted for test in call.doubts]
    off = [f"{SWITCHED_OFF} {call.switch}" for call in of_method if call.switch and not is_started]
    return tuple(dict.fromkeys((*doubts, *off)))
