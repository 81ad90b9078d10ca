"""Fields whose value settles several parts: each function reads the fields that name it."""

import re
from typing import Any

from calc.files.configs.values import NoEqual, as_word


def _names(value: Any) -> list[str]:
    return [str(name).strip() for name in (value if isinstance(value, list) else str(value).split(","))]


def plugins(value: Any) -> dict:
    """Axolotl's plugins: cut cross-entropy fuses the loss; others settle no column."""
    names = [str(name) for name in (value if isinstance(value, list) else [value])]
    if not all("cut_cross_entropy" in name or "liger" in name.lower() for name in names):
        raise NoEqual
    return {"liger": "yes"} if any("cut_cross_entropy" in name for name in names) else {}


def components(value: Any) -> dict:
    """The parts that torchtitan compiles."""
    names = _names(value)
    if not set(names) <= {"model", "loss", "optimizer"}:
        raise NoEqual
    return {"compile_parts": "yes" if "model" in names else "no"}


def converters(value: Any) -> dict:
    """Torchtitan's converters: float8 and mx compute products in 8 bits."""
    names = list(filter(None, _names(value)))
    if any(not name.startswith(("float8", "mx", "quantize.linear.float8", "quantize.linear.mx")) for name in names):
        raise NoEqual
    return {"float8": "yes"} if names else {}


def component(value: Any) -> dict:
    """Torchtune's builder: the model's name, after lora_ or qlora_ where it trains adapters."""
    if not isinstance(value, str):
        raise NoEqual
    name = value.rpartition(".")[2]
    method = next((prefix for prefix in ("qlora_", "lora_") if name.startswith(prefix)), "")
    parts = {"builder": name.removeprefix(method), "tuning": "lora" if method else "full"}
    return parts | ({"quantised": "nf4-dq"} if method == "qlora_" else {})


def fsdp(value: Any) -> dict:
    """The words of fsdp in transformers and axolotl, or true."""
    words = [as_word(word) for word in value] if isinstance(value, list) else as_word(value).split()
    if not words or words in (["false"], ["null"]):
        return {}
    named = {"full_shard": "zero3", "true": "zero3", "shard_grad_op": "zero2", "hybrid_shard": "hsdp", "no_shard": "none"}
    if any(word not in (*named, "auto_wrap", "offload") for word in words):
        raise NoEqual
    strategy = [named[word] for word in words if word in named]
    parts = {"fsdp": "yes"} | ({"strategy": strategy[0]} if strategy else {})
    return parts | ({"fsdp_offload": "yes"} if "offload" in words else {})


def recompute(value: Any) -> dict:
    """Axolotl's gradient_checkpointing: offload and unsloth keep block inputs in CPU memory."""
    word = as_word(value)
    if word in ("offload", "offload_disk", "unsloth"):
        return {"trainer_recompute": "yes", "offload_activations": "yes"}
    if word not in ("true", "false", "null"):
        raise NoEqual
    return {"trainer_recompute": "yes" if word == "true" else "no"}


# SkyPilot's names of cards that AWS rents -> ids of the catalog.
CARDS = {"T4": "t4", "T4G": "t4g", "A10G": "a10g", "L4": "l4", "L40S": "l40s", "V100": "v100-16gb", "V100-32GB": "v100-32gb"}
CARDS |= {"A100": "a100-40gb-sxm", "A100-80GB": "a100-80gb-sxm", "H100": "h100-80gb-sxm", "H200": "h200-sxm", "B200": "b200"}


def accelerators(value: Any) -> dict:
    """The cards of a SkyPilot node, H100:8; alternatives settle nothing."""
    name, _, number = str(value[0] if isinstance(value, list) and len(value) == 1 else value).partition(":")
    if name not in CARDS or not (number or "1").isdigit():
        raise NoEqual
    return {"gpu": CARDS[name], "gpus_per_node": int(number or 1)}


def infra(value: Any) -> dict:
    """SkyPilot's cloud and region: aws or aws/us-east-1; other clouds have no prices here."""
    cloud, _, region = str(value).partition("/")
    if cloud != "aws":
        raise NoEqual
    return {"region": region.partition("/")[0]} if region else {}


DURATION = re.compile(r"(\d[\d_]{0,17}(?:\.\d+)?(?:e\d{1,2})?)(ba|tok)")


def length_of_run(value: Any) -> dict:
    """Composer's length of a run: ba counts steps, tok counts tokens; epochs settle nothing."""
    match = DURATION.fullmatch(as_word(value))
    if not match:
        raise NoEqual
    return {"steps" if match[2] == "ba" else "train_tokens": int(float(match[1].replace("_", "")))}


def attention_kinds(value: Any) -> dict:
    """GPT-NeoX's list of attention kernels; a mixture settles no column."""
    kernels = {"global": "eager", "flash": "flash"}
    try:
        kinds = {kernels[value]} if isinstance(value, str) else {kernels[kind] for group, _ in value for kind in group}
    except (KeyError, TypeError, ValueError):
        raise NoEqual from None
    if len(kinds) != 1:
        raise NoEqual
    return {"attention": kinds.pop()}


def slurm_gpus(value: Any) -> dict:
    """The GPUs of a Slurm node: 8, h100:8, gpu:8 or gpu:h100:8."""
    number = str(value).rpartition(":")[2]
    if not number.isdigit() or not int(number):
        raise NoEqual
    return {"gpus_per_node": int(number)}


def slurm_gpus_all(value: Any) -> dict:
    """The GPUs of a Slurm job: 16 or h100:16."""
    return {"gpus": slurm_gpus(value)["gpus_per_node"]}
