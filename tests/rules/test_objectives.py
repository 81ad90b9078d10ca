"""Preference and reward training: what is held beside the policy, and how a release scores
tokens.
"""

import re

import pandas as pd
import pytest
from examples import catalogs

from calc import answer, estimate
from calc.__main__ import main
from calc.charts import one_step
from calc.engine.one_scenario import phases_table
from calc.files.oom.phases import findings_of_phase
from calc.job.cells import JobError
from calc.job.resolve import resolve
from calc.say.setting import arrangement

DPO = {
    "model": "llama-3.2-1b",
    "objective": "dpo",
    "implementation": "trl",
    "precision": "bf16-autocast",
    "recompute": "full",
    "batch": 4,
}
GRPO = DPO | {
    "model": "llama-3.1-8b",
    "objective": "grpo",
    "gpus": 8,
    "sharding": "zero3",
    "gpu": "h100-80gb-sxm",
    "rollout_sleep": "yes",
}


def one(**scenario):
    result = estimate(scenario, catalogs(), solve=False)
    assert result["problem"] == ""
    return result


def test_a_kept_reference_is_a_second_copy_of_the_weights():
    kept, none = one(**DPO, reference="kept"), one(**DPO, reference="precomputed")
    assert kept["other_models_bytes"] == kept["weights_bytes"]
    assert none["other_models_bytes"] == 0
    assert one(**DPO | {"tuning": "lora"})["reference"] == "adapter-off"


def test_verl_divides_a_model_by_megatron():
    """FSDP divides none. verl, docs/perf/dpsk.md: DeepSeek 671B took 66 GB of each of 96 H20."""
    row = {
        "model": "deepseek-v3",
        "objective": "grpo",
        "implementation": "verl",
        "precision": "bf16-master",
        "recompute": "full",
        "reference": "kept",
        "gpu": "h20",
        "gpus": 96,
        "sharding": "zero1",
        "tensor_parallel": 8,
        "pipeline_parallel": 12,
        "expert_parallel": 8,
        "sequence_tokens": 11680,
        "offload": "optimizer",
    }
    engine = {"rollout_tensor_parallel": 32, "rollout_share": 0.6, "phase_offload": "all"}
    divided = one(**row | engine)
    assert divided["fits"] == "yes"
    assert 62 < divided["allocated_peak_bytes"] / 2**30 < 72


def test_verl_keeps_a_reference_in_cpu_memory_under_fsdp():
    """verl, workers/engine/fsdp/transformer_impl.py: CPUOffload for what only runs forward."""
    row = GRPO | {"implementation": "verl", "precision": "bf16-mixed", "reference": "kept"}
    sharded, whole = one(**row), one(**row | {"sharding": "none"})
    assert sharded["other_models_bytes"] == 0
    assert whole["other_models_bytes"] == whole["weights_bytes"]
    assert sharded["offloaded_bytes"] == sharded["weights_bytes"] / 2  # 16 of 32 bits


def test_a_pair_is_two_sequences():
    orpo, sft = one(**DPO | {"objective": "orpo"}), one(**DPO | {"objective": "sft", "batch": 8})
    assert orpo["saved_activations_bytes"] == sft["saved_activations_bytes"]
    assert orpo["step_tokens"] == sft["step_tokens"]


@pytest.mark.parametrize("objective", ["dpo", "sft"])
def test_the_release_decides_and_the_note_says_so(objective):
    newest, earlier = (
        one(**DPO | {"objective": objective}),
        one(**DPO | {"objective": objective}, library_version="1.12.0"),
    )
    assert earlier["allocated_peak_bytes"] > 1.1 * newest["allocated_peak_bytes"]
    assert "newest known release" in newest["note"]
    assert "newest known release" not in earlier["note"]


def test_an_engine_asleep_leaves_its_share_to_the_update():
    asleep, awake = one(**GRPO), one(**GRPO | {"rollout_sleep": "no"})
    share = 0.3 * awake["gpu_memory_bytes"]
    assert awake["rollout_engine_bytes"] == pytest.approx(share)
    assert (asleep["peak_phase"], awake["peak_phase"]) == ("rollout", "backward")
    assert awake["allocated_peak_bytes"] > asleep["allocated_peak_bytes"]
    phases = phases_table(GRPO, catalogs()).set_index(["phase", "component"])["bytes"]
    assert phases["rollout", "rollout_engine_bytes"] == pytest.approx(share)
    assert set(phases_table({"model": "gpt2"}, catalogs())["phase"]) == {
        "load",
        "forward",
        "backward",
        "step",
    }


def test_ppo_trains_a_value_model_beside_the_policy():
    ppo, grpo = one(**GRPO | {"objective": "ppo"}), one(**GRPO | {"kl_coefficient": 0.1})
    assert grpo["other_models_bytes"] == grpo["weights_bytes"]
    assert ppo["other_models_bytes"] > 3 * grpo["other_models_bytes"]


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"reference": "adapter-off"}, "choose kept"),
        ({"implementation": "litgpt"}, "litgpt has no dpo"),
        ({"model": "bert-base-uncased"}, "choose sft"),
        ({"objective": "grpo", "rollout": "own gpus", "gpus": 8, "rollout_gpus": 8}, "leaves none"),
        ({"objective": "grpo", "gpu": "l4", "rollout_share": 0.05}, "rollout_share"),
        ({"objective": "dpo", "work": "inference"}, "is a way to train"),
    ],
)
def test_what_does_not_go_together_is_refused(change, says):
    assert says in estimate(DPO | change, catalogs(), solve=False)["problem"]


