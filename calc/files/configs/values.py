"""The value of a field in a scenario's terms; None where the file leaves it open."""

import re
from math import isfinite
from typing import Any

from calc.files.configs.fields import Field
from calc.files.configs.problem import ConfigProblem
from calc.files.configs.substitutions import EVERY_GPU

PROJECTIONS = ("q", "k", "v", "o", "gate", "up", "down")
LETTERS = {f"{name}_proj": name for name in PROJECTIONS} | {
    "output_proj": "o",
    **dict.fromkeys(("Wqkv", "qkv_proj", "query_key_value", "c_attn"), "q+k+v"),
    "gate_up_proj": "gate+up",
    # of Megatron, which NeMo names
    "linear_qkv": "q+k+v",
    "linear_proj": "o",
    "linear_fc1": "gate+up",
    "linear_fc2": "down",
}  # name of a module in the classes of models -> its projections
OF_EVERY_LAYER = re.compile(
    r"[\w.^\\*?]*layers\\?\.(?:\[\\d\]\+|\\d\+|\.\*|\[\^\.\]\+)\\?\."
    r"\([\w|]+\)\\?\.\(([a-z|]+)\)_proj\$?"
)  # layers.[\d]+.(mlp|self_attn).(up|down)_proj: a pattern of projections in each layer
SUFFIXES = {"k": 1000, "K": 1024, "m": 1000**2, "M": 1024**2}  # as vLLM reads them
VARIABLE = re.compile(r"\$[\w{(]|`|<[A-Z][A-Z_]+>")
OF_EVERY_GPU = re.compile(
    rf"{EVERY_GPU}|\$\(\([^$]*\b{EVERY_GPU}\b[^$]*\)\)"
)  # the number of the node's GPUs, or a sum with it
UNKNOWN_FOLDER = re.compile(
    r"\A.*\$(?:\{\w+\}|\w+)[^$]*/(?=[^/$]*[a-zA-Z][^/$]*/?$)"
)  # $HOME/models/qwen3-8b says the model all the same
WHOLE = re.compile(r"[0-9]{1,15}")
SWITCHES = dict.fromkeys(("1", "yes", "on"), "true") | dict.fromkeys(("0", "no", "off"), "false")
OPEN = ("auto", "none", "null", "")


class NoEqual(Exception):
    """The value means something that no scenario column can express."""


def as_word(value: Any) -> str:
    """A value as the word that the table of fields uses for it."""
    return (
        {None: "null", True: "true", False: "false"}[value]
        if isinstance(value, bool | None)
        else str(value).strip().lower()
    )


def is_off(value: Any) -> bool:
    """Return whether an open field is switched off, and so changes nothing."""
    return value in ([], {}) or as_word(value) in ("null", "false", "none", "", "no")


def read_value(meaning: Field, value: Any, where: str) -> Any:
    """The value for the scenario, None where it stays open; raises NoEqual or ConfigProblem."""
    if isinstance(value, str) and meaning.read == "model":
        value = UNKNOWN_FOLDER.sub("", value)
    if isinstance(value, str) and OF_EVERY_GPU.fullmatch(value):
        raise NoEqual
    if isinstance(value, str) and VARIABLE.search(value):
        raise ConfigProblem(f"{where} holds the variable {value[:60]}; write its value.")
    if meaning.read in ("count", "number", "steps"):
        number = _number(meaning, value, where)
        return round(number * meaning.times, 6) if number and meaning.times != 1 else number
    if meaning.read == "words":
        word = as_word(value)
        word = word if word in meaning.words else SWITCHES.get(word, word)
        if word in meaning.words:
            return meaning.words[word] or None
        if word in OPEN:
            return None
        raise NoEqual
    if meaning.read == "modules":
        return lora_targets(value)
    if meaning.read == "slurm_gpus":  # 8, h100:8, gpu:8 or gpu:h100:8
        gpus = str(value).rpartition(":")[2]
        if not whole(gpus):
            raise NoEqual
        return whole(gpus)
    if value is None or isinstance(value, list | dict | bool):
        return None
    return str(value).strip()


def whole(text: str) -> int | None:
    """The number that a text of plain digits writes; None for any other text."""
    return int(text) if WHOLE.fullmatch(text) else None


def _number(meaning: Field, value: Any, where: str) -> float | None:
    """The number that a field holds; None where it leaves the choice to the tool."""
    if as_word(value) in OPEN:
        return None
    text = str(value).strip().replace("_", "")
    factor = SUFFIXES.get(text[-1:], 1) if meaning.name == "max_model_len" else 1
    try:
        number = float(text[:-1] if factor > 1 else text) * factor
    except ValueError:
        number = float("nan")
    if isinstance(value, bool | list | dict) or not (isfinite(number) and text.isascii()):
        raise ConfigProblem(f"{where} is {str(value)[:40]!r}, not a number; write a number.")
    if meaning.read == "number":
        return number
    if number == -1 or (meaning.read == "steps" and not number):  # -1: the tool chooses
        return None
    if not number.is_integer() or number < 1 or number > 1e15:
        raise ConfigProblem(
            f"{where} is {str(value)[:40]}, not a whole number of at least 1; write one."
        )
    return int(number)


def lora_targets(value: Any) -> str | None:
    """PEFT's list of modules, or its pattern, as projections joined by +; all-linear for all."""
    written = value.strip("[] ").split(",") if isinstance(value, str) else value
    names = [name.strip("'\" ") for name in written] if isinstance(value, str) else value
    if isinstance(value, str) and (pattern := OF_EVERY_LAYER.fullmatch(value)):
        names = [f"{name}_proj" for name in pattern[1].split("|")]
    elif isinstance(value, str) and "|" in value:  # .*q_proj.*|.*k_proj.*
        names = [name.strip(".*^$") for name in value.split("|")]
    if not isinstance(names, list) or not names:
        return None
    if names in (["all-linear"], ["all"]):
        return "all-linear"
    if any(name not in LETTERS for name in map(str, names)):
        raise NoEqual
    chosen = {letter for name in names for letter in LETTERS[str(name)].split("+")}
    return (
        "all-linear"
        if chosen == set(PROJECTIONS)
        else "+".join(letter for letter in PROJECTIONS if letter in chosen)
    )
