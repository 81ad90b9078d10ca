"""Texts of up to 2.5 MB that once stopped the server: each is read or refused in one sentence,
within seconds of CPU time.
"""

import json

import pytest
from examples import catalogs
from foreign import check_sentence, figures_of_table, kinds_of, outcome_of, reader_of_tests

from calc.files.request import PASTED

MOST_CPU_SECONDS = 5  # of one text; the limit of its process is twice as much
LLAMA = {
    "model_type": "llama",
    "architectures": ["LlamaForCausalLM"],
    "hidden_size": 4096,
    "num_hidden_layers": 32,
    "num_attention_heads": 32,
    "intermediate_size": 11008,
    "vocab_size": 32000,
}
LINK = "http://localhost:8501/?model=llama-3.1-8b"
CALL = "from trl import SFTConfig\n"
AXOLOTL = "base_model: gpt2\n"


def chain(link, times, last):
    """Assignments that each name the one before several times."""
    return "\n".join([last, *[link] * times])


def fields(count, value):
    """A config of many fields as JSON."""
    return json.dumps({"model_name_or_path": "gpt2"} | {f"k{n}": value(n) for n in range(count)})


def config(**sizes):
    """A model's config.json."""
    return json.dumps(LLAMA | sizes)


def notebook(cells, source):
    """A notebook of cells that all have one source."""
    cell = {"cell_type": "code", "source": [source]}
    return json.dumps({"nbformat": 4, "cells": [cell] * cells})


