"""Hostile documents, generated: valid ones by the grammar of each reader, then damaged."""

import json
import re
from pathlib import Path
from urllib.parse import quote, urlencode

import anything
import yaml
from examples import catalogs, published, recorded
from hypothesis import strategies as st

from calc.catalogs.tables import READING
from calc.files.configs.fields import field_catalog, tools
from calc.files.simulated_models import simulated_model

LONGEST = 20_000  # characters of an example
MODELS = ("Qwen/Qwen3-8B", "meta-llama/Llama-3.1-8B", "gpt2", "llama-3.1-8b")
ODD_NUMBERS = st.sampled_from(
    [
        *("²", "٣", "１", "1_0", "1e999", "-1", "0", "NaN", ".inf", "-.inf", "0x1F", "1.2.3"),
        *("9" * 30, "9" * 400, "1e-320", "1" + "," * 20, "٣²", "1\u20602", "½", "十"),
    ]
)
ODD_WORDS = st.sampled_from(
    [
        *(
            "",
            " ",
            "\t",
            "\u2060",
            "\u202e",
            "\u2028",
            "\x85",
            "\ufeff",
            "\x1b[1m",
            "\x00",
            "\ud800",
        ),
        *("${a}", "${mul:²,3}", "${A:-${A}}", "$A", "$((A*A))", "$(expr 1 / 0)", "${A[@]}", "$@"),
        *(
            "'",
            '"',
            "`",
            "\\",
            "\\\n",
            "\r",
            "\n",
            "#",
            "--",
            "=",
            ":",
            ": ",
            "- ",
            "&a ",
            "*a",
            "<<",
        ),
        *("<<EOF\n", "(", ")", "[", "]", "{", "}", "{{", "~", "null", "!!python/name:os.system "),
        *("%", "%00", "%ud800", "%25", "&", "+", "?", "|", ";", "/", "//", "../", "=1+1", "---\n"),
        *("true", "[]", "{}", "None", "lambda: 0", "a/b", "http://[x/", "[a](http://x)", "\\ud800"),
    ]
)
ODD = ODD_NUMBERS | ODD_WORDS


def cut(draw, text):
    """A text without a part of it."""
    start, end = _span(draw, text)
    return text[:start] + text[end:]


def repeat(draw, text):
    """A text of which a part stands several times."""
    start, end = _span(draw, text)
    return text[:start] + text[start:end] * draw(st.sampled_from([2, 3, 40, 400])) + text[end:]


def insert(draw, text):
    """A text with an odd word inside."""
    start, _ = _span(draw, text)
    return text[:start] + draw(ODD) + text[start:]


def swap_number(draw, text):
    """A text in which an odd number stands for one of its numbers."""
    return _swap(draw, text, r"\d[\d.,]*", ODD_NUMBERS)


def swap_word(draw, text):
    """A text in which an odd word stands for one of its words."""
    return _swap(draw, text, r"\w+", ODD)


def drop_mark(draw, text):
    """A text without one of its quotes, brackets or separators."""
    return _swap(draw, text, r"[\"'()\[\]{}:,=~&\n]", st.just(""))


def nest(draw, text):
    """A text of which a part stands inside many brackets."""
    start, end = _span(draw, text)
    opens, closes = draw(st.sampled_from(["[]", "{}", "()", ("{a: ", "}"), ("${a:-", "}")]))
    times = draw(st.sampled_from([1, 5, 60, 1_500]))
    return text[:start] + opens * times + text[start:end] + closes * times + text[end:]


def _span(draw, text):
    start = draw(st.integers(0, len(text)))
    return start, min(start + draw(st.sampled_from([1, 4, 20, 200])), len(text))


def _swap(draw, text, pattern, words):
    places = list(re.finditer(pattern, text))
    if not places:
        return text
    place = places[draw(st.integers(0, len(places) - 1))]
    return text[: place.start()] + draw(words) + text[place.end() :]


HARMS = (cut, repeat, insert, swap_number, swap_word, drop_mark, nest)


@st.composite
def damaged(draw, texts, most=4):
    """Texts of which some stay whole and most have several faults."""
    text = draw(texts)
    for harm in draw(st.lists(st.sampled_from(HARMS), max_size=most)):
        text = harm(draw, text[:LONGEST])
    return text[:LONGEST]


def value_of(field):
    """Values of a tool's field: mostly ones that it has."""
    usual = {
        "count": st.sampled_from([1, 2, 8, 64, 4096]),
        "number": st.sampled_from([0.5, 1.0, 1e-5, 0.9]),
        "model": st.sampled_from(MODELS),
        "modules": st.sampled_from([["q_proj", "v_proj"], "all-linear", "q_proj,v_proj"]),
        "document": st.sampled_from(["ds.json", {"zero_optimization": {"stage": 3}}]),
    }
    words = st.sampled_from([*map(str, field.words), "auto", True, False]) if field else st.none()
    good = usual.get(field.read, words) if field else st.sampled_from(["x", 1, None])
    odd = ODD | st.lists(ODD | anything.NUMBERS, max_size=3) | anything.NUMBERS
    return st.one_of(good, good, good, good, odd)


