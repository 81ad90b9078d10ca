"""diff, gate, solve, oom and launch: what a repository and a terminal ask of a plan; 0, 2 unusable,
3 over a limit.
"""

import pytest
from examples import catalogs, recorded, written

from calc import estimate
from calc.__main__ import main
from calc.job.columns import PACE, usual_limits_seconds
from calc.say.numbers import usd

PLAN = "scenario,model,instance,gpus,sharding,recompute,train_tokens,batch\n"
BEFORE = (
    PLAN
    + "base,llama-3.1-8b,p5.48xlarge,8,zero3,full,150000000,1\n"
    + "gone,llama-3.2-1b,g6e.xlarge,1,none,none,150000000,1\n"
)
AFTER = (
    PLAN
    + "base,llama-3.1-8b,p5.48xlarge,8,zero2,full,150000000,4\n"
    + "new,llama-3.2-1b,g6.xlarge,1,none,none,150000000,1\n"
)
SERVED = (
    "scenario,work,model,instance,gpus,implementation,precision,batch,sequence_tokens,prompt_tokens\n"
    "chat,inference,qwen2.5-0.5b,g6.xlarge,1,vllm,bf16,4,2048,1536\n"
)
MESSAGE = (
    "CUDA out of memory. Tried to allocate 424.00 MiB. GPU 0 has a total capacity of 21.96 "
    "GiB of which 163.12 MiB is free. Including "
    "non-PyTorch memory, this process has 21.80 GiB memory in use. Of the allocated memory "
    "20.30 GiB is allocated by PyTorch, and 1.15 GiB "
    "is reserved by PyTorch but unallocated."
)


pytestmark = pytest.mark.usefixtures("read_once")


@pytest.fixture
def plans(tmp_path):
    for name, text in {
        "a.csv": BEFORE,
        "b.csv": AFTER,
        "s.csv": SERVED,
        "log.txt": MESSAGE,
    }.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    return tmp_path


def row(text, name):
    """The estimate of one row of a CSV text."""
    head, *lines = text.splitlines()
    cells = next(line for line in lines if line.startswith(name)).split(",")
    return estimate(dict(zip(head.split(","), cells, strict=True)), catalogs())


def test_diff_says_what_changed_what_that_does_and_what_cannot_be_estimated(
    plans, capsys, tmp_path
):
    assert main(["diff", str(plans / "a.csv"), str(plans / "b.csv")]) == 0
    output = capsys.readouterr().out
    before, after = row(BEFORE, "base"), row(AFTER, "base")
    assert "Micro-batch: 1 to 4" in output
    assert f"{(after['needed_bytes'] - before['needed_bytes']) / 2**30:+.3g} GiB" in output
    assert f"{usd(before['run_usd_on_demand'])} | {usd(after['run_usd_on_demand'])}" in output
    assert "## new: new" in output
    assert "## gone: gone" in output
    assert "1 in both, 1 new, 1 gone" in output
    assert main(["diff", str(plans / "a.csv"), str(plans / "a.csv")]) == 0
    output = capsys.readouterr().out
    assert output.count("No choice changed.") == 2
    assert "| the same |" in output
    assert "+" not in output.replace("+.", "")
    for name, precision in (("c.csv", "bf16"), ("d.csv", "int4")):
        (tmp_path / name).write_text(
            f"scenario,model,precision\nbase,llama-3.2-1b,{precision}\n", encoding="utf-8"
        )
    assert main(["diff", str(tmp_path / "c.csv"), str(tmp_path / "d.csv")]) == 0
    assert "Now it cannot be estimated: precision" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("plan", "flags", "status", "words"), recorded("cases/repository_commands.json")["gate"]
)
def test_gate(plans, capsys, plan, flags, status, words):
    assert main(["gate", str(plans / plan), *flags]) == status
    assert words in capsys.readouterr().out


@pytest.mark.parametrize(("text", "words"), recorded("cases/repository_commands.json")["not_known"])
def test_gate_passes_over_nothing_that_is_not_known(tmp_path, capsys, text, words):
    (tmp_path / "p.csv").write_text(text, encoding="utf-8")
    assert main(["gate", str(tmp_path / "p.csv"), "--fits", "--usd-most", "1e9"]) == 3
    assert words in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "sentence"), recorded("cases/repository_commands.json")["unusable"]
)
def test_unusable_input_is_two_and_one_sentence(plans, capsys, monkeypatch, words, sentence):
    (plans / "bad.csv").write_text("model\nnope\n", encoding="utf-8")
    (plans / "s.pickle").write_bytes(b"\x80\x04x")
    monkeypatch.chdir(plans)
    assert main(words) == 2
    error = capsys.readouterr().err
    assert sentence in error
    assert len(error.strip().splitlines()) == 1
    assert not (plans / "kit").exists()


