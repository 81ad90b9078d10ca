"""Overlays of Kustomize over the manifests of their base."""

import pytest
from examples import catalogs

from calc.files.configs.run import Run, read_runs
from calc.files.configs.run_summary import summary_of
from calc.scenarios.inputs import DEFAULTS

pytestmark = pytest.mark.usefixtures("read_once")

BASE = """
apiVersion: apps/v1
kind: Deployment
metadata: {name: llm}
spec:
  replicas: 1
  template:
    spec:
      containers:
        - name: engine
          image: vllm/vllm-openai:v0.10.0
          args: [--model=Qwen/Qwen3-8B, --max-model-len=8192]
          resources: {limits: {nvidia.com/gpu: 1}}
        - {name: proxy, image: nginx}
"""
MERGE = """
resources: [../base]
patchesStrategicMerge:
  - |-
    apiVersion: apps/v1
    kind: Deployment
    metadata: {name: llm}
    spec:
      template:
        spec:
          containers:
            - name: engine
              args: [--model=Qwen/Qwen3-8B, --max-model-len=16384]
          nodeSelector: {node.kubernetes.io/instance-type: g6e.2xlarge}
images: [{name: vllm/vllm-openai, newTag: v0.11.0}]
"""
OPERATIONS = """
resources: [../base]
patches:
  - target: {kind: Deployment, name: llm.*}
    path: longer.yaml
images: [{name: vllm/vllm-openai, newTag: v0.11.0}]
"""
LONGER = """
- {op: replace, path: /spec/template/spec/containers/0/args/1, value: --max-model-len=16384}
- op: add
  path: /spec/template/spec/nodeSelector
  value: {node.kubernetes.io/instance-type: g6e.2xlarge}
"""


def _run(overlay: str) -> Run:
    files = {
        "base/llm.yaml": BASE,
        "base/kustomization.yaml": "resources: [llm.yaml]\n",
        "prod/kustomization.yaml": overlay,
        "prod/longer.yaml": LONGER,
    }
    return read_runs([(name, text.encode()) for name, text in files.items()], catalogs())[0]


@pytest.mark.parametrize("overlay", [MERGE, OPERATIONS])
def test_an_overlay_changes_the_manifests_of_its_base(overlay):
    row = _run(overlay).row
    read = (row["sequence_tokens"], row["instance"], row["software_release"], row["gpus"])
    assert read == ("16384", "g6e.2xlarge", "0.11.0", "1")


@pytest.mark.parametrize(("label", "tokens"), [("tier=gpu", "16384"), ("tier=cpu", "8192")])
def test_a_patch_for_a_label_changes_the_manifests_that_have_it(label, tokens):
    base = BASE.replace("{name: llm}", "{name: llm, labels: {tier: gpu}}")
    overlay = f"""
resources: [llm.yaml]
patches: [{{target: {{labelSelector: {label}}}, path: longer.yaml}}]
"""
    files = {"llm.yaml": base, "longer.yaml": LONGER, "kustomization.yaml": overlay}
    (run,) = read_runs([(name, text.encode()) for name, text in files.items()], catalogs())
    assert run.row["sequence_tokens"] == tokens


def test_an_overlay_with_a_field_that_is_not_applied_is_named():
    run = _run(MERGE + "components: [../large]\n")
    not_counted = summary_of(run.row, run.lines, DEFAULTS, {}).not_counted
    assert any(one.startswith("kustomization.yaml") for one in not_counted)


def test_an_overlay_that_lists_itself_many_times_is_not_followed():
    files = {
        "llm.yaml": BASE,
        "kustomization.yaml": "resources: [llm.yaml" + 60 * ", ." + "]",
    }
    (run,) = read_runs([(file, text.encode()) for file, text in files.items()], catalogs())
    assert run.row["model"] == "qwen3-8b"