REFERENCES = {
    "a variable doubled": lambda: chain("A=$A$A", 26, "A=aaaaaaaa"),
    "a variable of twelve": lambda: chain("A=$A$A$A$A$A$A$A$A", 12, "A=9") + "\nvllm serve $A",
    "a variable squared": lambda: chain("A=$((A*A))", 60, "A=9") + "\nvllm serve x --port $A",
    "a default in a default": lambda: "A=${A:-" * 20_000 + "1" + "}" * 20_000,
    "two variables in a circle": lambda: "A=$B\nB=$A\n" * 5_000 + "vllm serve $A",
    "references of YAML": lambda: (
        AXOLOTL
        + "".join(f"k{n}: {f'${{k{n + 1}}}' * 12}\n" for n in range(8))
        + f"k8: {'x' * 40}\n"
    ),
    "references of JSON": lambda: fields(
        9, lambda n: f"${{k{n + 1}}}" * 30 if n < 8 else "y" * 999
    ),
    "a reference to itself": lambda: AXOLOTL + "a: ${a}\nb: ${c}\nc: ${b}\n",
    "a product of odd digits": lambda: AXOLOTL + "micro_batch_size: ${mul:²,³}\n",
    "anchors": lambda: "a: &a [x,x]\n" + "b: &a [*a,*a]\n" * 2_000,
    "anchors of anchors": lambda: (
        "k0: &k0 [x,x]\n" + "".join(f"k{n}: &k{n} [{f'*k{n - 1},' * 9}]\n" for n in range(1, 30))
    ),
    "merged maps": lambda: (
        "a: &a {b: 1}\n" + "".join(f"c{n}: {{<<: [*a,*a]}}\n" for n in range(20_000))
    ),
}
NESTS = {
    "a dotted key": lambda: f"[model]\n{'.'.join(['a'] * 100_000)} = 1\n",
    "dotted tables": lambda: (
        "[model]\nname = 'x'\n" + "".join(f"[b{n}.{'.'.join(['a'] * 400)}]\n" for n in range(1_000))
    ),
    "tables in a list": lambda: "[model]\nname = 'x'\n" + "[[model.a]]\n" * 50_000,
    "an open text of TOML": lambda: f'a = """{"x" * 900_000}',
    "open brackets": lambda: "[" * 900_000,
    "open braces": lambda: '{"a":' * 150_000,
    "many documents": lambda: "{}" * 450_000,
    "JSON lines": lambda: "{}\n" * 300_000,
    "many fields of JSON": lambda: fields(70_000, int),
    "many fields of YAML": lambda: AXOLOTL + "".join(f"k{n}: 1\n" for n in range(90_000)),
    "many lists of YAML": lambda: f"{AXOLOTL}x: [{'[],' * 300_000}]",
    "nested YAML": lambda: AXOLOTL + "".join(f"{' ' * n}a:\n" for n in range(1_300)),
    "long keys": lambda: "? " * 400_000,
    "keys alone": lambda: f"a: {{{'b,' * 400_000}}}",
    "many YAML documents": lambda: f"{AXOLOTL}---\n" * 40_000,
    "services": lambda: (
        "services:\n"
        + "".join(
            f"  s{n}: {{image: vllm/vllm-openai, command: [--model, gpt2]}}\n" for n in range(9_000)
        )
    ),
    "machines to choose": lambda: (
        "resources: {any_of: [" + "{accelerators: 'H100:8'}," * 8_000 + "]}\nrun: vllm serve gpt2\n"
    ),
    "facts": lambda: json.dumps(
        {
            "a": [{"command": "vllm serve gpt2", "gpus": n} for n in range(7_000)],
            "offload": [{"offload": n} for n in range(20_000)],
        }
    ),
    "different machines": lambda: (
        "resources: {any_of: ["
        + "".join(f"{{accelerators: H100:{n}}}," for n in range(9_000))
        + "]}\nrun: vllm serve gpt2\n"
    ),
    "4,900 fields of a tool": lambda: AXOLOTL + "".join(f"dataset.k{n}: 1\n" for n in range(4_900)),
    "an open notebook": lambda: '{"nbformat": 4, "cells": [' + "{}," * 9_000,
    "cells": lambda: notebook(9_000, "from trl import SFTConfig\nSFTConfig(a=1)"),
}
SCRIPTS = {
    "here-documents": lambda: "read A <<EOF\n" * 70_000,
    "arrays": lambda: "A=(\n" * 200_000,
    "flags": lambda: "vllm serve x " + "-a " * 300_000,
    "different flags": lambda: "vllm serve x " + " ".join(f"--a{n} 1" for n in range(4_900)),
    "fields": lambda: "python t.py " + "a=1 " * 240_000,
    "commands": lambda: "x;" * 400_000,
    "services": lambda: "vllm serve gpt2\n" * 12_000,
    "containers": lambda: "docker run --gpus all -e A=1 vllm/vllm-openai --model gpt2\n" * 3_000,
    "a Dockerfile of blanks": lambda: (
        f"FROM vllm/vllm-openai\nRUN a{' ' * 400_000}b\n{chr(10) * 400_000}"
    ),
    "options of Slurm": lambda: (
        "".join(f"#SBATCH --a{n}=1\n" for n in range(12_000)) + "srun python t.py"
    ),
    "joined lines": lambda: "vllm serve x \\\n" * 14_000,
    "open quotes": lambda: "vllm serve 'x\n" * 14_000,
    "a query of nvidia-smi": lambda: (
        "#!/bin/bash\nnvidia-smi --query-gpu=memory.used --format=csv\nvllm serve gpt2\n"
    ),
    "calls of calls": lambda: f"{CALL}a{'()' * 99_000}",
    "many calls": lambda: CALL + "SFTConfig(a=1)\n" * 13_000,
    "a long product": lambda: f"def f():\n    return C(a={'*'.join(['9999999999'] * 18_000)})\n",
    "many attributes": lambda: f"{CALL}a{'.b' * 99_000}()\n",
    "signs": lambda: f"{CALL}SFTConfig(a={'-' * 100_000}1)\n",
    "many functions": lambda: "def f():\n    return C(a=1)\n" * 7_000,
}
LOGS = {
    "a snapshot": lambda: json.dumps(
        {
            "device_traces": [[]] * 60_000,
            "segments": [{"device": 1, "allocated_size": 1, "total_size": 1}] * 15_000,
        }
    ),
    "many benchmarks": lambda: json.dumps({"args": "x" * 100_000, "benchmarks": [0] * 300_000}),
    "500 benchmarks": lambda: json.dumps({"args": "x" * 70_000, "benchmarks": [0] * 499}),
    "queries of nvidia-smi": lambda: "memory.used\n" * 80_000,
    "failures": lambda: "Tried to allocate 2 GiB " * 40_000,
    "failures of many digits": lambda: f"Tried to allocate 2 GiB{'1' * 1_400}" * 600,
    "commands among lines": lambda: "vllm serve " * 80_000,
    "guidellm": lambda: '"inter_token_latency_ms": {"successful": {' * 24_000,
    "digits and units": lambda: "1 GiB | " * 120_000,
    "progress": lambda: "50%|##| 1/2 [00:01<00:01, 1.00s/it]\r" * 25_000,
    "colors": lambda: "\x1b[1;" * 220_000,
}
WORDS = {
    "900 kB of words": lambda: "llama 3.1 8b on 8 h100 " * 40_000,
    "5,000 characters of words": lambda: ("llama 3.1 8b on 8 h100 " * 300)[:5_000],
    "5,000 digits": lambda: "1," * 2_500,
    "5,000 amounts": lambda: ("$1 k a day " * 500)[:5_000],
    "5,000 letters": lambda: "a" * 5_000,
    "5,000 brackets": lambda: "(" * 5_000,
    "one word": lambda: "a" * 900_000,
    "digits": lambda: "9" * 900_000,
    "one name": lambda: "qwen3 " * 150_000,
    "a long name": lambda: f"base_model: a/{'b' * 900_000}",
    "a slash": lambda: "serve and/or tune a/b tests",
    "a surrogate": lambda: "\\ud800 llama",
}
MODELS = {
    "a billion layers": lambda: config(num_hidden_layers=10**9),
    "60,000 kinds of layers": lambda: config(
        model_type="qwen3",
        num_hidden_layers=60_000,
        layer_types=["full_attention", "sliding_attention"] * 30_000,
    ),
    "a long type": lambda: config(model_type="llama" * 50_000),
    "configs": lambda: config() * 4_000,
}
LINKS = {
    "kept plans": lambda: LINK + "&kept=a~model~b" * 12_000,
    "long plans": lambda: f"{LINK}&kept={'a~' * 90_000}",
    "own models": lambda: LINK + "".join(f"&custom.m{n}.hidden=1" for n in range(7_000)),
    "readings": lambda: LINK + "&run=2026-11-12~vLLM~time~1.08~inference" * 4_000,
    "longer than a link": lambda: LINK + "&kept=a~model~b" * 60_000,
    "escapes": lambda: LINK + "%25" * 60_000,
    "an open bracket": lambda: "http://[x/",
}
PASTES = {
    f"{kind}: {name}": text
    for kind, texts in {
        "references": REFERENCES,
        "nests": NESTS,
        "scripts": SCRIPTS,
        "logs": LOGS,
        "words": WORDS,
        "models": MODELS,
        "links": LINKS,
    }.items()
    for name, text in texts.items()
}
TABLES = {
    "commas": lambda: f"model{',' * 2_500_000}\nx\n",
    "a quoted header": lambda: f'"\n",model{"," * 2_000_000}\n',
    "500 columns": lambda: f"model{',a' * 499}\nx\n" + "x\n" * 1_200_000,
    "rows": lambda: "model\n" + "x\n" * 1_200_000,
    "long cells": lambda: f"model\n{'x' * 2_500_000}\n",
    "open quotes": lambda: "model\n" + '"x\n' * 400_000,
    "wide rows": lambda: f"model,gpu\n{',' * 2_000_000}\n",
    "a cell of digits": lambda: f"model,batch\ngpt2,{'9' * 1_000_000}\n",
}


@pytest.fixture(scope="module")
def reader():
    """One process for all texts, which finds the functions of these tests."""
    with reader_of_tests() as started:
        yield started


def check(outcome, text):
    """Assert that an attack has a result or one sentence, and took little CPU time."""
    if outcome.value is None:
        check_sentence(outcome.refusal, text)
    assert outcome.cpu_seconds < MOST_CPU_SECONDS


@pytest.mark.long
@pytest.mark.sample(6)
@pytest.mark.parametrize("attack", PASTES)
def test_a_hostile_text_is_read_or_refused_in_a_sentence(reader, attack):
    text = PASTES[attack]()
    documents = [(PASTED, text.encode())]
    check(reader.read(outcome_of, kinds_of, documents, catalogs()), text)


@pytest.mark.long
@pytest.mark.sample(6)
@pytest.mark.parametrize("attack", TABLES)
def test_a_hostile_table_is_read_or_refused_in_a_sentence(reader, attack):
    text = TABLES[attack]()
    check(reader.read(outcome_of, figures_of_table, text.encode(), catalogs()), text)