def test_a_result_row_read_again_gives_the_same_figures():
    first = estimate(
        pd.DataFrame([DPO, GRPO, GRPO | {"objective": "ppo", "rollout": "own gpus"}]),
        catalogs(),
        solve=False,
    )
    again = estimate(first, catalogs(), solve=False)
    # A result names the accumulation that the scenario left open, on which a note depends.
    figures = [name for name in first if name != "note"]
    pd.testing.assert_frame_equal(first[figures], again[figures], check_categorical=False)


PARTS = ["rollout_seconds", "log_prob_seconds", "update_seconds", "sync_seconds"]


def test_a_step_is_its_phases_in_turn_or_the_longer_of_rollout_and_the_rest():
    apart = GRPO | {
        "model": "qwen2.5-7b",
        "rollout": "own gpus",
        "rollout_gpus": 2,
        "instance": "p5.48xlarge",
        "gpu": "",
        "train_tokens": 1e8,
    }
    turn, overlapped = one(**apart), one(**apart, asynchronous="one-step-off")
    assert turn["step_seconds"] == pytest.approx(sum(turn[name] for name in PARTS))
    assert overlapped["step_seconds"] == pytest.approx(
        max(overlapped["rollout_seconds"], sum(overlapped[name] for name in PARTS[1:]))
    )
    for row in (turn, overlapped):
        assert row["rollout_idle_share"] == pytest.approx(
            1 - row["rollout_seconds"] / row["step_seconds"]
        )
        hours = row["optimizer_steps"] * row["step_seconds"] / 3600 + row["start_hours"]
        # Both pools, busy or not.
        assert row["run_usd_on_demand"] == pytest.approx(
            hours * row["usd_per_hour_on_demand"], rel=1e-3
        )


@pytest.mark.parametrize(
    ("change", "waits"), [({"asynchronous": "no"}, {0, 1}), ({"asynchronous": "one-step-off"}, {0})]
)
def test_pools_work_and_wait_as_long_as_a_step_takes(change, waits):
    row = one(
        **GRPO
        | {
            "model": "qwen2.5-7b",
            "rollout": "own gpus",
            "rollout_gpus": 2,
            "instance": "p5.48xlarge",
            "gpu": "",
        }
        | change
    )
    line = one_step.timeline(row)
    assert line.groupby("rank")["share_ratio"].sum().to_numpy() == pytest.approx([1, 1])
    assert set(line.loc[line["activity"] == "waits", "rank"]) == waits
    assert "the 6 that train" in one_step.idle_sentence(row)
    assert arrangement(row, catalogs()).startswith("FSDP (ZeRO 3) over 6 H100 SXM5 80GB, ")
    pools_gib = one_step.memory_by_pool(row, phases_table(row, catalogs())).set_index(
        ["phase", "pool"]
    )["gib"]
    assert pools_gib["update", "Training"] == pytest.approx(row["allocated_peak_bytes"] / 2**30)


def test_the_longest_answer_ends_the_rollout():
    mean = one(**GRPO | {"completion_tokens_mean": 200})
    longest, shorter = one(**GRPO), one(**GRPO | {"completion_tokens": 200})
    assert shorter["rollout_seconds"] < mean["rollout_seconds"] < longest["rollout_seconds"]
    assert one(**DPO | {"gpu": "h100-80gb-sxm"})["rollout_seconds"] == 0


def test_engines_on_the_training_gpus_take_all_of_these_whatever_the_row_held_before():
    eight, more = one(**GRPO), one(**GRPO, rollout_gpus=32)
    assert (eight["rollout_gpus"], more["rollout_gpus"]) == (8, 8)
    assert more["rollout_seconds"] == eight["rollout_seconds"]


def test_a_rollouts_decode_step_is_near_that_of_the_same_engine_serving():
    """7B on one H100, 64 answers of 512 tokens after as many of prompt: the mean over an answer's
    steps.
    """
    engine = {"model": "qwen2.5-7b", "gpu": "h100-80gb-sxm", "precision": "bf16"}
    rolled = one(
        **engine
        | {
            "objective": "grpo",
            "implementation": "trl",
            "batch": 64,
            "sequence_tokens": 1024,
            "sharding": "zero3",
            "gpus": 8,
        }
    )
    served = one(
        **engine
        | {
            "work": "inference",
            "implementation": "vllm",
            "batch": 64,
            "sequence_tokens": 1024,
            "prompt_tokens": 512,
        }
    )
    decoded = 512 * 64 / served["decode_tokens_per_second"]
    loop = catalogs().trainers.at["trl", "loop_ratio"]
    assert decoded == pytest.approx(rolled["rollout_seconds"] / loop, rel=0.25)


