"""Fields whose value settles several parts: each function reads the fields that name it."""

import re
from collections.abc import Mapping
from fnmatch import fnmatchcase
from typing import Any

from calc.files.configs.inside.cards import cards_in
from calc.files.configs.inside.machine_facts import FAMILY, INSTANCE
from calc.files.configs.values import NoEqual, as_word, whole


def words_of_list(value: Any, meanings: Mapping[str, Mapping[str, str]]) -> dict:
    """A list of words, each with what it settles; the later of two meanings counts."""
    written = value if isinstance(value, list) else re.split(r"[,\s]+", as_word(value))
    names = [word for word in (as_word(one).strip("'\"") for one in written) if word]
    meant = [
        pattern for pattern in meanings if any(fnmatchcase(name, pattern) for name in names or [""])
    ]
    if not all(any(fnmatchcase(name, pattern) for pattern in meant) for name in names):
        raise NoEqual
    return {part: setting for pattern in meant for part, setting in meanings[pattern].items()}


def component(value: Any) -> dict:
    """Torchtune's builder: the model's name, after lora_ or qlora_ where it trains adapters."""
    if not isinstance(value, str):
        raise NoEqual
    name = value.rpartition(".")[2]
    method = next((prefix for prefix in ("qlora_", "lora_") if name.startswith(prefix)), "")
    parts = {"builder": name.removeprefix(method), "tuning": "lora" if method else "full"}
    return parts | ({"quantized": "nf4-dq"} if method == "qlora_" else {})


def accelerators(value: Any) -> dict:
    """The cards of a SkyPilot node, H100:8; alternatives settle nothing."""
    named = str(value[0] if isinstance(value, list) and len(value) == 1 else value)
    cards = cards_in(named)
    if len(cards) != 1 or not whole(named.rpartition(":")[2] if ":" in named else "1"):
        raise NoEqual
    card, number = cards[0]
    return {"gpu": card, "gpus_per_node": number or 1}


def infra(value: Any) -> dict:
    """SkyPilot's cloud and region: aws or aws/us-east-1; other clouds have no prices here."""
    cloud, _, region = str(value).partition("/")
    if cloud != "aws":
        raise NoEqual
    return {"region": region.partition("/")[0]} if region else {}


def instance(value: Any) -> dict:
    """An instance, with or without SageMaker's ml.; of several none."""
    match = INSTANCE.fullmatch(as_word(value).strip("[]'\" "))
    if not match:
        raise NoEqual
    return {"instance": match[1]}


def slurm_node_gpus(value: Any) -> dict:
    """The GPUs of a node, and their card if it is named: 8, h100:8, gpu:8 or gpu:h100:8."""
    *kinds, number = str(value).split(":")
    if not whole(number):
        raise NoEqual
    cards = cards_in(kinds[-1]) if kinds else []
    return {"gpus_per_node": int(number)} | ({"gpu": cards[0][0]} if cards else {})


RECIPE = re.compile(r"(?P<model>\w+?)(?:_(?P<work>pretrain|finetune|sft|peft)\w*)?(?:\([^()]*\))?")


def recipe_name(value: Any) -> dict:
    """The model of a recipe of NeMo or Megatron-Bridge, and whether it trains all weights.

    Names are llama3_8b, llama3_8b(num_nodes=2) and llama32_1b_sft_1gpu_h100_bf16_config.
    """
    match = RECIPE.fullmatch(str(value))
    if not match:
        raise NoEqual
    whole_model = match["work"] in ("pretrain", "sft")
    return {"model_name": match["model"]} | ({"peft_scheme": "none"} if whole_model else {})


def devices(value: Any) -> dict:
    """The GPUs of a node of Lightning: 4, or a list of devices; auto and -1 settle nothing."""
    listed = value if isinstance(value, list) else str(value).strip("[] ").split(",")
    names = [str(one).strip() for one in listed if str(one).strip()]
    if not names or not all(name.isdecimal() for name in names):
        raise NoEqual
    is_list = isinstance(value, list) or len(names) > 1
    return {"gpus_per_node": len(names) if is_list else int(names[0])}


def device_list(value: Any) -> dict:
    """The GPUs that a list of devices names; a single device, as cuda:0 and auto, settles none."""
    return devices(value) if isinstance(value, list) and value else {}


def rollout_devices(value: Any) -> dict:
    """The GPUs that generate, as a list of devices of one node."""
    return {"rollout_node_gpus": devices(value)["gpus_per_node"], "rollout_nodes": 1}


