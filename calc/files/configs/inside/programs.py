"""The programs of a tree: a command, a container's arguments, or a tool's own fields."""

import re
import shlex
from collections.abc import Iterator
from functools import cache
from typing import Any, NamedTuple

from calc.files.configs.fields import Tool, field_catalog, tools
from calc.files.configs.inside.docker import RUNNERS, release_of
from calc.files.configs.inside.fact import Path, snake
from calc.files.configs.inside.kserve import kserve_words, prefill_words
from calc.files.configs.inside.platforms import platform_words
from calc.files.configs.model_names import NIM
from calc.files.configs.own_scripts import (
    ANY_TRAINER,
    LIKE_ANY,
    adapts_otherwise,
    says_training,
)
from calc.files.configs.problem import DEEPEST, ConfigProblem
from calc.files.configs.texts import flat, resolve_references
from calc.files.configs.tool_commands import engine_of
from calc.mappings import Json

COMMANDS = ("entrypoint", "command", "commands", "cmd", "run", "script", "args", "extra_args")
IMAGES = ("image", "repository", "image_uri", "uri")
ENGINES = (
    *("engine", "framework", "backend_framework", "inference_engine", "engine_type", "runtime"),
    *("model_engine", "class", "kind", "backend", "name", "rolling_batch"),
)
JUMPSTART = "jumpstartmodel"  # what SageMaker deploys by a name of its own
SHELLS = ("sh", "bash", "/bin/sh", "/bin/bash", "zsh")
OF_RAY = "engine_kwargs"  # of Ray Serve LLM, whose engine is vLLM
FLAGS_IN = ("extra_args", "args", "vllm_args", "additional_args")
LONGEST = 50_000  # characters of a script
RUNS_SCRIPT = re.compile(
    r"\b(?:torchrun|hyperpodrun|accelerate launch|deepspeed|python3?)\s"
    r"(?:\\\n|[^\n]){0,1000}?(?:\.py\b|-m\s)"
)


RECIPE = re.compile(r"(?<![\w])(?P<model>\w+)\.(?P<work>finetune|pretrain)_recipe$")  # of NeMo 2
BRIDGE_RECIPE = re.compile(r"\w+_(?:pretrain|finetune|sft|peft)(?:_\w+)?_config$")
MODEL = re.compile(r"[\w.-]+/[\w.-]+")
OF_MODEL = re.compile(r"/[\w./-]{0,100}models?(?:/[\w./-]{1,100})?")  # a folder before flags
FENCED = re.compile(r"^[ \t]*```[a-z]*[ \t]*\n(.*?)^[ \t]*```", re.M | re.S)  # code in Markdown
IS_SCRIPT = re.compile(r"[\n;|]|&&")
ONLY_FLAGS = re.compile(r"\s*-[^;|&]*\Z")  # over several lines, in a folded text
ARGUMENTS = re.compile(r"\$+\{?@")  # all arguments of a script
FLAG_WITH_VALUE = re.compile(r"--[\w-]+ [\w./:-]+")  # as one word, which its engine refuses


class Program(NamedTuple):
    """A part of a file that runs: a script, the words of one command, or a tool's fields.

    `is_whole`: nothing else of the part is left to read.
    """

    path: Path
    script: str = ""
    words: tuple[str, ...] = ()
    tool: Tool | None = None
    fields: Json | None = None
    is_whole: bool = False
    release: str = ""  # of the engine, by the tag of its image


@cache
def known_command() -> re.Pattern[str]:
    """An expression for the commands of tools, containers, and scripts behind a launcher."""
    patterns = sorted(
        {words for tool in tools().values() for words in tool.commands}, key=len, reverse=True
    )
    spaced = "|".join(r"\s+".join(map(re.escape, words.split())) for words in patterns)
    runners = "|".join(RUNNERS)
    return re.compile(
        rf"(?<![\w.-])(?:{spaced}|(?:{runners})\s+run)(?![\w-])|{RUNS_SCRIPT.pattern}"
    )