@pytest.mark.parametrize(
    ("field", "column"), [("batch", "max_batch"), ("sequence_tokens", "max_sequence_tokens")]
)
def test_solve_gives_the_most_that_fits(plans, field, column):
    assert main(["solve", field, str(plans / "a.csv"), "-o", str(plans / "o.csv")]) == 0
    for solved in written(plans / "o.csv"):
        assert float(solved["most"]) == row(BEFORE, solved["scenario"])[column]
        assert solved["limit"] == "memory"


def test_solve_users_is_the_most_at_the_usual_pace_and_none_of_training(plans):
    assert main(["solve", "users", str(plans / "s.csv"), "-o", str(plans / "o.csv")]) == 0
    (solved,) = written(plans / "o.csv")
    most = int(solved["most"])
    here, more = (
        row(SERVED.replace(",4,2048", f",{users},2048"), "chat") for users in (most, most + 1)
    )
    assert solved["limit"] == "pace"
    limits = usual_limits_seconds(here["prompt_tokens"])
    assert all(here[column] <= limits[name] for name, column in PACE.items())
    assert any(more[column] > limits[name] for name, column in PACE.items())
    assert main(["solve", "users", str(plans / "a.csv"), "-o", str(plans / "o.csv")]) == 0
    assert [solved["problem"] for solved in written(plans / "o.csv")] == [
        "users are of a service; this row trains."
    ] * 2


def test_solve_price_makes_both_bills_equal(plans):
    assert (
        main(
            [
                "solve",
                "price",
                str(plans / "a.csv"),
                str(plans / "b.csv"),
                "-o",
                str(plans / "o.csv"),
            ]
        )
        == 0
    )
    solved = written(plans / "o.csv")[0]
    before, after = row(BEFORE, "base"), row(AFTER, "base")
    hours = after["run_usd_on_demand"] / after["usd_per_hour_on_demand"]
    assert float(solved["most"]) * hours == pytest.approx(before["run_usd_on_demand"])


def test_oom_beside_a_plan_and_beside_configs(plans, capsys):
    assert main(["oom", str(plans / "log.txt"), str(plans / "a.csv")]) == 0
    output = capsys.readouterr().out
    assert "A10G or L4" in output
    assert "| Allocated by PyTorch | 20.30 |" in output
    here, elsewhere = output.split("## On the machine you have")[1].split("## On another machine")
    assert ["GiB less" in here, "$" in here, "GiB less" in elsewhere, "$" in elsewhere] == [
        True,
        False,
        False,
        True,
    ]
    (plans / "t.yaml").write_text(
        "model_name_or_path: gpt2\nmax_length: 512\nper_device_train_batch_size: 2\n",
        encoding="utf-8",
    )
    (plans / "launch.sh").write_text("torchrun --nproc_per_node 2 train.py\n", encoding="utf-8")
    assert main(["oom", str(plans / "log.txt"), f"{plans / 't.yaml'}+{plans / 'launch.sh'}"]) == 0
    assert "above the estimate's peak" in capsys.readouterr().out


def test_launch_writes_what_import_reads_again_and_refuses_what_does_not_fit(plans, capsys):
    assert main(["launch", str(plans / "a.csv"), "-o", str(plans / "kit")]) == 0
    names = ("training.json", "accelerate.yaml", "launch.sh", "sky.yaml")
    assert (
        main(
            [
                "import",
                "+".join(str(plans / "kit" / name) for name in names),
                "-o",
                str(plans / "i.csv"),
            ]
        )
        == 0
    )
    (row,) = written(plans / "i.csv")
    assert (row["model"], row["instance"], row["gpus"], row["sharding"]) == (
        "llama-3.1-8b",
        "p5.48xlarge",
        "8",
        "zero3",
    )
    assert main(["gate", str(plans / "kit" / "plan.csv"), "--fits"]) == 0
    (plans / "large.csv").write_text(
        "model,instance,gpus,sharding\nllama-3.1-70b,p5.48xlarge,8,zero3\n", encoding="utf-8"
    )
    words = ["launch", str(plans / "large.csv"), "-o", str(plans / "large")]
    assert main(words) == 3
    assert "does not fit: it takes" in capsys.readouterr().err
    assert not (plans / "large").exists()
    assert main([*words, "--anyway"]) == 0
    assert (
        "# WARNING: This plan does not fit"
        in (plans / "large" / "launch.sh").read_text("utf-8").splitlines()[1]
    )
    assert "training.json and plan.csv cannot say so" in (plans / "large" / "README.txt").read_text(
        "utf-8"
    )
    (plans / "wrong.csv").write_text(
        "model,instance,gpus\nllama-3.1-8b,g6e.xlarge,8\n", encoding="utf-8"
    )
    assert main(["launch", str(plans / "wrong.csv"), "-o", str(plans / "wrong")]) == 2
    assert capsys.readouterr().err.endswith("take at most 1 GPUs or a type with it.\n")
