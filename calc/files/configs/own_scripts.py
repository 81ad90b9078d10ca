"""Scripts of Python that belong to no tool: whether they train, and by whose flags."""

import re

from calc.files.configs.fields import Tool, tools
from calc.mappings import Json

ANY_TRAINER = "script"  # the tool of scripts that belong to no tool
LIKE_ANY = ("transformers", "trl")  # whose flags many scripts have
MODEL_FLAGS = ("model_name_or_path", "model_id", "model_name", "model")  # an owner/name
OF_LOADING = {"model", "sequence_tokens", "weights", "attention", "tensor_parallel", "quantized"}
LORA = re.compile(r"(?:^|_)(q?)lora(?:_|$)")
TRAINS = re.compile(r"train|tun|sft|lora|dpo|clm")
OTHER_WORK = re.compile(
    r"(?:^|_)(?:eval|evaluate|evaluation|generate|generation|infer|inference|convert|preprocess"
    r"|prepare|prep|tokenize|quantize|merge|export|download|upload|server|serve|demo|chat|app"
    r"|create|make|build|collect|sample|filter|dedup|label|annotate|score|analyze|plot)"
    r"(?:_|$)"
)  # in the name of a script that makes data or answers


def any_trainer(fields: Json, script: str, best: Tool | None) -> Tool | None:
    """The tool for scripts without a known owner, if it knows the most of their flags.

    `best`: the tool that knows most flags; it is not meant where its own command is another.
    """
    tool = tools()[ANY_TRAINER]
    is_own = best is not None and best.id not in LIKE_ANY and not best.commands
    if is_own or (best and _known_fields(tool, fields) < _known_fields(best, fields)):
        return None
    if best and _known_fields(tool, fields) == _known_fields(best, fields):
        return tool if adapts_otherwise(fields) else None
    names_model = any(name in fields for name in MODEL_FLAGS)
    trains = TRAINS.search(_name(script))
    if trains and names_model:
        return tool
    has_mark = any(mark in fields for mark in tool.marks)
    return tool if has_mark and (trains or says_training(tool, fields)) else None


def adapts_otherwise(fields: Json) -> bool:
    """Return whether fields speak of LoRA in another way than TRL's, which adapts with use_peft."""
    return bool({"lora_r", "lora_rank", "lora_enable"} & fields.keys()) and "use_peft" not in fields


def says_training(tool: Tool, fields: Json) -> bool:
    """Return whether fields of a script of one's own say more than how it loads its model."""
    parts = [tool.fields[name].to for name in fields if name in tool.fields]
    return len(parts) > 1 and not OF_LOADING.issuperset(parts)


def tuning_by_name(script: str, fields: Json) -> Json:
    """Return how a script trains by its own name, where no field speaks of LoRA."""
    name = _name(script)
    is_said = any(word in field.lower() for field in fields for word in ("lora", "peft", "adapter"))
    if is_said or not (named := LORA.search(name)):
        return {}
    is_stored = any(word in field.lower() for field in fields for word in ("bit", "quant"))
    return {"peft": "yes"} | ({"quantized": "nf4?"} if named[1] and not is_stored else {})


def does_other_work(script: str) -> bool:
    """Return whether a script's name says that it makes data or answers, not that it trains."""
    name = _name(script)
    return bool(OTHER_WORK.search(name)) and not TRAINS.search(name)


def _name(script: str) -> str:
    return script.rpartition("/")[2].lower().removesuffix(".py").rpartition(".")[2]


def _known_fields(tool: Tool, fields: Json) -> int:
    return sum(name in tool.fields for name in fields)
