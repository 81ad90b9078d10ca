"""The command that a service of KServe starts, which its manifest leaves to the runtime.

Source: KServe 0.17, config/llmisvcconfig and python/huggingfaceserver.
"""

import re
import shlex
from typing import Any

from calc.mappings import Json

LLM_SERVICE = "LLMInferenceService"
RUNTIMES = ("huggingface", "vllm")  # whose model formats vLLM serves
NIM = "nvidia-nim-"  # before the model in the format of NVIDIA's runtimes
SERVED = ["vllm", "serve"]
FLAGS = "VLLM_ADDITIONAL_ARGS"
DEGREES = {"tensor": "tensor", "pipeline": "pipeline", "data": "data"}
SPREAD = "--enable-expert-parallel"
HUB = "hf://"
OF_SERVER = ("--model_name", "--model_dir", "--model_id", "--model-id")  # names, not settings


def kserve_words(node: Json) -> list[str]:
    """Return the words of the engine's command; empty where the node is no such service."""
    spec = _mapping(node, "spec")
    if node.get("kind") == LLM_SERVICE:
        return _of_llm_service(spec)
    model = _mapping(_mapping(spec, "predictor"), "model")
    form = str(_mapping(model, "modelFormat").get("name", "")).lower()
    if form.startswith(NIM):
        return ["nim-serve", f"nim/{form.removeprefix(NIM)}", *_flags(model.get("env"))]
    if form not in RUNTIMES:
        return []
    return _of_runtime(model)


def prefill_words(node: Json) -> list[str]:
    """Return the command of the pool that only prefills; empty where a service has none."""
    spec = _mapping(node, "spec")
    pool = _mapping(spec, "prefill")
    if node.get("kind") != LLM_SERVICE or not pool:
        return []
    return _of_llm_service({"model": spec.get("model"), **pool})


def _of_llm_service(spec: Json) -> list[str]:
    """The command of an LLMInferenceService: its model, its parallelism and its flags."""
    model = _mapping(spec, "model")
    uri = str(model.get("uri", ""))
    name = uri.removeprefix(HUB) if uri.startswith(HUB) else str(model.get("name", ""))
    containers = _mapping(spec, "template").get("containers")
    main = containers[0] if isinstance(containers, list) and containers else {}
    own = main if isinstance(main, dict) else {}
    if own.get("command") or own.get("args"):
        return []  # which says more than the runtime's own
    parallelism = _mapping(spec, "parallelism")
    degrees = [
        word
        for key, value in parallelism.items()
        if key in DEGREES
        for word in (f"--{DEGREES[key]}-parallel-size", str(value))
    ]
    degrees += [SPREAD] if parallelism.get("expert") is True else []
    return [*SERVED, *([name] if name else []), *degrees, *_flags(own.get("env"))]


def _of_runtime(model: Json) -> list[str]:
    """The command of an InferenceService that the Hugging Face runtime serves."""
    written = model.get("args")
    words = [str(word) for word in written] if isinstance(written, list) else []
    named = next((word.partition("=")[2] for word in words if word.startswith(OF_SERVER[2:])), "")
    uri = str(model.get("storageUri", ""))
    stored = re.split(r"[/:]", uri.rstrip("/"))[-1]  # of oci://registry/models:granite-8b
    name = uri.removeprefix(HUB) if uri.startswith(HUB) else named or stored
    settings = [
        word.replace("--max_length", "--max-model-len")
        for word in words
        if not word.startswith(OF_SERVER)
    ]
    return [*SERVED, *([name] if name else []), *settings, *_flags(model.get("env"))]


def _flags(environment: Any) -> list[str]:
    """The flags that a variable of the container hands to vLLM."""
    listed = environment if isinstance(environment, list) else []
    for item in listed:
        if isinstance(item, dict) and item.get("name") == FLAGS:
            text = str(item.get("value", ""))
            try:
                return shlex.split(text)
            except ValueError:
                return text.split()
    return []


def _mapping(node: Json, key: str) -> Json:
    value = node.get(key)
    return value if isinstance(value, dict) else {}
