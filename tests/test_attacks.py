"""Texts that would stop a server: each costs one sentence, within the limits of its process."""

import json

import pytest
from examples import catalogs

from calc.files.apart.reader import Reader
from calc.files.door import REFUSALS
from calc.files.request import PASTED, request_of

pytestmark = pytest.mark.long
LONGEST_SENTENCE = 400  # characters
LLAMA = {"model_type": "llama", "hidden_size": 4096, "num_attention_heads": 32}
LLAMA |= {"num_hidden_layers": 32, "intermediate_size": 11008, "vocab_size": 32000}
REFERENCES = "\n".join(
    f"{name}: {f'${{{other}}}' * 12}" for name, other in zip("abcdefgh", "bcdefghi", strict=True)
)
TEXTS = {
    "shell doubling": "\n".join(["A=aaaaaaaa"] + ["A=$A$A"] * 26),
    "shell doubling in sums": "A=9\n" + "A=$((A*A))\n" * 60 + "vllm serve x",
    "references in YAML": f"base_model: ${{a}}\n{REFERENCES}\ni: {'x' * 40}",
    "references in JSON": json.dumps(
        {"model_name_or_path": "gpt2", **{f"k{i}": f"${{k{i + 1}}}" * 30 for i in range(8)}}
    ),
    "dotted TOML key": "[model]\n" + ".".join(["a"] * 100_000) + " = 1\n",
    "TOML text without an end": 'a = """' + "x" * 900_000,
    "TOML quotes": 'a = "' + '\\"' * 400_000,
    "here-documents without an end": "read A <<EOF\n" * 70_000,
    "arrays without an end": "A=(\n" * 200_000,
    "snapshot of many segments": json.dumps(
        {
            "device_traces": [[]] * 60_000,
            "segments": [{"device": 1, "allocated_size": 1, "total_size": 1}] * 15_000,
        }
    ),
    "benchmark list": json.dumps({"args": "x" * 100_000, "benchmarks": [0] * 300_000}),
    "JSON lines": "{}\n" * 300_000,
    "JSON nested": '{"a":' * 150_000,
    "nvidia-smi lines": "memory.used\n" * 80_000,
    "flags": "vllm serve x " + "-a " * 300_000,
    "commands": "x;" * 400_000,
    "YAML fields": "base_model: gpt2\n" + "".join(f"k{i}: 1\n" for i in range(90_000)),
    "YAML lists": "base_model: gpt2\nx: [" + "[]," * 300_000 + "]",
    "YAML anchors": "a: &a [x,x]\n" + "".join(f"b{i}: &b{i} [*a,*a]\n" for i in range(9)),
    "YAML keys": "? " * 400_000,
    "errors": "Tried to allocate 2 GiB " * 40_000,
    "an error with a long number": "Tried to allocate 2 GiB" + "1" * 400_000,
    "Python calls": "from x import y\n" + "SFTConfig(a=1)\n" * 60_000,
    "Python nested": "from x import y\na" + "()" * 200_000,
    "Python product": "def f():\n    return C(a=" + "*".join(["9999999999"] * 80_000) + ")\n",
    "words": "llama 3.1 8b on 8 h100 " * 40_000,
    "a long word": "a" * 900_000,
    "digits": "1," * 450_000,
    "a long number": "9" * 900_000,
    "layers": json.dumps({**LLAMA, "num_hidden_layers": 1_000_000_000}),
    "kinds of layers": json.dumps({**LLAMA, "layer_types": ["full_attention"] * 60_000}),
    "a long link": "http://localhost:8501/?model=llama-3.1-8b" + "&kept=a~model~b" * 60_000,
    "many own models": "http://localhost:8501/?model=gpt2"
    + "".join(f"&custom.m{i}.hidden=1" for i in range(40_000)),
    "half an address": "http://[x/",
    "other digits": "base_model: gpt2\nmicro_batch_size: ${mul:²,³}\n",
    "a driver's line": "#!/bin/bash\nnvidia-smi --query-gpu=memory.used\nvllm serve gpt2\n",
    "a slash": "serve and/or tune a/b tests",
    "CSV of commas": "model" + "," * 2_500_000 + "\nx\n",
    "CSV rows": "model\n" + "x\n" * 1_200_000,
}


@pytest.fixture(scope="module")
def reader():
    started = Reader(catalogs())
    yield started
    started.close()


@pytest.mark.parametrize("name", TEXTS)
def test_a_text_costs_one_sentence(name, reader):
    text = TEXTS[name]
    try:
        reader.read(request_of, [(PASTED, text.encode())], catalogs())
    except REFUSALS as error:
        sentence = str(error)
        assert sentence.endswith(".")
        assert "\n" not in sentence
        assert len(sentence) <= LONGEST_SENTENCE
