"""What helps where memory ran out, by what a log says: the tensor, the moment, the program."""

import pytest
from examples import catalogs
from test_oom import SGLANG_START, message, plan

from calc.__main__ import main
from calc.files.oom.causes import SECOND_COPY, cures_by_cause
from calc.files.oom.explain import LogProblem, explain_text, tells
from calc.files.oom.failures import failures, fullest
from calc.files.oom.logs import log_patterns, stated_figures
from calc.units import GIB

pytestmark = pytest.mark.usefixtures("read_once")


@pytest.mark.parametrize(
    ("text", "cure"),
    [
        ("exitcode  : -9 (pid: 1)", "More host memory"),
        ("job: line 14: 20412 Killed                  python train.py", "More host memory"),
        ("preempted because there is not enough KV cache space", "Fewer sequences"),
        ("Some modules are dispatched on the CPU or the disk", "Weights in fewer bits"),
        (f"in save_fsdp_model\n  model.state_dict()\n{message(2, 79, 1, 74, 3)}", "A sharded"),
        ("['train.py'] exits with return code = -9", "More host memory"),
        ("NCCL WARN Call to posix_fallocate failed : No space left on device", "More shared"),
        ("OSError: [Errno 28] No space left on device", "A larger disk"),
        ("in capture_end\nAcceleratorError: CUDA error: out of memory", "No CUDA graphs"),
        ("in wake_up\nCUDA Error: out of memory at cumem_allocator.cpp:62", "A smaller share"),
        ("in quantize_4bit(\nCUDA driver error: out of memory", "Weights in fewer bits"),
        (f"in profile_run\nlogits.float()\nin _dummy_run {message(5, 44, 4, 38, 1)}", "Fewer tok"),
        (
            "Free memory on device (5.01/23.52 GiB) on startup is less than desired GPU memory "
            "utilization (0.9, 21.17 GiB).",
            "Stop the other processes",
        ),
        (f"in nested_concat\n{message(9, 24, 8, 13, 0.5)}", "No logits kept"),
        (f"in evaluation_loop\nlogits.float()\n{message(9, 24, 8, 13, 1)}", "A smaller evaluation"),
        (f"pipe.to(device)\n{message(0.6, 47, 0.1, 46, 0.1)}", "Weights in fewer bits"),
        (
            f"flash_causal_lm.py prefill:prefill{{id=1}}: {message(0.2, 39, 0.2, 37, 1)}",
            "Fewer tok",
        ),
        ("Not enough memory to handle 8192 prefill tokens.", "Fewer tokens in one prefill"),
        ("No available memory for the cache blocks", "A larger share of the card"),
        ("occurred when warming up sampler with 1024 dummy requests", "Fewer sequences"),
        ("on device 0: cudaMalloc failed: out of memory", "Fewer layers on the GPU"),
        (message(1, 2, 0.5, 1, 0.1), "Activation checkpointing"),
        ("1 Workers (tasks / actors) killed due to memory pressure (OOM)", "More host memory"),
        (f"{message(1, 2, 0.5, 1, 0.1)} exitcode: -9", "Activation checkpointing"),
        (message(26.08, 31.75, 4.77, 26.14, 0.01), "Shard the weights"),
        (
            f'File "a.py", line 1\n  F.scaled_dot_product_attention(q)\n'
            f"{message(8, 31, 5, 24, 0.2)}",
            "Flash attention",
        ),
        ("131072 is larger than the profiled value -561981.", "A larger share of the card"),
        (
            "in init_memory_pool\nNot enough memory. Please try to increase --mem-fraction-static.",
            "A larger share of the card",
        ),
        (
            "Available KV cache memory: 3.68 GiB\n(16.0 GiB KV cache is needed, which is larger",
            "A shorter length",
        ),
        (f"(VllmWorker rank=1 pid=2) ERROR {message(1.74, 23, 0.5, 20, 0.2)}", "Fewer sequences"),
        ("Bfloat16 is only supported on GPUs with compute capability of at least 8.0.", "fp16 in"),
        ("Total number of attention heads (40) must be divisible by tensor", "A tensor parallel"),
        ("RuntimeError: No CUDA GPUs are available", "The GPUs given to the container"),
        ("User-specified max_model_len (65536) is greater than the derived max_model_len", "A len"),
        ("cudaMalloc failed: out of memory\nfailed to allocate compute buffers", "Fewer tokens in"),
        (f"Capturing the model for CUDA graphs.\n{message(1, 2, 0.5, 1, 0.1)}", "No CUDA graphs"),
        (f"Application startup complete\n{message(1, 2, 0.5, 1, 0.1)}", "Fewer sequences"),
        ("Runs out of memory. Set a smaller number for `--slots`", "A smaller --slots"),
        ("Not enough memory: consider increasing `pool_size`", "A larger pool_size"),
        ("[TM][FATAL] No enough blocks.", "A larger share of the card"),
        (
            f'File "grad_buffer.py", line 7, in __init__\n  self.grad_data = torch.zeros('
            f"\n{message(9, 79, 1, 57, 0.1)}",
            "Shard gradients",
        ),
        (
            'File "utils.py", line 160, in load_fsdp_optimizer\n  value.to(device)\n'
            f"{message(0.5, 79, 0.2, 70, 5)}",
            "Shard the optimizer state",
        ),
        (  # Megatron's linear layer, forward
            'File "layers.py", line 668, in linear_with_grad_accumulation_and_async_allreduce\n'
            f"{message(2, 79, 1.1, 75.6, 0.8)}",
            "Activation checkpointing",
        ),
        (f"ret = input.softmax(dim)\n{message(0.9, 79, 0.4, 76.7, 0.6)}", "Flash attention"),
        (f"sglang in _get_logits logits.float()\n{message(9, 79, 4, 72, 1)}", "Fewer sequences"),
    ],
)
def test_what_helps_follows_from_what_ran_out(text, cure):
    messages = failures(text)
    assert cures_by_cause(text, fullest(messages) if messages else None)[0].startswith(cure)


