"""Files that only complete another: drop-ins and variables of units, values of Terraform."""

import pytest
from examples import catalogs

from calc.files.configs.run import read_run, read_runs

pytestmark = pytest.mark.usefixtures("read_once")

UNIT = b"""[Unit]
Description=vLLM on 2x RTX 4090
[Service]
EnvironmentFile=-/etc/default/llm
ExecStart=/opt/venv/bin/vllm serve ${LLM} -tp 2 --max-model-len ${LENGTH} --max-num-seqs 16
"""
VARIABLES = b"# where the unit looks\nLLM=Qwen/Qwen3-32B-AWQ\nLENGTH='20480'\n"
DROP_IN = b"""[Service]
Environment=LENGTH=12288
ExecStart=
ExecStart=/opt/venv/bin/vllm serve ${LLM} -tp 2 --max-model-len 8192 --max-num-seqs 6
"""
MODULE = b"""
variable "model" { default = "Qwen/Qwen3-8B" }
variable "machine" {
  type    = string
  default = "ml.g5.2xlarge"
  validation { condition = true }
}
variable "length" { default = 4096 }
resource "aws_sagemaker_model" "llm" {
  primary_container {
    image = "763104351884.dkr.ecr.us-east-1.amazonaws.com/djl-inference:0.32.0-lmi14.0.0-cu126"
    environment = {
      HF_MODEL_ID                   = var.model
      OPTION_TENSOR_PARALLEL_DEGREE = "max"
      OPTION_MAX_MODEL_LEN          = tostring(var.length)
    }
  }
}
resource "aws_sagemaker_endpoint_configuration" "llm" {
  production_variants { instance_type = var.machine }
}
"""
PRODUCTION = b'machine = "ml.g6e.12xlarge"\nlength = 16384\nmodel = "Qwen/Qwen3-32B"\n'


def test_a_unit_takes_its_variables_and_the_machine_of_its_description():
    row = read_run([("llm.service", UNIT), ("llm.default", VARIABLES)], catalogs()).row
    assert (row["model"], row["sequence_tokens"]) == ("qwen3-32b", "20480")
    assert (row["gpu"], row["problem"]) == ("rtx-4090", "")


def test_an_empty_start_in_a_drop_in_takes_the_command_of_the_unit_away():
    files = [("llm.default", VARIABLES), ("llm.service", UNIT), ("llm.service.d/x.conf", DROP_IN)]
    row = read_run(files, catalogs()).row
    assert (row["sequence_tokens"], row["max_sequences"]) == ("8192", "6")
    assert row["problem"] == ""


@pytest.mark.parametrize("name", ["prod.tfvars", "terraform.tfvars"])
def test_values_of_terraform_stand_over_the_defaults_of_its_variables(name):
    (run,) = read_runs([("main.tf", MODULE), (name, PRODUCTION)], catalogs())
    assert (run.row["model"], run.row["sequence_tokens"]) == ("qwen3-32b", "16384")
    assert (run.row["instance"], run.row["tensor_parallel"]) == ("g6e.12xlarge", "4")


def test_values_of_several_places_are_left_to_choose():
    files = [("main.tf", MODULE), ("prod.tfvars", PRODUCTION), ("dev.tfvars", PRODUCTION)]
    assert read_run(files, catalogs()).row["model"] == "qwen3-8b"


def test_a_service_is_on_the_machine_that_a_comment_beside_it_names():
    compose = b"services:\n  llm:\n    image: vllm/vllm-openai\n    command: --model ${LLM}\n"
    files = [("compose.yml", compose), (".env", b"# one L40S\nLLM=Qwen/Qwen3-8B\n")]
    assert read_run(files, catalogs()).row["gpu"] == "l40s"
