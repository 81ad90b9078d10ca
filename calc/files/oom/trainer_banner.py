"""The run that the trainer of transformers prints before its first step, as a command.

Source: transformers, trainer.py; PEFT, print_trainable_parameters of peft_model.py.
"""

import re

from calc.files.configs.model_names import CACHED

# What the trainer prints -> the flag that sets it.
BANNER = {
    "Instantaneous batch size per device": "per_device_train_batch_size",
    "Gradient Accumulation steps": "gradient_accumulation_steps",
    "Total optimization steps": "max_steps",
    "Num Epochs": "num_train_epochs",
}
OF_COMMAND = tuple(BANNER)[:3]  # those that complete a command
LINE = r"(?:^|>>)[ \t]*(?P<name>{}) = (?P<value>\d[\d,]{{0,14}})[ \t]*$"
PRINTED = re.compile(LINE.format("|".join(BANNER)), re.M)
WHOLE_BATCH = re.compile(
    LINE.format(r"Total train batch size \(w\. parallel, distributed & accumulation\)"), re.M
)
MODEL = re.compile(
    r"(?:loading (?:weights|configuration) file \S+ (?:from cache )?at |/)(?P<folder>models--\S+)"
    r"|(?:model_name_or_path|_name_or_path)['\"]?[=: ]{1,3}['\"]?(?P<name>[\w.-]+/[\w.-]+)"
)
DTYPE = re.compile(r"under default dtype torch\.(\w+)")
ADAPTER = re.compile(r"^trainable params: ([\d,]+) \|\| all params: ([\d,]+)", re.M)


def flags_of_banner(text: str, names: tuple[str, ...] = OF_COMMAND) -> dict[str, str]:
    """The flags for what a trainer prints of its run under these names."""
    return {
        BANNER[one["name"]]: one["value"].replace(",", "")
        for one in PRINTED.finditer(text)
        if one["name"] in names
    }


def command_of_banner(text: str) -> str:
    """The command of a run of which a log has the banner alone; empty without the model."""
    flags = flags_of_banner(text, tuple(BANNER))
    model = _model(text)
    if not model or "per_device_train_batch_size" not in flags:
        return ""
    flags["model_name_or_path"] = model
    if dtype := DTYPE.search(text):
        flags["torch_dtype"] = dtype[1]
    if _trains_adapter(text):
        flags["use_lora"] = "true"  # no flag of one trainer alone
    words = " ".join(f"--{name} {value}" for name, value in flags.items())
    return f"{_launcher(text, flags)} train.py {words}"


def _model(text: str) -> str:
    """The model of a log, by its folder in the hub's cache or by its name."""
    found = {
        "/".join(cached.groups()) if (cached := CACHED.search(f"{one['folder']}/")) else one["name"]
        for one in MODEL.finditer(text)
    }
    return found.pop() or "" if len(found) == 1 else ""


def _trains_adapter(text: str) -> bool:
    """Return whether PEFT prints fewer trained parameters than there are."""
    counted = ADAPTER.search(text)
    return counted is not None and counted[1] != counted[2]


def _launcher(text: str, flags: dict[str, str]) -> str:
    """The launcher of the processes among which the whole batch of a step is divided."""
    whole = WHOLE_BATCH.search(text)
    own = int(flags["per_device_train_batch_size"])
    own *= int(flags.get("gradient_accumulation_steps", "1"))
    total = int(whole["value"].replace(",", "")) if whole else 0
    is_even = own > 0 and total > 0 and total % own == 0
    return f"torchrun --nproc_per_node {total // own}" if is_even else "python"
