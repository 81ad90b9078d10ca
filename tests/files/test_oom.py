"""What people paste when memory ran out: every size of every message is read, and what it means is
said.
"""

import pickle

import pytest
from examples import catalogs, published, recorded

from calc import estimate
from calc.__main__ import main
from calc.files.oom.command_in_log import command_in_log
from calc.files.oom.explain import LogProblem, explain_text, tells, text_of
from calc.files.oom.failures import failures, fullest
from calc.files.oom.logs import logged_figures
from calc.files.oom.memory_parts import cards_of_capacity, cards_of_log
from calc.units import GIB

pytestmark = pytest.mark.usefixtures("read_once")

MESSAGES = published("oom_messages")["messages"]
WITH_SIZES = [name for name, case in MESSAGES.items() if "failure" in case]
WITH_FIGURES = [name for name, case in MESSAGES.items() if "figures" in case]
COUNTS = (
    "kv_tokens",
    "request_tokens",
    "most_tokens",
    "sampled_sequences",
    "utilization",
    "ooms",
    "retries",
)
SILENT = recorded("cases/oom.json")["silent"]


def plan(**choices):
    return estimate(
        {"model": "llama-3.1-8b", "precision": "bf16", "gpu": "a10g", **choices},
        catalogs(),
        solve=False,
    )


def sentences_on(text, **choices):
    return " ".join(explain_text(text, plan(**choices), catalogs()).sentences)


def message(tried, total, free, allocated, unallocated, process=None):
    """A message of torch 2.2 to 2.9, sizes in GiB."""
    in_use = (
        ""
        if process is None
        else f"Including non-PyTorch memory, this process has {process:.2f} GiB memory in use. "
    )
    return (
        f"CUDA out of memory. Tried to allocate {tried:.2f} GiB. GPU 0 has a total capacity "
        f"of {total:.2f} GiB of which {free:.2f} GiB is "
        f"free. {in_use}Of the allocated memory {allocated:.2f} GiB is allocated by PyTorch, "
        f"and {unallocated:.2f} GiB is reserved by "
        "PyTorch but unallocated. If reserved but unallocated memory is large try setting "
        "PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True"
    )


@pytest.mark.parametrize("name", WITH_SIZES)
def test_every_generation_of_torchs_message_is_read(name):
    (failure,) = failures(MESSAGES[name]["text"])
    for field, value in MESSAGES[name]["failure"].items():
        got = getattr(failure, field)
        assert got == (
            value
            if isinstance(value, str) or field == "gpu"
            else pytest.approx(value * GIB, abs=GIB * 1e-5)
        ), field


@pytest.mark.parametrize("name", WITH_FIGURES)
def test_every_figure_of_a_log_is_read(name):
    figures = logged_figures(MESSAGES[name]["text"])
    for field, value in MESSAGES[name]["figures"].items():
        assert figures[field] == pytest.approx(value if field in COUNTS else value * GIB), field


@pytest.mark.parametrize("name", WITH_SIZES)
def test_a_message_is_read_as_terminals_and_loggers_wrap_it(name):
    words = MESSAGES[name]["text"].split()
    wrapped = "\n".join(
        f"(VllmWorker rank=1 pid=77) ERROR 06-05 09:00:00 [w.py:1] {' '.join(words[i : i + 9])}"
        for i in range(0, len(words), 9)
    )
    assert failures(wrapped) == failures(MESSAGES[name]["text"])
    assert failures(MESSAGES[name]["text"].replace("CUDA out", "[rank3]: CUDA out")) == failures(
        MESSAGES[name]["text"]
    )