def programs_of(tree: Any, path: Path = ()) -> Iterator[Program]:
    """The programs of a tree, from the top; what one contains is part of it."""
    if len(path) > DEEPEST:
        return
    if isinstance(tree, dict):
        if service := kserve_words(tree):
            pool = prefill_words(tree)
            yield Program((*path, "spec") if pool else path, words=tuple(service))
            if pool:
                yield Program((*path, "spec", "prefill"), words=tuple(pool))
            return
        if service := platform_words(tree):
            yield Program(path, words=tuple(service), is_whole=True)
            return
        fields = _own_fields(tree, path)
        program = _container(tree, path, bool(fields)) or fields
        if program:
            yield _with_release(program, tree)
            return
        for key, value in tree.items():
            yield from programs_of(value, (*path, str(key)))
    elif isinstance(tree, str):
        for part in FENCED.findall(tree[:LONGEST]) or [tree[:LONGEST]]:
            if known_command().search(part):
                yield Program(path, script=part)
    elif isinstance(tree, list):
        if tree and all(isinstance(item, str | int | float) for item in tree):
            words = [str(item) for item in tree]
            if known_command().search(" ".join(words)[:LONGEST]):
                yield _of_words(words, path)
        else:
            for place, value in enumerate(tree):
                yield from programs_of(value, (*path, str(place)))


def _of_words(words: list[str], path: Path) -> Program:
    """A list of words: one command, a shell with its script, or several commands."""
    if any(word in SHELLS for word in words[:1]):
        if passed := _passed_on(words):
            return Program(path, words=tuple(passed))
        rest = [word for word in words[1:] if not word.startswith("-")]
        return Program(path, script="\n".join(rest)[:LONGEST])
    if any(known_command().search(word) and " " in word.strip() for word in words):
        return Program(path, script="\n".join(words)[:LONGEST])
    return Program(path, words=tuple(words))


def _passed_on(words: list[str]) -> list[str]:
    """The command that a shell's script runs as its arguments: sh -c 'setup && exec "$@"' -- ...

    A script in a file, setup.sh, is taken to do so too.
    """
    place = next((at for at, word in enumerate(words) if ARGUMENTS.search(word)), -1)
    if words[1:2] and words[1].endswith(".sh"):
        command = words[2:]
    else:
        command = words[place + 2 :] if place > 0 else []
    return command if known_command().search(" ".join(command)[:LONGEST]) else []


def _container(node: Json, path: Path, has_fields: bool) -> Program | None:
    """The program of a mapping with a command, arguments or an image that says the engine.

    `has_fields`: the mapping has a tool's own fields, which count before bare flags.
    """
    named = {snake(key): value for key, value in node.items()}
    words = _words_of(named)
    if words[:1] == ["serve"] and _engine(named).endswith(" serve"):
        words = _engine(named).split()[:-1] + words  # behind the entry point of its image
    if words and known_command().search(" ".join(words)[:LONGEST]):
        return _of_words(words, path)
    flags = bool(words) and any(word.startswith("-") for word in words)
    if words and _is_own_command(words):
        return None
    command = _engine(named) or (_engine_of_flags(words) if flags and not has_fields else "")
    if not command:
        return None
    if not words and any(isinstance(named.get(name), dict) for name in IMAGES) and _starts(node):
        return None  # a script that makes its image, and starts the engine elsewhere
    is_image = any(_call_text(named.get(name)) for name in IMAGES)
    is_whole = any(JUMPSTART in str(named.get(name, "")).lower() for name in ("kind", "class"))
    inner = (
        _own_fields(value, path)
        for name, value in named.items()
        if isinstance(value, dict) and name not in field_catalog().keys.environments
    )
    has_variables = any(name in field_catalog().keys.environments for name in named)
    if settings := _settings(named, command, words) if is_image else []:
        return Program(path, words=(*command.split(), *words, *settings))
    has_model = any(
        name in field_catalog().keys.model and MODEL.fullmatch(str(value).removeprefix("hf://"))
        for name, value in named.items()
        if name not in IMAGES
    )
    has_model = has_model or any(NIM.match(_call_text(named.get(name))) for name in IMAGES)
    says_more = has_variables or words or has_model
    is_named = has_model and not words and engine_of(_call_text(named.get("engine")))
    if flags or is_whole or is_named or (is_image and says_more and not any(inner)):
        return Program(path, words=(*command.split(), *words))
    return None


