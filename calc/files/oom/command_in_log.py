"""A log without its plan: the command that it prints."""

import ast
import re
import shlex
from collections.abc import Iterable
from typing import Any, NamedTuple

from calc.files.configs.inside.programs import known_command
from calc.files.oom.sizes import MOST_CHARACTERS
from calc.mappings import Json

LONGEST_ARGUMENTS = 20_000  # characters of the arguments that an engine prints
NOTHING_SET = ("", "None", "auto", "[]", "{}")  # values that name no setting
PRINTED_FIELD = re.compile(r"(\w+): (?:Some\(\s*)?(?:\"([^\"]*)\"|([\w.+-]+))")  # of Rust's {:?}
NAMESPACE = "Namespace("  # of argparse
OF_TRAINING = {
    *("lr", "learning_rate", "epochs", "num_epochs", "num_train_epochs", "max_steps", "steps"),
    *("grad_accum", "gradient_accumulation_steps", "weight_decay", "warmup_steps", "lora_r"),
    *("per_device_train_batch_size", "train_batch_size", "micro_batch_size", "optimizer"),
}  # arguments of scripts that train
OPENING, CLOSING = "([{", ")]}"


class Arguments(NamedTuple):
    """An engine's way to print its arguments: the words before them, their form, its command."""

    before: str
    form: str  # call, dictionary or debug (Rust)
    command: str


PRINTED_ARGUMENTS = (
    Arguments("server_args=ServerArgs(", "call", "python -m sglang.launch_server"),
    Arguments("non-default args: {", "dictionary", "vllm serve"),
    Arguments("args: Namespace(", "call", "vllm serve"),
    Arguments("text_generation_launcher: Args {", "debug", "text-generation-launcher"),
)
# Most of vLLM's settings, those of its scheduler and its share of the card left out.
CONFIGURATION = Arguments("with config: ", "settings", "vllm serve")
RENAMED = {"model_tag": "model", "max_seq_len": "max_model_len"}  # of vLLM's configuration
# Initializing a V1 LLM engine (v0.24.0) with config; vLLM API server version 0.5.5
LOGGED_RELEASE = re.compile(
    r"(?:LLM engine \(v|vLLM API server version v?)(\d{1,3}\.\d{1,3}(?:\.\d{1,3})?)"
)
# Arguments that change memory, as the engines spell them.
PASSED = frozenset(
    {
        *("model", "model_path", "model_id", "model_tag", "max_model_len", "max_seq_len", "dtype"),
        *("tensor_parallel_size", "tp_size", "pipeline_parallel_size", "pp_size", "quantization"),
        *("data_parallel_size", "dp_size", "kv_cache_dtype", "gpu_memory_utilization"),
        *("mem_fraction_static", "max_num_seqs", "max_num_batched_tokens", "context_length"),
        *("max_running_requests", "chunked_prefill_size", "num_shard", "max_total_tokens"),
        *("max_batch_prefill_tokens", "max_input_tokens", "cuda_memory_fraction", "quantize"),
        *("enable_dp_attention", "enable_expert_parallel", "ep_size", "enable_lora", "max_loras"),
        *("speculative_algorithm", "speculative_draft_model_path", "kv_cache_memory_bytes"),
        *("enforce_eager", "cpu_offload_gb", "block_size", "load_format", "max_input_length"),
    }
)


# ['/usr/bin/python', '-u', 'train.py', '--local_rank=0'] exits with return code = 1: DeepSpeed's
LISTED_WORDS = re.compile(r"(\['[^'\n]{0,200}python[\d.]{0,8}'(?:, '[^'\n]{0,400}'){1,400}\])")


CUT_OFF = re.compile(r"\s(?:\.{3}|…)(?=\s|$)")  # where somebody left out the rest
# A command that somebody pasted with its output.
COMMAND_LINE = re.compile(
    r"^[ \t]*(?:\([\w.-]{1,40}\)[ \t]*)?(?:[\w.@:~/-]{0,80}[$>#%+]+[ \t]*)?"
    r"((?:[A-Za-z_]\w*=\S+[ \t]+)*(?:sudo |nohup )?"
    r"(?:vllm|sglang|python3?|trtllm-serve|text-generation-launcher|docker|podman|torchrun|"
    r"accelerate|deepspeed|llamafactory-cli|swift|axolotl|tune)[ \t](?:[^\n]*\\\n)*[^\n]*)",
    re.M,
)


