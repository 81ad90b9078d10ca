"""Variables of services that stand in a file beside them: .env, a ConfigMap."""

from examples import catalogs

from calc.files.configs.run import read_run

COMPOSE = """
services:
  chat:
    image: vllm/vllm-openai:v0.8.5
    command:
      - --model=${MODEL:-Qwen/Qwen2.5-7B-Instruct}
      - --max-model-len=${CTX:-8192}
"""
DEPLOYMENT = """
apiVersion: v1
kind: ConfigMap
metadata: {name: settings}
data: {MODEL_PATH: meta-llama/Llama-3.3-70B-Instruct, TP: "4", CTX: "32768", LEN: "64"}
---
apiVersion: apps/v1
kind: Deployment
spec:
  template:
    spec:
      containers:
        - name: server
          image: lmsysorg/sglang:v0.4.6
          command: [/bin/bash, -lc]
          args:
            - exec python3 -m sglang.launch_server --model-path $(MODEL_PATH) --tp $(TP)
              --context-length $(CTX) --max-running-requests $(SEQS)
          envFrom: [{configMapRef: {name: settings}}]
          env:
            - {name: CTX, value: "65536"}
            - name: SEQS
              valueFrom: {configMapKeyRef: {name: settings, key: LEN}}
"""


def test_a_file_of_variables_fills_those_of_a_compose_file():
    env = "# a remark\nMODEL=Qwen/Qwen2.5-32B-Instruct-AWQ\nCTX=16384\n"
    files = [(".env", env.encode()), ("docker-compose.yml", COMPOSE.encode())]
    run = read_run(files, catalogs()).row
    assert (run["model"], run["sequence_tokens"]) == ("qwen2.5-32b", "16384")
    alone = read_run(files[1:], catalogs()).row
    assert (alone["model"], alone["sequence_tokens"]) == ("qwen2.5-7b", "8192")


def test_a_config_map_fills_variables_below_those_of_the_container():
    run = read_run([("server.yaml", DEPLOYMENT.encode())], catalogs()).row
    names = ("model", "tensor_parallel", "sequence_tokens", "max_sequences", "unused")
    assert [run[name] for name in names] == ["llama-3.3-70b", "4", "65536", "64", ""]