def _is_own_command(words: list[str]) -> bool:
    """Return whether words begin with a command of a container's own, not with flags or a model."""
    first, second = [*words, ""][:2]
    is_folder = OF_MODEL.fullmatch(first) and second.startswith("--")
    return not (first.startswith("-") or MODEL.fullmatch(first) or is_folder)


def _with_release(program: Program, node: Json) -> Program:
    """The program with the release in the tag of its engine's own image."""
    named = {snake(key): value for key, value in node.items()}
    image = next((text for key in IMAGES if (text := _call_text(named.get(key)))), "")
    return program._replace(release=release_of(f"{image}:{named.get('tag', '')}"))


def _starts(tree: Any) -> bool:
    """Return whether a text or a list of words inside a value is a known command."""
    if isinstance(tree, dict):
        return any(map(_starts, tree.values()))
    if isinstance(tree, list):
        words = " ".join(part for part in tree if isinstance(part, str))
        return _starts(words) or any(map(_starts, tree))
    return isinstance(tree, str) and bool(known_command().search(tree[:LONGEST]))


def _settings(named: Json, command: str, words: list[str]) -> list[str]:
    """The fields of an engine beside its image, as a chart's values have them, as flags."""
    tool = next(
        (tool for tool in tools().values() if any(name in command for name in tool.commands)), None
    )
    said = {word.partition("=")[0].lstrip("-").replace("-", "_") for word in words}
    settings: list[str] = []
    for name, value in named.items():
        is_field = tool is not None and name in tool.fields and name not in said
        if is_field and isinstance(value, str | int | float) and not isinstance(value, bool):
            settings += [f"--{name}", str(value)]
    return settings


def _words_of(named: Json) -> list[str]:
    """The words of a container's entry point, command and arguments; a script is one word."""
    words = ["vllm", "serve"] if named.get("model_command") == "vllmServe" else []  # of llm-d
    for key in COMMANDS:
        value = named.get(key)
        if isinstance(value, str):
            is_script = IS_SCRIPT.search(value.strip()) and not ONLY_FLAGS.match(value)
            words += [value] if is_script else _split(value)
        elif isinstance(value, list) and all(isinstance(item, str | int | float) for item in value):
            for item in map(str, value):
                words += item.split() if FLAG_WITH_VALUE.fullmatch(item) else [item]
    return words


def _engine_of_flags(words: list[str]) -> str:
    """The command of the engine whose flags these are; empty where they are of none."""
    fields = _flags(words)
    known = [
        (sum(name in tool.fields for name in fields), next(iter(tool.commands), ""))
        for tool in tools().values()
        if tool.work == "inference" and any(mark in fields for mark in tool.marks)
    ]
    return max(known, default=(0, ""))[1]


def _engine(named: Json) -> str:
    """The command of the engine that a mapping names, by its image first."""
    for keys in (IMAGES, ENGINES):
        for key in keys:
            if command := engine_of(_call_text(named.get(key))):
                return command
    return ""


def _call_text(value: Any) -> str:
    """A text, or what a call in its place says; of an image in parts its repository."""
    if isinstance(value, dict) and "class" in value:
        return " ".join(map(str, value.values()))
    if isinstance(value, dict) and isinstance(value.get("repository"), str):
        return str(value["repository"])
    return value if isinstance(value, str) else ""


def _split(text: str) -> list[str]:
    """The words of a command; cut at spaces where a quote is left open."""
    try:
        return shlex.split(text)
    except ValueError:
        return text.split()