def test_an_answer_fits_with_its_engine_and_is_its_own_estimate():
    job = {
        "model": "qwen2.5-7b",
        "objective": "grpo",
        "implementation": "trl",
        "instance": "p5.48xlarge+g6e.12xlarge",
        "instances_most": 1,
    }
    rows = answer(job | {"train_tokens": 1e8}, catalogs())
    assert set(rows["fits"]) == {"yes"}
    again = estimate(rows, catalogs())
    for name in ("memory_bytes", "step_seconds", "run_usd_on_demand"):
        assert (again[name].to_numpy() == rows[name].to_numpy(dtype=float)).all()
    long = {"examples": 1000, "prompt_tokens": 2048, "completion_tokens": 8192, "rollout": "none"}
    itself = answer(job | long, catalogs())
    assert set(itself["fits"]) == {"yes"}  # with the cache of a whole step's answers
    apart = answer(job | {"train_tokens": 1e8, "rollout": "own gpus"}, catalogs())
    assert (apart["rollout_gpus"].astype(float) < apart["gpus"].astype(float)).all()
    assert rows["usd"].astype(float).min() <= apart["usd"].astype(float).min()


@pytest.mark.sample(2)
@pytest.mark.parametrize(
    ("line", "scenario", "said"),
    [
        (
            "in _compute_loss",
            DPO | {"library_version": "1.12.0", "tuning": "lora"},
            ["in the update", "the newest release"],
        ),
        (
            "loss.backward",
            DPO | {"implementation": "llama-factory"},
            ["in the update", "fused log-probabilities"],
        ),
        (
            "in _generate_and_score_completions",
            GRPO | {"rollout_share": 0.9},
            ["while answers were generated", "half the share"],
        ),
        (
            "",
            GRPO | {"rollout_share": 0.9, "rollout_sleep": "no"},
            ["names no phase", "an engine that sleeps"],
        ),
        ("in _compute_loss", DPO | {"objective": "sft"}, []),
    ],
)
def test_an_error_is_told_by_its_phase_with_what_helps_there(line, scenario, said):
    sentences = findings_of_phase(f"training_step\n{line}\n", one(**scenario), catalogs())
    assert len(sentences) >= len(said)
    assert all(any(words in sentence for sentence in sentences) for words in said)
    assert said or sentences == []


def test_a_job_that_sets_no_context_has_prompts_of_the_default_length_of_trainers():
    """verl's data.max_prompt_length and TRL's max_prompt_length are 512."""
    job = {"model": "qwen3-8b", "objective": "grpo"}
    for longest in (1024, 2048, 16384):
        settled = resolve(job | {"completion_tokens": longest}, catalogs())
        assert (settled.sequence_tokens, settled.prompt_tokens) == (512 + longest, 512)
    usual = resolve(job, catalogs())
    assert (usual.prompt_tokens, usual.fixed["completion_tokens"]) == (512, [2048])
    within = resolve(job | {"sequence_tokens": 8192, "completion_tokens": 1024}, catalogs())
    assert within.prompt_tokens == 8192 - 1024


def test_the_tokens_of_prompts_alone_are_no_contradiction():
    job = {"model": "qwen3-8b", "objective": "grpo", "examples": 8000, "example_tokens": 1000}
    of_prompts = resolve(job | {"epochs": 3, "train_tokens": 24e6}, catalogs())
    assert of_prompts.train_tokens == 8000 * 3 * 8 * of_prompts.sequence_tokens
    with pytest.raises(JobError, match="leave train_tokens empty"):
        resolve(job | {"train_tokens": 25e6}, catalogs())


def test_verl_says_which_releases_keep_gradients_whole():
    """verl 2423f801b (2026-07-22), first in 0.9.0; 0.9.1 reduces each micro-batch's again."""
    row = GRPO | {"implementation": "verl", "accumulation_steps": 4, "rollout_share": 0.2}
    reduced, whole = one(**row), one(**row, library_version="0.9.0")
    assert "verl 0.9 keeps them whole" in reduced["note"]
    assert "other releases of verl reduce them" in whole["note"]
    assert whole["memory_bytes"] > reduced["memory_bytes"]
    assert "Gradients" not in one(**row | {"accumulation_steps": 1})["note"]


@pytest.mark.bench
def test_show_gives_the_memory_of_each_phase(capsys):
    """The rollout engine's share hides the update: both are said."""
    row = GRPO | {"implementation": "verl", "rollout_share": 0.9}
    columns = [f"--{name}={value}" for name, value in row.items()]
    assert main(["show", *columns]) == 0
    (line,) = [line for line in capsys.readouterr().out.splitlines() if "Phases:" in line]
    found = dict(re.findall(r"(generation|scoring|update) ([\d.]+) GiB", line))
    assert found.keys() == {"generation", "scoring", "update"}
    assert float(found["generation"]) > float(found["update"]) > 10
    plain = [name for name in columns if "objective" not in name and "rollout" not in name]
    assert main(["show", *plain]) == 0
    assert "Phases:" not in capsys.readouterr().out