def test_ranks_limits_and_settings_of_each_release():
    text = "\n".join(message(1, 22, 0.1, allocated, 0.2, 21) for allocated in (18.0, 20.5, 19.0))
    ranks = failures(text)
    assert [rank.allocated / GIB for rank in ranks] == [18.0, 20.5, 19.0]
    assert fullest(ranks).allocated == 20.5 * GIB
    assert explain_text(text, plan(), catalogs()).messages == 3
    text = (
        "Tried to allocate 2.00 GiB (GPU 0; 23.99 GiB total capacity; 20.00 GiB already "
        "allocated; 3.00 GiB free; 21.59 GiB allowed; "
        "20.10 GiB reserved in total by PyTorch)"
    )
    assert "allows itself only 21.6 GiB" in sentences_on(text)
    newer = message(2, 44, 0.5, 30, 8, 43).replace("PYTORCH_CUDA_ALLOC_CONF", "PYTORCH_ALLOC_CONF")
    assert "PYTORCH_ALLOC_CONF=expandable" in sentences_on(newer)
    assert "PYTORCH_CUDA_ALLOC_CONF=expandable" in sentences_on(message(2, 44, 0.5, 30, 8, 43))


@pytest.mark.parametrize(("sizes", "words"), recorded("cases/oom.json")["sizes"])
def test_what_the_sizes_mean(sizes, words):
    assert words in sentences_on(
        message(*sizes) if isinstance(sizes, list) else MESSAGES[sizes]["text"]
    )


def test_a_tensor_of_the_requested_size_is_named_and_what_was_alive_is_compared_with_the_peak():
    """4 sequences of 2048 tokens over 128,256 words in 32 bits are 3.91 GiB."""
    logits = 4 * 2048 * 128256 * 4 / GIB
    assert "the logits" in sentences_on(
        message(logits, 22, 0.5, 20, 0.3, 21), batch=4, sequence_tokens=2048
    )
    assert "the logits" not in sentences_on(
        message(logits, 22, 0.5, 20, 0.3, 21), batch=3, sequence_tokens=2048
    )
    scores = 2 * 32 * 8192 * 8192 * 2 / GIB
    assert "eager attention" in sentences_on(
        message(scores, 44, 0.5, 40, 0.3, 43), batch=2, sequence_tokens=8192
    )
    row = plan(model="llama-3.2-1b")
    peak = row["allocated_peak_bytes"] / GIB
    assert "within the range" in sentences_on(message(1, 22, 0.1, peak, 0.1), model="llama-3.2-1b")
    assert "failed before its peak" in sentences_on(
        message(1, 22, 0.1, peak / 2, 0.1), model="llama-3.2-1b"
    )
    assert "above the estimate's peak" in sentences_on(
        message(1, 22, 0.1, peak * 1.5, 0.1), model="llama-3.2-1b"
    )


def test_parts_stand_beside_the_estimate_and_an_engines_log_is_calibration_for_its_own_command():
    explanation = explain_text(
        message(1, 44.53, 0.5, 40, 2, 43.5), plan(instance="g5.xlarge", gpu=""), catalogs()
    )
    assert explanation.cards[0] == "l40s"
    assert (explanation.row["gpu"], explanation.row["instance"]) == ("l40s", "")
    parts = {part.name: part for part in explanation.parts}
    assert parts["Context and libraries"].measured == pytest.approx(1.5 * GIB)
    assert parts["Allocated by PyTorch"].estimated == explanation.row["allocated_peak_bytes"]
    assert parts["Allocated by PyTorch"].in_gib()["difference_gib"] == pytest.approx(
        40 - explanation.row["allocated_peak_bytes"] / GIB
    )
    # Llama 3.1 8B in bf16 on an L40S (vLLM pull request 17122): weights and cache per token as the
    # estimate has them.
    serving = {
        "work": "inference",
        "implementation": "vllm",
        "gpu": "l40s",
        "sequence_tokens": 32768,
    }
    explanation = explain_text(MESSAGES["V8"]["text"], plan(**serving), catalogs())
    weights = next(part for part in explanation.parts if part.name == "Weights")
    assert weights.measured == pytest.approx(weights.estimated, rel=0.005)
    assert "another model" not in " ".join(explanation.sentences)
    assert "add the engine's command" in sentences_on(MESSAGES["V8"]["text"])
    # Llama 3.1 8B: 131,072 bytes a token in bf16, so 16 GiB for 131,072 tokens.
    text = (
        "with the models's max seq len (131072), (16.00 GiB KV cache is needed, which is "
        "larger than the available KV cache memory "
        "(8.00 GiB)"
    )
    serving = {"work": "inference", "implementation": "vllm", "gpu": "l40s"}
    explanation = explain_text(text, plan(**serving), catalogs())
    one = next(part for part in explanation.parts if part.name == "One request's KV cache")
    assert one.measured == pytest.approx(one.estimated)