def slurm_card(value: Any) -> dict:
    """The card that a constraint or a partition of Slurm names, or a family of instances."""
    name = str(value).strip("\"' ")
    if cards := cards_in(name):
        return {"slurm_card": cards[0][0]}
    return {"instance_family": name} if FAMILY.fullmatch(name) else {}


SAVED = {
    **dict.fromkeys(("embed_tokens", "wte", "word_embeddings", "tok_embeddings"), "embed_tokens"),
    **dict.fromkeys(("embed_in", "embedding", "embeddings"), "embed_tokens"),
    **dict.fromkeys(("lm_head", "embed_out", "output"), "lm_head"),
}  # names of modules in the classes of models


def saved_modules(value: Any) -> dict:
    """Return the modules that LoRA trains whole: embedding, head or both; others have no column."""
    words = value if isinstance(value, list) else re.split(r"[,\s]+", str(value).strip("[] "))
    names = [str(word).strip("'\" ").rpartition(".")[2] for word in words]
    names = [name for name in names if name not in ("", "None", "null")]
    if not set(names) <= SAVED.keys():
        raise NoEqual
    ends = {SAVED[name] for name in names}
    return {"modules_to_save": "-and-".join(sorted(ends)) or "none"}


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
        kinds = (
            {kernels[value]}
            if isinstance(value, str)
            else {kernels[kind] for group, _ in value for kind in group}
        )
    except (KeyError, TypeError, ValueError):
        raise NoEqual from None
    if len(kinds) != 1:
        raise NoEqual
    return {"attention": kinds.pop()}


def degree(value: Any) -> dict:
    """SageMaker LMI's tensor parallel degree: a number, or max for every GPU of the instance."""
    word = as_word(value)
    if word == "max":
        return {"every_gpu": "yes"}
    number = whole(word)
    if not number:
        raise NoEqual
    return {"tensor_parallel": number}


def sum_of_counts(value: Any) -> dict:
    """Return the GPUs of a list with those of each node: 8 8 4."""
    words = value if isinstance(value, list) else re.split(r"[\s,]+", str(value).strip("[] "))
    counts = [whole(str(word)) for word in words]
    if not counts or None in counts:
        raise NoEqual
    return {"gpus": sum(count or 0 for count in counts)}


ENGINE_PART = re.compile(
    r"(?:(sglang|vllm)[.:])?d(\d{1,4})(?:p(\d{1,4}))?(?:t(\d{1,4}))?(?:c(\d{1,4}))?"
)


def allocation(value: Any) -> dict:
    """AReaL's allocation mode: sglang:d4t1+d4p1t1, GPUs that generate and GPUs that train.

    d, p, t and c are the degrees of data, pipeline, tensor and context parallelism.
    """
    text = re.sub(r"(?:fsdp|megatron|archon)[.:]", "", as_word(value))
    parts = [ENGINE_PART.fullmatch(part) for part in text.split("+")]
    if not 0 < len(parts) < 3 or not all(parts):
        raise NoEqual
    sizes = [[int(size or 1) for size in part.groups()[1:]] for part in parts if part]
    if not all(all(part) for part in sizes):
        raise NoEqual
    settings = {
        "gpus": sum(data * pipe * tensor * context for data, pipe, tensor, context in sizes)
    }
    names = ("pipeline_parallel", "tensor_parallel", "context_parallel")
    settings |= dict(zip(names, sizes[-1][1:], strict=True))
    if len(sizes) == 1:
        return settings | {"rollout": "colocated"}
    data, pipe, tensor, context = sizes[0]
    return settings | {
        "rollout": "own gpus",
        "rollout_gpus": data * pipe * tensor * context,
        "rollout_tensor_parallel": tensor,
    }


def trt_quantization(value: Any) -> dict:
    """Truss's quantization_type: fp8, fp8_kv, int8, weights_int4; _kv: the cache in 8 bits too."""
    word = as_word(value)
    formats = {"no_quant": "no", "fp8": "fp8", "int8": "int8", "smooth_quant": "int8"}
    formats |= {"weights_int8": "int8", "weights_int4": "awq-4bit", "fp4": "nvfp4"}
    name = word.removesuffix("_kv")
    if name not in formats:
        raise NoEqual
    return {"quantized": formats[name]} | ({"kv_precision": "fp8"} if word.endswith("_kv") else {})
