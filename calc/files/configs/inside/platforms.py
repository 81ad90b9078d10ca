"""Programs that the manifests of platforms start; each names its engine in a way of its own.

Sources: KAITO 0.12, pkg/model/interface.go and charts/kaito/workspace/templates; llmaz 0.1,
docs/examples and its BackendRuntimes; BentoVLLM, service.py; each as of 2026-11-28. Kubeflow
Trainer 2, pkg/runtime/framework/plugins/torch/torchtune.go, and Ray 2.56,
llm/_internal/serve/core/configs/llm_config.py, as of 2026-11-30.
"""

import re
from typing import Any

from calc.files.configs.fields import field_catalog
from calc.files.configs.inside.cards import cards_in
from calc.mappings import Json

SERVED = ("vllm", "serve")
RUNTIMES = ("ServingRuntime", "ClusterServingRuntime")  # of KServe
OF_RUNTIME = ("--model", "--port", "--served-model-name", "--model-path")
KAITO_KINDS = ("Workspace", "InferenceSet")
KAITO_SHARE = "0.84"  # of a card that KAITO gives vLLM unless its config says otherwise
TUNING = {
    "use_peft": "true",
    "lora_r": "8",
    "per_device_train_batch_size": "1",
    "torch_dtype": "bfloat16",
    "bf16": "true",
    "lora_target_modules": "all-linear",
}  # of KAITO's tuning where no config says otherwise
BY_FOUR_BITS = {"load_in_4bit": "true", "use_bnb_nested_quant": "true"}
TUNING_PARTS = ("ModelConfig", "QuantizationConfig", "LoraConfig", "TrainingArguments")
LORA_NAMES = {"r": "lora_r", "target_modules": "lora_target_modules"}
OF_TORCHTUNE = re.compile(r"torchtune-(?P<family>[a-z]+[\d.]*)-(?P<size>[\d.]+b)")  # a runtime
ALONE = "_single_device"  # the end of torchtune's recipes for one GPU
LLMAZ_ENGINES = {
    "vllm": "vllm serve",
    "sglang": "python -m sglang.launch_server --model-path",
    "tgi": "text-generation-launcher --model-id",
    "tensorrt-llm": "trtllm-serve",
}
BENTO_FLAGS = {
    "tp": "--tensor-parallel-size",
    "dp": "--data-parallel-size",
    "max_model_len": "--max-model-len",
    "kv_cache_dtype": "--kv-cache-dtype",
}


def platform_words(node: Json) -> list[str]:
    """Return the words of the command that a manifest starts, if it is of such a platform."""
    version, kind = str(node.get("apiVersion", "")), str(node.get("kind", ""))
    if version.startswith("kaito.sh") and kind in KAITO_KINDS:
        return _of_kaito(node)
    if version.startswith("inference.llmaz.io") and kind == "Playground":
        return _of_llmaz(_mapping(node, "spec"))
    if version.startswith("trainer.kubeflow.org") and kind == "TrainJob":
        return _of_kubeflow(_mapping(node, "spec"))
    loading = _mapping(node, "model_loading_config")
    if loading and not node.get("engine_kwargs"):  # of Ray Serve, whose engine is vLLM's own
        return [*SERVED, str(loading.get("model_source") or loading.get("model_id", ""))]
    if "import_path" in node and "runtime_env" in node:
        return _of_ray_serve(node)
    arguments = _mapping(node, "args")
    if {"model_id", "gpu_type"} <= arguments.keys():
        return _of_bento(arguments)
    return []


def _of_ray_serve(node: Json) -> list[str]:
    """The command of an application of Ray Serve whose own script starts vLLM; empty of others.

    The scripts that KubeRay and Google Cloud document take the model and the degree as variables.
    """
    environment = _mapping(node, "runtime_env")
    if node.get("args") or (
        "vllm" not in f"{node['import_path']} {environment.get('pip')}".lower()
    ):
        return []  # of arguments, the engine's own are inside
    degree = _mapping(environment, "env_vars").get("TENSOR_PARALLELISM")
    return [*SERVED, *(["--tensor-parallel-size", str(degree)] if degree else [])]