@st.composite
def tool_fields(draw):
    """A tool, and some of its fields with their values; one field tells which tool it is."""
    tool = draw(st.sampled_from(list(tools().values())))
    names = draw(st.lists(st.sampled_from(list(tool.fields)), max_size=6, unique=True))
    marks = [draw(st.sampled_from(list(tool.marks)))] if tool.marks else []
    chosen = dict.fromkeys([*marks, *names])
    return tool, {name: draw(value_of(tool.fields.get(name))) for name in chosen}


def _nested(fields):
    """Dotted fields as nested mappings; a field that is a value already keeps its dots."""
    nested = {}
    for name, value in fields.items():
        *path, last = name.split(".")
        place = nested
        for part in path:
            inner = place.setdefault(part, {})
            place = inner if isinstance(inner, dict) else {}
        place[last] = value
    return nested


def _toml(fields, path=()):
    """A mapping as TOML, its tables after its values."""
    lines = [f"[{'.'.join(path)}]"] if path else []
    inner = {name: value for name, value in fields.items() if isinstance(value, dict)}
    lines += [f"{name} = {json.dumps(fields[name])}" for name in fields if name not in inner]
    return "\n".join([*lines, *(_toml(value, (*path, name)) for name, value in inner.items())])


def _flags(fields):
    """Fields as the flags of a command."""
    return " ".join(f"--{name.replace('_', '-')} {_word(value)}" for name, value in fields.items())


def _word(value):
    return json.dumps(value) if isinstance(value, (list, dict)) else str(value)


@st.composite
def configs(draw):
    """Configs of tools as YAML, TOML or JSON."""
    _, fields = draw(tool_fields())
    nested = _nested(fields)
    form = draw(st.sampled_from([_yaml, _toml, json.dumps]))
    return draw(st.sampled_from(["", "", "# a config\n", "---\n"])) + form(nested)


def _yaml(fields):
    return yaml.safe_dump(fields, allow_unicode=True, sort_keys=False)


@st.composite
def scripts(draw):
    """Shell scripts: variables, arrays, here-documents, options of Slurm and commands of tools."""
    tool, fields = draw(tool_fields())
    commands = [*tool.commands, "torchrun --nproc_per_node 8 train.py", "accelerate launch t.py"]
    lines = [draw(SHELL_LINES) for _ in range(draw(st.integers(0, 5)))]
    command = f"{draw(st.sampled_from(commands))} {draw(st.sampled_from(MODELS))} {_flags(fields)}"
    form = draw(
        st.sampled_from(["{}", "{} $A ${{B}}", '{} "${{ARGS[@]}}"', "{} && {}", "{} \\\n --a 1"])
    )
    return "\n".join([*lines, form.replace("{}", command).replace("{{", "{").replace("}}", "}")])


SHELL_LINES = st.sampled_from(
    [
        *(
            "#!/bin/bash",
            "A=8",
            "A=$B",
            "B=$A",
            "A=$A$A",
            "export B=${A:-4}",
            "A=$((A*B))",
            "set -e",
        ),
        *(
            "ARGS=(\n --tp 8\n # no\n)",
            "read A <<EOF\n --tp 4\nEOF",
            "#SBATCH --nodes=4",
            "A=$(expr 8 / 2)",
        ),
        *("#SBATCH --gres gpu:h100:8", "for i in 1 2; do", "done", "cd /x && ls | wc", "A='1 2'"),
        *("docker run --gpus all -e B=1 vllm/vllm-openai --model gpt2", "CUDA_VISIBLE_DEVICES=0,1"),
    ]
)


@st.composite
def python(draw):
    """Python scripts that call the classes of trainers."""
    _, fields = draw(tool_fields())
    calls = draw(st.lists(st.sampled_from(sorted(field_catalog().calls)), min_size=1, max_size=3))
    arguments = ", ".join(f"{name.rpartition('.')[2]}={value!r}" for name, value in fields.items())
    value = draw(st.sampled_from(["8", "a", "A * 2", "f(1)", "[1] * 9", "-1", "None", "{}", "1j"]))
    lines = ["from trl import SFTConfig", f"A = {value}"]
    lines += [f"c = {call}({arguments}, per_device_train_batch_size=A)" for call in calls]
    returned = ["def f():", f"    return {calls[0]}({arguments})"]
    return "\n".join(draw(st.sampled_from([lines, returned, [*lines, *returned]])))


RECORDED = [
    path.read_text("utf-8")
    for path in sorted((Path(__file__).parent / "recorded" / "inside").iterdir())
]
LOGS = [log["text"] for log in published("run_logs")["logs"].values()]
LOGS += [message["text"] for message in published("oom_messages")["messages"].values()]
SNAPSHOT = {
    "device_traces": [
        [{"action": "alloc", "size": 2**20}, {"action": "free_completed", "size": 9}]
    ],
    "segments": [{"device": 0, "allocated_size": 2**30, "total_size": 2**31}],
}


