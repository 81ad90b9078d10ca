"""Files of services: pools, clusters of Ray, templates, pages, and what an engine decides."""

import pytest
from examples import catalogs

from calc.files.configs.problem import ConfigProblem
from calc.files.configs.run import Run, read_runs
from calc.files.configs.run_summary import summary_of
from calc.files.request import request_of
from calc.scenarios.inputs import DEFAULTS

pytestmark = pytest.mark.usefixtures("read_once")


def _runs(text: str, name: str = "service.yaml") -> list[Run]:
    return read_runs([(name, text.encode())], catalogs())


POD = """
apiVersion: apps/v1
kind: Deployment
spec:
  template:
    spec:
      nodeSelector: {{PLACE}}
      containers:
        - image: {{{REGISTRY}}}vllm/vllm-openai:v0.10.2
          command: [vllm, serve]
          args: [Qwen/Qwen3-8B, --max-model-len=8192]
          resources: {limits: {nvidia.com/gpu: 1}}
"""


@pytest.mark.parametrize(
    ("place", "gpu"),
    [("{{{PREFIX}}}/instance-family: g6e", "l40s"), ("pool: g5-gpu-karpenter", "a10g")],
)
def test_a_placeholder_of_handlebars_is_a_variable_and_a_pool_names_its_family(place, gpu):
    text = POD.replace("nodeSelector: {{PLACE}}", f"nodeSelector:\n        {place}")
    (run,) = _runs(text)
    assert {name: run.row[name] for name in ("model", "sequence_tokens", "gpu")} == {
        "model": "qwen3-8b",
        "sequence_tokens": "8192",
        "gpu": gpu,
    }


def test_a_template_of_helm_asks_for_its_values():
    with pytest.raises(ConfigProblem, match=r"values\.yaml"):
        _runs("{{- if .Values.on }}\n" + POD)


POOLS = """
kind: LLMInferenceService
spec:
  model: {uri: hf://Qwen/Qwen3-8B}
  replicas: 2
  template: {containers: [{name: main, resources: {limits: {nvidia.com/gpu: 1}}}]}
  prefill:
    template: {containers: [{name: main, resources: {limits: {nvidia.com/gpu: 1}}}]}
"""


def test_equal_pools_for_prefill_and_decode_are_two_runs():
    decode, prefill = _runs(POOLS)
    assert "prefill" in prefill.row["scenario"]
    assert any(line.field == "asked_gpus" for line in decode.lines)


RAY = """
kind: ConfigMap
data:
  app.py: |
    engine = AsyncEngineArgs(model=os.environ.get("MODEL_ID", "Qwen/Qwen3-4B"), max_num_seqs=64)
---
kind: RayService
spec:
  serveConfigV2: |
    applications:
      - import_path: app:deployment
        runtime_env: {pip: [vllm], env_vars: {MODEL_ID: Qwen/Qwen3-8B, MAX_NUM_SEQ: "4"}}
        deployments: [{ray_actor_options: {num_gpus: 1}}]
  rayClusterConfig:
    headGroupSpec: {template: {spec: {containers: [{image: ray-vllm, command: [sh]}]}}}
    workerGroupSpecs:
      - template:
          spec:
            nodeSelector: {node.kubernetes.io/instance-type: g5.xlarge}
            containers: [{image: ray-vllm, env: [{name: A, value: "1"}]}]
"""


def test_the_application_of_ray_has_the_machines_of_its_cluster():
    (run,) = _runs(RAY)
    assert (run.row["model"], run.row["max_sequences"]) == ("qwen3-8b", "4")
    assert run.row["instance"] == "g5.xlarge"


def test_an_image_of_nim_names_its_model():
    text = (
        "kind: NIMService\nspec:\n  image: {repository: nvcr.io/nim/meta/llama-3.1-8b-instruct}\n"
    )
    (run,) = _runs(text + "  resources: {limits: {nvidia.com/gpu: 2}}\n")
    assert (run.row["model"], run.row["gpus"]) == ("llama-3.1-8b", "2")