def test_a_log_beside_a_plan_that_is_refused_is_still_explained(tmp_path, capsys):
    log, run = tmp_path / "vllm.log", tmp_path / "serve.sh"
    log.write_text("16.00 GiB KV cache is needed, which is larger than the available memory")
    run.write_text("vllm serve Qwen/Qwen3-14B --max-model-len 131072")
    assert main(["oom", str(log), str(run)]) == 0
    out = capsys.readouterr().out
    assert "qwen3-14b takes 40,960 tokens" in out
    assert "- A larger share of the card" in out


def test_a_service_whose_cache_is_full_is_told_so():
    text = "GPU KV cache usage: 98.5%, Waiting: 35 reqs"
    assert "98.5% of the cache is in use and 35 requests wait" in " ".join(
        explain_text(text, plan(), catalogs()).sentences
    )


def test_weights_are_compared_with_a_plan_only_where_there_is_one(tmp_path, capsys):
    log = tmp_path / "engine.log"
    log.write_text(
        "[TensorRT-LLM][INFO] Loaded engine size: 15320 MiB\n"
        "[TensorRT-LLM][ERROR] CUDA runtime error in ::cudaMalloc(ptr, n): out of memory\n"
    )
    main(["oom", str(log)])
    said = capsys.readouterr().out
    assert "| Weights | 14.96 |" in said
    assert "in the plan" not in said


def test_a_log_that_ends_in_another_error_is_not_called_healthy():
    text = "GPU KV cache size: 1,000 tokens\nValueError: unknown architecture"
    (sentence, *_) = explain_text(text, plan(), catalogs()).sentences
    assert 'another error, "ValueError: unknown architecture"' in sentence
    with pytest.raises(LogProblem, match="unknown architecture"):
        explain_text("ValueError: unknown architecture", plan(), catalogs())


@pytest.mark.parametrize(
    "text",
    [
        "# lower it if you run out of memory\nmax_cpu_memory: 64GB\nmax_memory_allocated: 3GB",
        "try:\n    train()\nexcept (MemoryError, torch.cuda.OutOfMemoryError):\n    pass",
        "terminationGracePeriodSeconds: 30\nlimits: {memory: 64Gi}\nexitCode: 0",
    ],
)
def test_a_config_that_speaks_of_memory_is_no_log(text):
    assert not tells(text.encode())


def test_a_rank_that_a_launcher_ends_after_a_card_ran_out_says_nothing_of_the_machine():
    text = f"{message(1, 24, 1, 19, 3)}\n['train.py'] exits with return code = -9"
    explained = explain_text(text, plan(), catalogs())
    assert not any("memory of the machine" in sentence for sentence in explained.sentences)