def joined_documents(tree: Json) -> Json:
    """A tree of several documents in which each has what it names in the others.

    A workspace of KAITO has its ConfigMap, a Playground of llmaz has the models that it claims, an
    InferenceService of KServe has the arguments of its runtime.
    """
    documents = [part for part in tree.values() if isinstance(part, dict) and "kind" in part]
    named = {(str(part["kind"]), _name(part)): part for part in documents}
    claimed: list[int] = []
    for part in documents:
        inference = _mapping(part, "inference")
        settings = named.get(("ConfigMap", str(inference.get("config"))))
        if settings and str(part.get("apiVersion", "")).startswith("kaito.sh"):
            inference["config"] = _mapping(settings, "data")
            claimed.append(id(settings))
        served = _mapping(_mapping(_mapping(part, "spec"), "predictor"), "model")
        for kind in RUNTIMES:
            if runtime := named.get((kind, str(served.get("runtime")))):
                served["args"] = [*_runtime_words(runtime), *_words(served.get("args"))]
                claimed.append(id(runtime))
        for claim in _claims(_mapping(part, "spec")):
            model = named.get(("OpenModel", str(claim.get("name") or claim.get("modelName"))))
            if model:
                claim["spec"] = _mapping(model, "spec")
                claimed.append(id(model))
    return {key: part for key, part in tree.items() if id(part) not in claimed}


def _runtime_words(runtime: Json) -> list[str]:
    """The arguments of a runtime, but for those that name the model and the port."""
    containers = _mapping(runtime, "spec").get("containers")
    first = containers[0] if isinstance(containers, list) and containers else {}
    words = _words(first.get("args") if isinstance(first, dict) else None)
    left: list[str] = []
    is_value = False
    for word in words:
        name, equals, _ = word.partition("=")
        if name not in OF_RUNTIME and not (is_value and not word.startswith("-")):
            left.append(word)
        is_value = name in OF_RUNTIME and not equals
    return left


def _words(value: Any) -> list[str]:
    return [str(word) for word in value] if isinstance(value, list) else []


def _of_kaito(node: Json) -> list[str]:
    """The command of a Workspace: vLLM on all its GPUs, or KAITO's own tuning."""
    spec = _mapping(_mapping(_mapping(node, "spec"), "template"), "spec") or _mapping(
        _mapping(node, "spec"), "template"
    )
    whole = node if "resource" in node else spec
    tuning = _mapping(whole, "tuning")
    if tuning:
        return _of_tuning(tuning)
    inference = _mapping(whole, "inference")
    preset = str(_mapping(inference, "preset").get("name", ""))
    resource = _mapping(whole, "resource")
    machine = field_catalog().machines.get(str(resource.get("instanceType", "")), "")
    gpus = next((number for _, number in cards_in(machine) if number), 1)
    nodes = int(resource["count"]) if str(resource.get("count", "")).isdigit() else 1
    settings: Json = {"tensor-parallel-size": gpus, "pipeline-parallel-size": nodes}
    settings |= {"gpu-memory-utilization": KAITO_SHARE}
    for text in _mapping(inference, "config").values():
        settings |= _mapping(text, "vllm") if isinstance(text, dict) else {}
    flags = [f"--{name}={value}" for name, value in settings.items()]
    return [*SERVED, preset, *flags] if preset else []


def _of_tuning(tuning: Json) -> list[str]:
    """The settings of KAITO's tuning as the flags of a script that trains."""
    preset = str(_mapping(tuning, "preset").get("name", ""))
    settings = {"model_name_or_path": preset, **TUNING}
    settings |= BY_FOUR_BITS if str(tuning.get("method", "")).lower() == "qlora" else {}
    config = _mapping(_mapping(tuning, "config"), "training_config")
    for part in TUNING_PARTS:
        for name, value in _mapping(config, part).items():
            settings[LORA_NAMES.get(name, name)] = str(value)
    flags = [f"--{name}={value}" for name, value in settings.items()]
    return ["python", "train.py", *flags] if preset else []