@pytest.mark.parametrize("text", SILENT)
def test_failures_without_sizes_have_their_meaning(text):
    assert SILENT[text] in sentences_on(text)
    assert tells(text.encode())


SNAPSHOT = {
    "segments": [{"device": 0, "total_size": 4 * GIB, "allocated_size": GIB}],
    "device_traces": [
        [
            {"action": "alloc", "size": 3 * GIB, "pool_id": (0, 0)},
            {"action": "free_completed", "size": 2 * GIB},
        ],
        [],
    ],
}


@pytest.mark.parametrize("protocol", [2, 4, 5])
def test_a_pickled_snapshot_is_its_peaks(protocol):
    figures = logged_figures(text_of(pickle.dumps(SNAPSHOT, protocol)))
    assert figures == {"allocated_peak": 3 * GIB, "reserved_peak": 4 * GIB}


class Called:
    def __reduce__(self):
        return pytest.fail, ("the pickle was run",)


@pytest.mark.parametrize(
    "content",
    [
        *(b"\x80\x04\x95abc", b"PK\x03\x04zip", b"\x80\x04]r\xff\xff\xff\x7f.", pickle.dumps([1])),
        pickle.dumps(SNAPSHOT | {"segments": [1]}),
        pickle.dumps(SNAPSHOT | {"more": Called()}),
    ],
)
def test_any_other_pickle_is_never_run(content):
    assert tells(content)
    with pytest.raises(LogProblem, match="pickle"):
        text_of(content)


def test_json_other_text_and_long_hostile_text_are_answered_in_bounded_time():
    text = (
        '{"allocated_bytes.all.peak": 2147483648, "num_ooms": 0, "num_alloc_retries": 2, '
        '"segment": "x"}'
    )
    assert logged_figures(text) == {"allocated_peak": 2 * GIB, "ooms": 0, "retries": 2}
    assert "nearly full" in sentences_on(text)
    with pytest.raises(LogProblem, match="Tried to allocate"):
        explain_text("all is well", plan(), catalogs())
    assert not tells(b"model_name_or_path: gpt2\n")
    for text in (
        "GPU " * 300_000,
        "Tried to allocate " * 20_000,
        "| " * 300_000,
        "(a" * 300_000,
        "1" * 400_000,
    ):
        failures(text)
        logged_figures(text)
    assert cards_of_capacity(14.75 * GIB, catalogs())[0] == "t4"
    assert {"a10g", "l4"} <= set(cards_of_capacity(21.96 * GIB, catalogs()))
    assert {"h100-80gb-sxm", "a100-80gb-sxm"} <= set(cards_of_capacity(79.1 * GIB, catalogs()))
    assert cards_of_capacity(6 * GIB, catalogs()) == []


SGLANG_START = (
    "server_args=ServerArgs(model_path='meta-llama/Llama-3.1-70B-Instruct', tp_size=4, "
    "mem_fraction_static=0.87, context_length=None, chunked_prefill_size=8192)\n"
    "[TP0] Load weight begin. avail mem=78.58 GB\n[TP0] Load weight end. mem usage=33.17 GB.\n"
    "[TP0] KV Cache is allocated. #tokens: 215000, K size: 15.40 GB, V size: 15.40 GB\n"
)