def test_accelerators_in_remarks_are_not_asked_for_and_an_image_for_processors_is():
    text = POD.replace("{{PLACE}}", "{a: b}").replace("{{{REGISTRY}}}", "")
    (run,) = _runs(f"# not google.com/tpu: 4, as before\n{text}")
    assert run.row["model"] == "qwen3-8b"
    with pytest.raises(ConfigProblem, match="vllm-openai-cpu"):
        _runs(text.replace("vllm-openai", "vllm-openai-cpu"))


SCRIPT = """
SMALL = {flag}
if SMALL:
    source = "nvidia/Qwen3-8B-NVFP4"
else:
    source = "s3://bucket/models/Qwen3-8B-FP8/"
config = LLMConfig(
    model_loading_config=dict(model_id="chat", model_source=source),
    engine_kwargs=dict(kv_cache_dtype="fp8" if not SMALL else "auto", max_model_len=4096),
)
"""


@pytest.mark.parametrize(("flag", "precision", "cache"), [("1", "nvfp4", ""), ("0", "fp8", "fp8")])
def test_constants_of_a_script_decide_its_branches(flag, precision, cache):
    """A model in a bucket is known by the name of its folder."""
    (run,) = _runs(SCRIPT.format(flag=f"{flag} == 1"), "serve.py")
    assert run.row["model"] == "qwen3-8b"
    assert (run.row["precision"], run.row["kv_precision"]) == (precision, cache)


PAGE = """
We rent a g6e.xlarge in eu-central-1.

```
image: vllm/vllm-openai:{release}
args: [--model, Qwen/Qwen3-8B]
```
"""


@pytest.mark.parametrize(("release", "share"), [("v0.10.0", "0.9"), ("v0.33.0", "0.92")])
def test_a_page_says_machine_and_region_and_a_release_its_share_of_the_card(release, share):
    """A block without a language is YAML where it begins with a key."""
    (run,) = _runs(PAGE.format(release=release), "README.md")
    assert (run.row["instance"], run.row["region"]) == ("g6e.xlarge", "eu-central-1")
    assert run.row["memory_utilization"] == share
    assert "40,960 tokens" in run.row["note"]


BUILD = """
huggingface-cli download Qwen/Qwen2.5-72B-Instruct --local-dir /models/hf
python3 convert_checkpoint.py --model_dir /models/hf --dtype bfloat16 --tp_size 4
trtllm-build --checkpoint_dir /models/ckpt --max_seq_len 8192 --max_batch_size 64
"""


def test_the_commands_that_build_an_engine_are_one_run():
    script = BUILD.replace("\n", "\n      ")
    (run,) = _runs(
        f"kind: Job\nspec:\n  containers:\n  - command: [bash, -c]\n    args:\n    - |{script}"
    )
    row = run.row
    assert (row["model"], row["gpus"], row["sequence_tokens"]) == ("qwen2.5-72b", "4", "8192")


STORM = """
kind: StormService
spec:
  roles:
    - name: prefill
      template: &pod
        image: a/vllm-openai:v0.10.0-nixl
        command: [sh, -c]
        args: ["vllm serve /m/Qwen3-8B"]
    - name: decode
      template: *pod
"""


def test_pools_in_a_list_are_known_by_name_and_a_release_by_the_image_of_a_script():
    prefill, decode = _runs(STORM)
    assert prefill.row["scenario"].endswith("prefill")
    assert decode.row["scenario"].endswith("decode")
    assert decode.row["software_release"] == "0.10.0"


@pytest.mark.parametrize("image", ["nvcr.io/nvidia/vllm:25.10-py3", "lmcache/vllm-openai:v0.3.7"])
def test_a_tag_that_is_no_release_of_vllm_is_none(image):
    (run,) = _runs(f"image: {image}\nargs: [--model, Qwen/Qwen3-8B]")
    assert run.row["software_release"] == ""


APPLICATION = """
applications:
  - import_path: ray.serve.llm:build_openai_app
    runtime_env: {pip: ["vllm==0.11.0"]}
    args:
      llm_configs:
        - model_loading_config: {model_id: a, model_source: s3://b/Qwen/Qwen2.5-0.5B-Instruct}
          engine_kwargs:
            max_model_len: 2048
            kv_transfer_config: {kv_connector: NixlConnector, kv_role: kv_both, a: 1, b: 2}
compute_config: 8xh100-workers:3
"""