def _own_fields(node: Json, path: Path) -> Program | None:
    """A mapping that has a tool's own fields, under whatever spelling."""
    try:
        fields = flat({key: value for key, value in node.items() if key != "class"}, "")
        fields = resolve_references(fields, "")
    except ConfigProblem:
        return None
    fields = {".".join(map(snake, name.split("."))): value for name, value in fields.items()}
    for name in FLAGS_IN:
        if isinstance(fields.get(name), list):
            fields |= _flags(fields.pop(name))
    fields = {_without_prefix(name): value for name, value in fields.items()}
    class_name = str(node.get("class", ""))
    fields |= _fields_of_recipe(class_name, fields)
    called = "vllm" if path[-1:] == (OF_RAY,) else field_catalog().classes.get(class_name, "")
    if called and "0" in fields:
        fields.setdefault("model", fields.pop("0"))
    is_file = bool(path) and path[-1].endswith((".yaml", ".yml", ".json"))  # of a ConfigMap
    tool = _tool_of_fields(fields, class_name, called, is_file)
    return Program(path, tool=tool, fields=fields) if tool else None


def _fields_of_recipe(class_name: str, fields: Json) -> Json:
    """The fields that the name of a recipe of NeMo or Megatron-Bridge says."""
    if "megatron.bridge" in class_name and (bridge := BRIDGE_RECIPE.search(class_name)):
        return {"recipe_model": bridge[0]}
    recipe = RECIPE.search(class_name)  # llm.llama31_8b.finetune_recipe
    if not recipe:
        return {}
    says_full = recipe["work"] == "pretrain" and "peft_scheme" not in fields
    return {"recipe_model": recipe["model"], **({"peft_scheme": "none"} if says_full else {})}


class _ToolMatch(NamedTuple):
    """The fit of fields to a tool; of several the largest counts."""

    is_known_trainer: bool  # not a script of one's own
    is_named: bool  # by the class that starts it
    fields_read: int
    marks: int
    tool: str


def _tool_of_fields(fields: Json, class_name: str, called: str, is_file: bool) -> Tool | None:
    """The tool whose fields these are; None if they are no tool's."""
    matches = [
        match
        for tool in tools().values()
        if is_file or not tool.launches
        if (match := _match(tool, fields, class_name, called))
    ]
    if not matches:
        return None
    best = max(matches)
    own_script = next((match for match in matches if match.tool == ANY_TRAINER), None)
    if own_script is None or best.tool not in LIKE_ANY or best.is_named:
        return tools()[best.tool]
    # TRL adapts with use_peft alone, and a script of one's own names more than its model.
    is_like_best = "use_peft" in fields or _names_model(tools()[best.tool], fields)
    margin = is_like_best and not adapts_otherwise(fields)
    names_more = own_script.fields_read > best.fields_read + margin
    return tools()[(own_script if names_more else best).tool]


def _match(tool: Tool, fields: Json, class_name: str, called: str) -> _ToolMatch | None:
    """Return how well fields fit a tool; None if they are not its own."""
    is_called = tool.id == called
    marks = sum(mark in fields for mark in tool.marks)
    read = sum(name in tool.fields for name in fields)
    is_enough = 2 * sum(map(tool.knows, fields)) >= len(fields)
    is_enough = is_enough and (tool.id != ANY_TRAINER or says_training(tool, fields))
    if not is_called and not (marks and read and is_enough):
        return None
    is_named = is_called or (bool(class_name) and tool.id in class_name.lower())
    return _ToolMatch(tool.id != ANY_TRAINER, is_named, read, marks, tool.id)


def _names_model(tool: Tool, fields: Json) -> bool:
    return any(name in tool.fields and tool.fields[name].to == "model" for name in fields)


def _flags(words: list[Any]) -> Json:
    """A list of flags as fields: [--max-model-len, 8192] and [--dtype=half]."""
    fields: Json = {}
    name = ""
    for word in map(str, words):
        if word.startswith("--"):
            name, equals, value = word.partition("=")
            fields[snake(name.lstrip("-"))] = value if equals else True
            name = "" if equals else name
        elif name:
            fields[snake(name.lstrip("-"))] = word
            name = ""
    return fields


def _without_prefix(name: str) -> str:
    prefix = next((prefix for prefix in field_catalog().prefixes if name.startswith(prefix)), "")
    return name.removeprefix(prefix)