@pytest.mark.parametrize(
    ("text", "command"),
    [
        (
            SGLANG_START,
            "python -m sglang.launch_server --model-path meta-llama/Llama-3.1-70B-Instruct "
            "--tp-size 4 --mem-fraction-static 0.87 --chunked-prefill-size 8192",
        ),
        (
            "non-default args: {'model': 'Qwen/Qwen3-32B', 'max_model_len': 8192, 'x': [1]}",
            "vllm serve --model Qwen/Qwen3-32B --max-model-len 8192",
        ),
        (
            "V1 LLM engine (v0.9.1) with config: model='Qwen/Qwen3-8B', dtype=torch.bfloat16, "
            "max_seq_len=4096, quantization=None\nmore",
            "vllm serve --model Qwen/Qwen3-8B --dtype bfloat16 --max-model-len 4096 "
            "--image-release 0.9.1",
        ),
        (
            'text_generation_launcher: Args { model_id: "a/b", num_shard: Some(2), dtype: None }',
            "text-generation-launcher --model-id a/b --num-shard 2",
        ),
        (
            "out of memory\n"
            "$ CUDA_VISIBLE_DEVICES=0 vllm serve a/b \\\n  --max-model-len 8192\nmore",
            "CUDA_VISIBLE_DEVICES=0 vllm serve a/b \\\n  --max-model-len 8192",
        ),
        (
            "[launch.py:321] ['/opt/bin/python', '-u', 'src/train_bash.py', '--stage', 'sft', "
            "'--finetuning_type', 'lora'] exits with return code = -9",
            "/opt/bin/python -u src/train_bash.py --stage sft --finetuning_type lora",
        ),
        ("python is out of memory", ""),
        ("server_args=ServerArgs(model_path='a/b', ", ""),
        ("non-default args: {'model': }", ""),
    ],
)
def test_an_engine_prints_its_own_command(text, command):
    assert command_in_log(text) == command


def test_a_healthy_log_needs_no_plan(tmp_path, capsys):
    """The card, the model and the layout come from what the engine prints."""
    log = tmp_path / "sglang.log"
    log.write_text(SGLANG_START)
    assert main(["oom", str(log)]) == 0
    out = capsys.readouterr().out
    assert "model llama-3.1-70b" in out
    assert "Nothing ran out" in out
    assert "| KV cache | 30.80 |" in out
    assert main(["calibrate", str(log)]) in (0, 2)
    assert "add the plan that it ran" not in capsys.readouterr().err


def test_an_error_without_a_plan_has_its_cause_and_what_helps(tmp_path, capsys):
    log = tmp_path / "error.log"
    log.write_text(f"  logits = logits.float()\n{message(7.83, 21.99, 3.4, 17.6, 0.68)}")
    assert main(["oom", str(log)]) == 0
    out = capsys.readouterr().out
    assert "was for the logits" in out
    assert "- A fused or chunked loss" in out
    assert "memory |" not in out
    assert "python -m calc oom LOG RUN" in out
    assert main(["calibrate", str(log)]) == 2
    assert "calibrate LOG plan.csv" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("text", "total_gib", "cards"),
    [
        ("|   0  NVIDIA L40S                    On  |", None, ["l40s"]),
        ("# on an RTX 4060 Ti 16GB", None, ["rtx-4060-ti-16gb"]),
        ("GPU: NVIDIA H100 80GB HBM3", 79.1, ["h100-80gb-sxm"]),
        ("the NVIDIA A10G, or the NVIDIA L4", None, []),
        ("GPU: NVIDIA L4", 14.75, ["t4", "t4g"]),  # what a card holds outweighs a name
    ],
)
def test_a_log_is_of_the_card_that_it_names_or_of_its_capacity(text, total_gib, cards):
    assert cards_of_log(text, total_gib and total_gib * GIB, catalogs()) == cards


def test_a_healthy_engines_cache_stands_beside_the_estimate(tmp_path, capsys):
    log = tmp_path / "vllm.log"
    log.write_text(
        "NVIDIA A100-SXM4-80GB\nV1 LLM engine (v0.8.5) with config: model='Qwen/Qwen2.5-7B', "
        "dtype=torch.bfloat16, max_seq_len=32768\nGPU KV cache size: 1,006,720 tokens\n"
        "|   0  NVIDIA A100-SXM4-80GB  On | 00000000:30:00.0 Off |  0 |\n"
        "| N/A  41C  P0  95W / 400W |  74120MiB /  81920MiB |  0%  Default |\n"
    )
    assert main(["oom", str(log)]) == 0
    out = capsys.readouterr().out
    assert "From A100 80GB." in out
    assert "which GPU" not in out
    assert "The engine's cache holds 1,006,720 tokens, " in out
    assert float(out.split("In use on the card | ")[1].split(" | ")[1]) > 70  # with the whole pool