def test_the_arguments_of_an_application_of_ray_are_its_engines():
    (run,) = _runs(APPLICATION)
    assert (run.row["model"], run.row["sequence_tokens"]) == ("qwen2.5-0.5b", "2048")
    assert run.row["gpu"] == "h100-80gb-sxm"


COMPOSE = """
services:
  a:
    image: my/vllm-node
    entrypoint: [/bin/bash, -c, 'setup.sh && exec "$$@"', --]
    command: [vllm, serve, Qwen/Qwen3-8B, --max-model-len, "8192"]
  b:
    image: my/vllm-node
    command: [serve, --model, Qwen/Qwen3-4B, --max-model-len, "4096"]
"""


def test_a_shell_before_the_command_and_an_engines_own_entry_point_are_read():
    assert [(run.row["model"], run.row["sequence_tokens"]) for run in _runs(COMPOSE)] == [
        ("qwen3-8b", "8192"),
        ("qwen3-4b", "4096"),
    ]


HYPERPOD = """
kind: InferenceEndpointConfig
spec:
  modelName: Llama-3.3-70B-Instruct
  instanceType: ml.p4d.24xlarge
  worker:
    image: a/vllm:server-hyperpod-cuda-v1.1
    args: [/opt/ml/model, --max-model-len, "16384"]
    resources: {limits: {nvidia.com/mig-3g.20gb: 1}}
"""


def test_a_folder_is_taken_to_hold_the_model_that_is_served_under_its_name():
    (run,) = _runs(HYPERPOD)
    assert run.row["model"] == "llama-3.3-70b"
    assert "/opt/ml/model is taken to hold Llama-3.3-70B-Instruct" in run.row["note"]
    summary = summary_of(run.row, run.lines, DEFAULTS, {})
    assert any("MIG 3g.20gb" in item for item in summary.not_counted)


DOCKER = """
docker run --gpus '"device=0,1"' vllm/vllm-openai:${TAG:-v0.10.2} --model Qwen/Qwen3-8B -tp 2
docker run --gpus '"device=1"' vllm/vllm-openai:v0.10.2 --model Qwen/Qwen3-0.6B
"""


def test_services_on_one_gpu_say_so_and_a_tag_has_its_default():
    runs = _runs(DOCKER, "start.sh")
    assert [run.row["software_release"] for run in runs] == ["0.10.2", "0.10.2"]
    for run in runs:
        items = summary_of(run.row, run.lines, DEFAULTS, {}).not_counted
        assert any(item.startswith("GPU 1 shared with another service") for item in items)


SKY = """
setup: pip install vllm==0.11.0
run: vllm serve Qwen/Qwen3-8B
service: {replica_policy: {min_replicas: 2, max_replicas: 6, target_qps_per_replica: 3}}
resources: {accelerators: L4}
"""


def test_a_release_that_is_installed_counts_and_the_load_of_an_autoscaler_is_named():
    (run,) = _runs(SKY)
    assert (run.row["software_release"], run.row["memory_utilization"]) == ("0.11.0", "0.9")
    items = summary_of(run.row, run.lines, DEFAULTS, {}).not_counted
    assert any(item.startswith("target_qps_per_replica 3") for item in items)


def test_a_family_and_a_size_are_an_instance():
    place = "{karpenter.k8s.aws/instance-family: g5, karpenter.k8s.aws/instance-size: 2xlarge}"
    (run,) = _runs(POD.replace("{{PLACE}}", place).replace("{{{REGISTRY}}}", ""))
    assert run.row["instance"] == "g5.2xlarge"


ENDPOINT = """
llm = HuggingFaceModel(env={"HF_MODEL_ID": "Qwen/Qwen3-8B", "SM_NUM_GPUS": "1"},
                       image_uri=get_huggingface_llm_image_uri("huggingface"))
llm.deploy(initial_instance_count=1, instance_type="ml.g5.2xlarge")
"""


def test_an_endpoint_of_sagemaker_has_its_price_and_a_cluster_of_hyperpod_has_not():
    request = request_of([("deploy.py", ENDPOINT.encode())], catalogs())
    assert request.columns["markets"] == "sagemaker-hosting"
    assert "market SageMaker hosting" in request.run.summary.understood
    assert not request_of([("e.yaml", HYPERPOD.encode())], catalogs()).columns.get("markets")