def command_in_log(text: str) -> str:
    """The command that a log prints or is pasted with, or that an engine's arguments are of.

    Empty where there is none.
    """
    text = text[:MOST_CHARACTERS]
    if command := _printed_command(text, PRINTED_ARGUMENTS):
        return command
    for match in LISTED_WORDS.finditer(text):
        command = shlex.join(re.findall(r"'([^']*)'", match[1]))
        if known_command().search(command):
            return command
    for match in COMMAND_LINE.finditer(text):
        if known_command().search(match[1]) or " run " in match[1]:
            return CUT_OFF.sub("", match[1]) + _release(text, match[1])
    return _printed_command(text, (CONFIGURATION,))


def printed_command(text: str) -> str:
    """The command of the engine whose start a text is the log of; empty for any other text."""
    return _printed_command(text[:MOST_CHARACTERS], (*PRINTED_ARGUMENTS, CONFIGURATION))


def namespace_in_log(text: str) -> str:
    """The arguments that a training script prints, as flags; empty where none does."""
    place = text.find(NAMESPACE)
    inside = (
        _inside(text[place + len(NAMESPACE) :][:LONGEST_ARGUMENTS], "call") if place >= 0 else ""
    )
    settings = _settings(inside, "call")
    if not settings.keys() & OF_TRAINING:
        return ""
    return " ".join(
        f"--{name} {shlex.quote(str(value))}"
        for name, value in settings.items()
        if str(value) not in NOTHING_SET
    )


def _release(text: str, command: str) -> str:
    """The release of vLLM that a log prints, as a flag of its command."""
    release = LOGGED_RELEASE.search(text) if "vllm" in command else None
    return f" --image-release {release[1]}" if release else ""


def _printed_command(text: str, forms: tuple[Arguments, ...]) -> str:
    """The command of the engine that prints its arguments in a log; empty where none does."""
    for arguments in forms:
        place = text.rfind(arguments.before)
        if place < 0:
            continue
        start = place + len(arguments.before)
        inside = _inside(text[start : start + LONGEST_ARGUMENTS], arguments.form)
        settings = _settings(inside, arguments.form)
        if settings.keys() & OF_TRAINING:
            continue
        if any(name in settings for name in ("model", "model_path", "model_id", "model_tag")):
            command = arguments.command
            return _command(command, settings) + _release(text, command)
    return ""


def _inside(text: str, form: str) -> str:
    """The text up to the bracket that closes the arguments, or to the end of the line."""
    if form == "settings":
        return text.split("\n", 1)[0]
    depth = 1
    for place, mark in enumerate(text):
        depth += (mark in OPENING) - (mark in CLOSING)
        if not depth:
            return text[:place]
    return ""


def _settings(inside: str, form: str) -> Json:
    """The arguments by name; those without a literal value are left out."""
    if form == "debug":
        return {name: text or number for name, text, number in PRINTED_FIELD.findall(inside)}
    if form == "settings":
        return {name: value.strip("'") for name, value in re.findall(r"(\w+)=([^,\s]+)", inside)}
    source = f"f({inside})" if form == "call" else f"f(**{{{inside}}})"
    try:
        call = ast.parse(source, mode="eval").body
    except (SyntaxError, ValueError, RecursionError):
        return {}
    if not isinstance(call, ast.Call):
        return {}
    if form == "call":
        pairs: Iterable[tuple[Any, ast.expr]] = [(one.arg, one.value) for one in call.keywords]
    else:
        mapping = call.keywords[0].value
        pairs = []
        if isinstance(mapping, ast.Dict):
            pairs = [
                (getattr(key, "value", None), value)
                for key, value in zip(mapping.keys, mapping.values, strict=True)
            ]
    return {str(name): node.value for name, node in pairs if isinstance(node, ast.Constant)}


def _command(command: str, settings: Json) -> str:
    """The settings that change memory, as flags behind the engine's command."""
    words = []
    for name, value in settings.items():
        text = str(value).removeprefix("torch.")
        if name not in PASSED or text in NOTHING_SET or text in ("False", "false"):
            continue
        flag = f"--{RENAMED.get(name, name).replace('_', '-')}"
        words.append(flag if text in ("True", "true") else f"{flag} {shlex.quote(text)}")
    return " ".join([command, *words])