def test_every_cause_of_the_catalog_has_its_cures():
    patterns = log_patterns()
    causes = {kind.cures for kind in patterns.silent} | set(patterns.tensors) | set(patterns.stages)
    others = {"other processes", SECOND_COPY}
    assert (causes | set(patterns.programs) | others) <= set(patterns.cures)


def test_a_process_in_a_container_finds_itself_among_those_that_torch_lists():
    listed = " ".join(
        f"Process {number} has {used} GiB memory in use."
        for number, used in ((7, 6.79), (8, 4.93), (9, 0.87))
    )
    text = message(2.11, 14.74, 1.65, 4.5, 2.14).replace("Of the", f"{listed} Of the")
    (failure,) = failures(text)
    assert failure.process == 6.79 * GIB
    assert failure.others_bytes == pytest.approx((14.74 - 1.65 - 6.79) * GIB)
    assert cures_by_cause(text, failure)[0].startswith("Stop the other processes")
    (failure,) = failures(message(0.3, 6, 0, 5, 0.27, process=17179869184.0))
    assert failure.process is None
    assert failure.context == pytest.approx(0.73 * GIB)


def test_a_killed_run_is_told_what_ram_it_needs(tmp_path, capsys):
    log, plan_file = tmp_path / "killed.log", tmp_path / "plan.csv"
    log.write_text(
        "CPU Virtual Memory:  used = 28.43 GB, percent = 22.6%\nexits with return code = -9\n"
    )
    plan_file.write_text("model,gpu,sharding,offload\nllama-3.1-8b,a100-80gb-sxm,zero3,states\n")
    assert main(["oom", str(log), str(plan_file)]) == 0
    out = capsys.readouterr().out
    assert "of RAM, and the machine has 126 GiB." in out
    assert "- More host memory" in out
    assert "On another machine" not in out


@pytest.mark.parametrize(
    ("text", "figures"),
    [
        ("GPU peak memory reserved: 14.62 GiB", {"reserved_peak": 14.62}),
        ("lr: 1e-6 | max_memory_allocated: 3221225472 | loss: 9.1", {"allocated_peak": 3.0}),
        ("Max CUDA memory reserved was 39 GB", {"reserved_peak": 39.0}),
        ("peak_mem_alloc_gib=7.5, memory: 3", {"allocated_peak": 7.5}),
        ("CPU Total Peak Memory consumed (max): 153 GB", {"host_used": 153.0}),
        ("Load weight end. mem usage=1.18 GB. Capture cuda graph begin.", {"weights": 1.18}),
        ("Memory pool end. mem usage=2.50 GB", {}),
        ("perf/max_memory_allocated_gb:62.41 - x", {"allocated_peak": 62.41}),
        ("{'loss': 1.2, 'memory(GiB)': 60.11}", {"reserved_peak": 60.11}),
        ("GPU = Tesla T4. Max memory = 14.748 GB.", {"card": 14.748}),
        ("Peak reserved memory = 9.748 GB.", {"reserved_peak": 9.748}),
        (
            "where the task was running was 488.67GB / 503.54GB (0.97)",
            {"host_used": 488.67, "host_total": 503.54},
        ),
        ("DefaultCPUAllocator: you tried to allocate 1073741824 bytes.", {"request": 1.0}),
        ("Total GPU memory (GiB): 140.06", {"card": 140.06}),
        ("Allocate 1073741824 bytes for k/v cache.", {"kv_pool": 1.0}),
    ],
)
def test_what_trainers_and_engines_print_of_memory_is_read(text, figures):
    assert stated_figures(text) == {name: pytest.approx(n * GIB) for name, n in figures.items()}


def test_an_engine_that_runs_out_beside_its_cache_takes_less_of_the_card(tmp_path, capsys):
    log = tmp_path / "sglang.log"
    log.write_text(f"{SGLANG_START}  in capture_end\nAcceleratorError: CUDA error: out of memory\n")
    assert main(["oom", str(log)]) == 0
    out = capsys.readouterr().out
    assert "It ran out for the CUDA graphs" in out
    assert "- No CUDA graphs, or smaller ones" in out
    assert "A larger share of the card" not in out
