"""Files of services whose parts stand apart: images, stores, blocks of a page, instructions."""

import pytest
from examples import catalogs

from calc.files.configs.run import Run, read_runs
from calc.files.configs.run_summary import summary_of
from calc.scenarios.inputs import DEFAULTS

pytestmark = pytest.mark.usefixtures("read_once")


def _runs(text: str, name: str) -> list[Run]:
    return read_runs([(name, text.encode())], catalogs())


MODEL = """
client.create_model(
    ModelName="m",
    PrimaryContainer={
        "Image": "763104351884.dkr.ecr.us-west-2.amazonaws.com/vllm:0.11.2-gpu-py312",
        "Environment": env,
        "ModelDataSource": {"S3DataSource": {"S3Uri": "s3://bucket/models/llama-3.1-8b/"}},
    },
)
"""
ENDPOINT = """
client.create_endpoint_config(
    EndpointConfigName="c",
    ProductionVariants=[{"InstanceType": "ml.g6e.12xlarge", "InitialInstanceCount": 1}],
)
"""
VARIABLES = """
env = {
    "SM_VLLM_MODEL": "/opt/ml/model",
    "SM_VLLM_TENSOR_PARALLEL_SIZE": "2",
    "SM_VLLM_MAX_CPU_LORAS": "4",
    "SM_VLLM_MAX_LORA_RANK": "64",
}
"""


def test_a_model_in_a_store_and_the_release_of_an_image_in_python_are_read():
    (run,) = _runs(ENDPOINT + VARIABLES + MODEL, "deploy.py")
    assert {name: run.row[name] for name in ("model", "software_release", "instance")} == {
        "model": "llama-3.1-8b",
        "software_release": "0.11.2",
        "instance": "g6e.12xlarge",
    }


def test_a_machine_in_another_block_of_a_page_is_taken():
    model = MODEL.replace("env,", '{"HF_MODEL_ID": "Qwen/Qwen3-4B", "SM_VLLM_DTYPE": "bfloat16"},')
    page = f"Deploy\n```python\n{model}```\nthen\n```python\n{ENDPOINT}```\n"
    (run,) = _runs(page, "README.md")
    assert (run.row["model"], run.row["instance"]) == ("qwen3-4b", "g6e.12xlarge")
    other = page + f"or\n```python\n{ENDPOINT.replace('g6e.12xlarge', 'p4d.24xlarge')}```\n"
    assert not _runs(other, "README.md")[0].row["instance"]


def test_an_instruction_takes_the_values_above_it():
    (run,) = _runs(
        "ARG RELEASE=v0.9.1\nFROM vllm/vllm-openai:${RELEASE}\nARG MODEL_ID=Qwen/Qwen3-32B-AWQ\n"
        "ENV MODEL_ID=${MODEL_ID} LENGTH=32768\n"
        'ENTRYPOINT ["sh", "-c", "exec vllm serve $MODEL_ID --max-model-len $LENGTH"]\n',
        "Dockerfile",
    )
    assert {name: run.row[name] for name in ("model", "software_release", "sequence_tokens")} == {
        "model": "qwen3-32b",
        "software_release": "0.9.1",
        "sequence_tokens": "32768",
    }


def test_a_compose_file_that_builds_its_image_leaves_the_rest_to_the_files_beside_it():
    compose = "services:\n  llm:\n    build: .\n    environment:\n      - TOKEN=x\n"
    script = "exec vllm serve Qwen/Qwen3-8B --max-model-len 8192\n"
    (run,) = read_runs(
        [("compose.yml", compose.encode()), ("start.sh", script.encode())], catalogs()
    )
    assert (run.row["model"], run.row["sequence_tokens"]) == ("qwen3-8b", "8192")


@pytest.mark.parametrize(
    ("command", "field"),
    [
        (
            "trtllm-serve Qwen/Qwen3-8B --kv_cache_free_gpu_memory_fraction 0.8",
            "kv_cache_free_gpu_memory_fraction 0.8",
        ),
        (
            "lmdeploy serve api_server Qwen/Qwen3-8B --cache-max-entry-count 0.5",
            "cache_max_entry_count 0.5",
        ),
    ],
)
def test_a_share_of_the_free_memory_is_named_where_it_counts_as_one_of_the_card(command, field):
    (run,) = _runs(command, "serve.sh")
    summary = summary_of(run.row, run.lines, DEFAULTS, {})
    assert any(one.startswith(field) for one in summary.not_counted)