def _of_kubeflow(spec: Json) -> list[str]:
    """The command of a TrainJob on a runtime of torchtune, or of one set by variables alone."""
    trainer = _mapping(spec, "trainer")
    runtime = OF_TORCHTUNE.fullmatch(str(_mapping(spec, "runtimeRef").get("name", "")))
    if runtime and not trainer.get("command"):
        return _of_torchtune(runtime, trainer)
    if trainer.get("command") or trainer.get("args"):
        return []
    listed = trainer.get("env")
    settings = {
        str(one.get("name", "")).lower(): str(one.get("value", ""))
        for one in (listed if isinstance(listed, list) else [])
        if isinstance(one, dict)
    }
    model = _mapping(_mapping(spec, "initializer"), "model").get("storageUri")
    if not model or "per_device_train_batch_size" not in settings:
        return []
    settings = {"model_name_or_path": re.sub(r"^\w+://", "", str(model)), **settings}
    return ["python", "train.py", *(f"--{name}={value}" for name, value in settings.items())]


def _of_torchtune(runtime: re.Match[str], trainer: Json) -> list[str]:
    """The command that Kubeflow's runtime of torchtune makes from the arguments of a job."""
    settings = _words(trainer.get("args"))
    method = _method_of_torchtune(" ".join(settings))
    nodes = str(trainer.get("numNodes", 1))
    resources = _mapping(trainer, "resourcesPerNode")
    limit = _mapping(resources, "limits").get("nvidia.com/gpu")
    gpus = limit or _mapping(resources, "requests").get("nvidia.com/gpu")
    is_alone = nodes == "1" and str(gpus) == "1"
    recipe = "full_finetune" if method == "full" else "lora_finetune"
    family, size = runtime["family"].replace(".", "_"), runtime["size"].upper()
    config = f"{family}/{size}_{method}"
    launcher = ["--nnodes", nodes]
    processes = str(gpus or trainer.get("numProcPerNode") or "")
    if processes.isdecimal():
        launcher += ["--nproc_per_node", processes]
    recipe += ALONE if is_alone else "_distributed"
    config += ALONE if is_alone else ""
    return ["tune", "run", *launcher, recipe, "--config", config, *settings]


def _method_of_torchtune(settings: str) -> str:
    """Return the method that settings of a torchtune job ask for: full, lora or qlora."""
    if "model.quantize_base" in settings and "model.use_dora" not in settings:
        return "qlora"
    return "lora" if "model.lora_attn_modules" in settings else "full"


def _of_llmaz(spec: Json) -> list[str]:
    """The command of a Playground: its engine, the model that it claims, and its draft."""
    claims = [claim for claim in _claims(spec) if "spec" in claim]
    main = next((claim for claim in claims if claim.get("role") != "draft"), None)
    runtime = _mapping(spec, "backendRuntimeConfig")
    engine = LLMAZ_ENGINES.get(str(runtime.get("backendName", "vllm")).lower(), "")
    if main is None or not engine:
        return []
    written = runtime.get("args")
    flags = list(map(str, written)) if isinstance(written, list) else []
    drafts = [_model_of(claim) for claim in claims if claim.get("role") == "draft"]
    flags += [word for draft in drafts for word in ("--speculative-model", draft)]
    return [*engine.split(), _model_of(main), *flags]


def _claims(spec: Json) -> list[Json]:
    """The models that a Playground claims: one, or several with a role."""
    one, several = _mapping(spec, "modelClaim"), _mapping(spec, "modelClaims").get("models")
    listed = several if isinstance(several, list) else []
    return [claim for claim in (one, *listed) if isinstance(claim, dict) and claim]


def _model_of(claim: Json) -> str:
    source = _mapping(_mapping(claim, "spec"), "source")
    name = _mapping(source, "modelHub").get("modelID") or source.get("uri") or claim.get("name")
    return re.sub(r"^\w+://", "", str(name))


def _of_bento(arguments: Json) -> list[str]:
    """The command of a BentoVLLM service: vLLM with its model and its flags."""
    flags = [
        word
        for name, flag in BENTO_FLAGS.items()
        if arguments.get(name)
        for word in (flag, str(arguments[name]))
    ]
    written = arguments.get("cli_args")
    more = list(map(str, written)) if isinstance(written, list) else []
    return [*SERVED, str(arguments["model_id"]), *flags, *more]


def _name(node: Json) -> str:
    return str(_mapping(node, "metadata").get("name", ""))


def _mapping(node: Any, key: str) -> Json:
    value = node.get(key) if isinstance(node, dict) else None
    return value if isinstance(value, dict) else {}