def documents():
    """Whatever holds a run: services, manifests, notebooks, as published by others."""
    return st.sampled_from(RECORDED)


def logs():
    """Logs of runs and of failures, benchmarks and snapshots; sometimes two after another."""
    one = st.sampled_from([*LOGS, json.dumps(SNAPSHOT)])
    return st.lists(one, min_size=1, max_size=2).map("\n".join)


PHRASES = (
    *("fine-tune", "serve", "train", "qlora", "lora r 16", "dpo", "full", "cheapest", "no spot"),
    *(
        "llama 3.1 8b",
        "qwen3-8b",
        "mixtral",
        "Qwen/Qwen3-8B",
        "a 7b model",
        "70 billion parameters",
    ),
    *("on 8 h100", "on a10g", "2 x p5.48xlarge", "with 24 GB", "in us-east-1", "eu or us"),
    *("under $500", "$2k a month", "within 3 days", "100k examples", "1.5B tokens", "3 epochs"),
    *(
        "context 8k",
        "batch 4",
        "200 users",
        "10 requests per second",
        "prompts of 2k",
        "answers of 300",
    ),
    *(
        "TTFT below 2 s",
        "20 tokens/s",
        "in fp8",
        "4-bit",
        "zero-3",
        "tp 2",
        "at most",
        "and/or",
        "or",
    ),
)


def words():
    """Descriptions of a job: phrases, with and without commas between them."""
    between = st.sampled_from([" ", ", ", ". ", " and ", "\n", ""])
    return st.tuples(st.lists(st.sampled_from(PHRASES), max_size=9), between).map(
        lambda both: both[1].join(both[0])
    )


SIZES = ("hidden", "layers", "heads", "kv_heads", "ffn", "vocab", "name", "family", "hf_repo")
RUN = dict(made_on="2026-11-12", tool="vLLM", quantity="time", ratio="1.08", work="inference")


@st.composite
def links(draw):
    """Links of jobs with own models, plans and readings, whose escapes may be damaged."""
    query = {"model": ["llama-3.1-8b"]} | draw(anything.queries())
    for name in draw(st.lists(st.sampled_from(SIZES), max_size=4)):
        query[f"custom.{draw(st.sampled_from(['mine', 'm-2', 'a b', '../x']))}.{name}"] = [
            draw(anything.SIZE)
        ]
    if draw(st.booleans()):
        reading = RUN | {"model": "llama-3.1-8b"}
        values = [str(reading.get(name, draw(ODD_NUMBERS | st.just("8")))) for name in READING]
        query["run"] = ["~".join(values)]
    text = urlencode(query, doseq=True, errors="replace")
    return f"http://localhost:8501/?{text}"


def addresses():
    """Links as one address: whatever the damage, without blanks."""
    return damaged(links(), most=2).map(
        lambda text: quote(text, safe="%/:?&=~+.", errors="replace")
    )


def as_table(rows):
    """Rows as CSV."""
    lines = [list(rows[0]), *(row.values() for row in rows)]
    return "\n".join(",".join(str(cell) for cell in line) for line in lines)


def tables():
    """Tables of scenarios or jobs as CSV, damaged."""
    return damaged(anything.tables().map(as_table), most=3)


def own_models():
    """Files of models that were simulated on this machine, damaged."""
    said = recorded("simulated.json")
    document = simulated_model(said["config"], "mine", said["answer"], catalogs())
    return st.one_of(damaged(st.just(json.dumps(document))), wrong_values(document).map(json.dumps))


@st.composite
def wrong_values(draw, document):
    """A JSON document in which a few values are of another kind."""
    changed = json.loads(json.dumps(document))
    for _ in range(draw(st.integers(1, 3))):
        place = changed
        while True:
            keys = list(place) if isinstance(place, dict) else list(range(len(place)))
            key = draw(st.sampled_from(keys)) if keys else None
            inner = place[key] if keys else None
            if not isinstance(inner, (dict, list)) or not inner or draw(st.integers(0, 3)) == 0:
                break
            place = inner
        if key is not None:
            place[key] = draw(
                ODD | anything.NUMBERS | st.sampled_from([None, [], {}, True, float("nan")])
            )
    return changed


def readings():
    """Texts of a calibration.yaml, damaged."""
    entry = RUN | {"ratio": 1.08, "model": "llama-3.1-8b", "implementation": "vllm"}
    entry |= {"gpu": "h100-80gb-sxm", "precision": "bf16", "gpus": 1, "batch": 8}
    entry |= {"sequence_tokens": 640, "prompt_tokens": 512}
    whole = {"calibration": {"run-01": entry}}
    return st.one_of(damaged(st.just(_yaml(whole))), wrong_values(whole).map(_yaml))