PBTXT = """
backend: "tensorrtllm"
max_batch_size: 64
instance_group [ { count: 1 kind: KIND_CPU } ]
parameters: { key: "gpt_model_path" value: { string_value: "/engines/llama3.1-8b-fp8-tp1/" } }
parameters: { key: "kv_cache_free_gpu_mem_fraction" value: { string_value: "0.85" } }
parameters: { key: "max_tokens_in_paged_kv_cache" value: { string_value: "" } }
"""


def test_a_config_of_triton_in_text_form_is_read():
    (run,) = _runs(PBTXT, "config.pbtxt")
    row = run.row
    assert (row["model"], row["precision"]) == ("llama-3.1-8b", "fp8")
    assert (row["max_sequences"], row["memory_utilization"]) == ("64", "0.85")


def test_a_modelfile_is_refused_by_its_name():
    with pytest.raises(ConfigProblem, match="a Modelfile of Ollama"):
        _runs("FROM gemma3:27b-it-qat\nPARAMETER num_ctx 16384\n", "Modelfile")


JOB = """
kind: RayJob
spec:
  entrypoint: python /job/tag.py
  rayClusterSpec:
    workerGroupSpecs:
      - replicas: 6
        template: {spec: {nodeSelector: {node.kubernetes.io/instance-type: g6e.4xlarge}}}
---
kind: ConfigMap
data:
  tag.py: |
    cfg = vLLMEngineProcessorConfig(model_source="nvidia/DeepSeek-R1-0528-FP4-v2",
                                    engine_kwargs={"max_model_len": 6144}, concurrency=6)
"""


def test_a_script_that_a_job_runs_has_its_model_and_its_copies():
    (run,) = _runs(JOB)
    row = run.row
    assert (row["model"], row["precision"]) == ("deepseek-r1", "nvfp4")
    assert (row["sequence_tokens"], row["instance"]) == ("6144", "g6e.4xlarge")
    assert any(line.field == "copies" and line.text == "6" for line in run.lines)


CHART = """
image: {name: nvcr.io/nvidia/tritonserver:25.10-vllm-python-py3}
resources: {node_type: g6.48xlarge, limits: {nvidia.com/gpu: 8}}
inline_script:
- |
  cat > /srv/model.json <<EOF
  {"model": "$MODEL_PATH", "gpu_memory_utilization": 0.8, "tensor_parallel_size": 8}
  EOF
server: {env: [{name: MODEL_PATH, value: /fsx/mistralai/Mistral-7B-Instruct-v0-3}]}
"""


def test_a_config_that_a_script_inside_a_chart_writes_is_the_engines():
    (run,) = _runs(CHART)
    assert (run.row["model"], run.row["tensor_parallel"]) == ("mistral-7b-v0.3", "8")
    assert (run.row["memory_utilization"], run.row["instance"]) == ("0.8", "g6.48xlarge")


STORED = """
kind: InferenceService
spec:
  predictor:
    model: {modelFormat: {name: vLLM}, storage: {key: aws, path: Qwen/Qwen3-8B/}}
    tolerations: [{key: nvidia.com/gpu, value: NVIDIA-A10G-SHARED, effect: NoSchedule}]
"""


def test_the_path_in_a_store_is_a_model_and_a_toleration_names_the_card():
    (run,) = _runs(STORED)
    assert (run.row["model"], run.row["gpu"]) == ("qwen3-8b", "a10g")


UNION = """
common = {"HF_MODEL_ID": "Qwen/Qwen3-8B"}
env = common | {"OPTION_ROLLING_BATCH": "vllm", "OPTION_MAX_MODEL_LEN": "16384"}
sm.create_model(PrimaryContainer={"Image": "djl-inference:0.36.0-lmi19", "Environment": env})
sm.create_endpoint_config(ProductionVariants=[{"InstanceType": "ml.g6e.2xlarge"}])
"""


def test_mappings_that_a_script_joins_are_one():
    (run,) = _runs(UNION, "deploy.py")
    assert (run.row["model"], run.row["sequence_tokens"]) == ("qwen3-8b", "16384")
