"""The files of a run as far as its log prints them: a command, arguments, a config, code."""

import ast
import json
import re
import shlex
from textwrap import dedent

from calc.files.configs.fields import tools
from calc.files.configs.inside.programs import RUNS_SCRIPT
from calc.files.oom.command_in_log import command_in_log, namespace_in_log
from calc.files.oom.sizes import MOST_CHARACTERS
from calc.files.oom.trainer_banner import command_of_banner, flags_of_banner

Documents = list[tuple[str, bytes]]
WORLD = re.compile(
    r"\[rank \d{1,5}/(\d{1,5})\]|\bover (\d{1,5}) (?:ranks|GPUs|gpus)\b"
    r"|world(?:[_ ]size)?[ =:]{1,3}(\d{1,5})"
)
RESOLVED = re.compile(r"with resolved config:[ \t]*\n(?P<config>(?:[^\n]*\n)+)")  # torchtune's
MEGATRON = re.compile(r"^-{4,} arguments -{4,}[ \t]*\n(?P<lines>(?:[^\n]* \.{3,} [^\n]*\n)+)", re.M)
SETTINGS = re.compile(r"\b(?:cfg|config|args|settings|hparams|params)\b['\"]?[ \t:=]{0,3}(?=\{\")")
FEWEST_SETTINGS = 4
DOTTED = re.compile(r"(\w+) \.{3,} ([^\n]*)")
VOCABULARY = re.compile(r"padded vocab \(size: (\d+)\)")
OF_YAML = re.compile(r"[ \t]*(?:- |[\w.]+:(?: |$))")
CODE = re.compile(
    r"^(?P<indent>[ \t]*)(?=\S[^\n]*(?:from_pretrained|Arguments|Config|Trainer)\()", re.M
)
MOST_LINES = 200  # of code


def documents_in_log(log: str, text: str) -> Documents:
    """The files that a log says of its run: (name, content); none where it says nothing."""
    text = text[:MOST_CHARACTERS]
    if command := command_in_log(text):
        is_training = bool(RUNS_SCRIPT.search(command))
        return [(log, f"{command} {_of_banner(text, command) if is_training else ''}".encode())]
    if printed := printed_run(log, text):
        return printed
    code = _code(text)
    return [(f"{log} code.py", code.encode())] if code else []


def printed_run(log: str, text: str) -> Documents:
    """The files of the run that a trainer prints before it begins; none where none does."""
    if arguments := namespace_in_log(text):
        return [(log, f"{_launcher(text)} train.py {arguments}".encode())]
    if arguments := _megatron_arguments(text):
        return [(log, f"{_launcher(text)} pretrain_gpt.py {arguments}".encode())]
    if config := _resolved_config(text):
        return [(f"{log} config.yaml", config.encode())]
    if settings := _settings_line(text):
        return [(f"{log} config.json", settings.encode())]
    if command := command_of_banner(text):
        return [(log, command.encode())]
    return []


def _of_banner(text: str, command: str) -> str:
    """The flags for what a trainer prints of its run and the command does not say."""
    flags = flags_of_banner(text)
    plain = command.replace("-", "_")
    left = {name: value for name, value in flags.items() if f"__{name}" not in plain}
    return " ".join(f"--{name} {value}" for name, value in left.items())


def _launcher(text: str) -> str:
    """The launcher of as many processes as a log counts."""
    counts = {next(filter(None, one)) for one in WORLD.findall(text)}
    return f"torchrun --nproc_per_node {counts.pop()}" if len(counts) == 1 else "python"


def _megatron_arguments(text: str) -> str:
    """The arguments that Megatron prints, as flags of its script; empty without them."""
    found = MEGATRON.search(text)
    printed = dict(DOTTED.findall(found["lines"])) if found else {}
    if printed and (vocabulary := VOCABULARY.search(text)):
        printed["vocab_size"] = vocabulary[1]
    known = tools()["megatron"].fields
    flags = [
        f"--{name}" if value == "True" else f"--{name} {shlex.quote(value.removeprefix('torch.'))}"
        for name, value in printed.items()
        if name in known and value not in ("False", "None")
    ]
    return " ".join(flags)


def _settings_line(text: str) -> str:
    """The settings that a trainer of one's own prints as JSON, with its processes; or empty."""
    for match in SETTINGS.finditer(text):
        try:
            settings, _ = json.JSONDecoder().raw_decode(text, match.end())
        except (ValueError, RecursionError):
            continue
        if isinstance(settings, dict) and len(settings) >= FEWEST_SETTINGS:
            counts = {next(filter(None, one)) for one in WORLD.findall(text)}
            world = {"num_gpus": int(counts.pop())} if len(counts) == 1 else {}
            return json.dumps(settings | world)
    return ""


def _resolved_config(text: str) -> str:
    """The config that torchtune prints before it begins; empty without one."""
    found = RESOLVED.search(text)
    lines = []
    for line in found["config"].split("\n") if found else []:
        if line.strip() and not OF_YAML.match(line):
            break
        lines.append(line)
    return dedent("\n".join(lines))


def _code(text: str) -> str:
    """The lines of Python around the trainer that somebody pasted with a log; empty without any."""
    begin = CODE.search(text)
    if begin is None:
        return ""
    lines: list[str] = []
    for line in text[begin.start() :].split("\n")[:MOST_LINES]:
        if line.strip() and not line.startswith(begin["indent"]):
            break
        lines.append(line.removeprefix(begin["indent"]))
    while lines and not _parses("\n".join(lines)):
        lines.pop()
    return "\n".join(lines)


def _parses(text: str) -> bool:
    """Return whether a text is Python."""
    try:
        ast.parse(text)
    except (SyntaxError, ValueError):
        return False
    return True
