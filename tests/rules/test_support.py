"""What runs where: the estimate against a plain reading of the rules row by row, named cases, and
what a refused row keeps.
"""

from dataclasses import replace
from functools import cache, lru_cache

import grid
import numpy as np
import pandas as pd
import pytest
from examples import catalogs as the_catalogs
from examples import entries, recorded

from calc import estimate
from calc.engine.stages import RESTING_ON_TIME
from calc.explain.derivation import rules_that_apply
from calc.rules.support import RUNS
from calc.search.options import options

RULES = entries("support")
WORST_LAST = ("runs", "emulated", "unknown", "refuses")
SAID = dict(zip(WORST_LAST, ("yes", "emulated", "unknown", "no"), strict=True))


def pair(capability):
    """'8.9' as (8, 9)."""
    major, minor = capability.split(".")
    return int(major), int(minor)


@lru_cache(maxsize=4)
def facts(catalogs):
    """Models, instances and cards as dicts, and the widest latent cache of each model."""
    latent_width = catalogs.stacks.groupby("model")["latent_width"].max().to_dict()
    return (
        catalogs.models.to_dict("index"),
        catalogs.instances.to_dict("index"),
        catalogs.gpus.to_dict("index"),
        latent_width,
    )


def traits(row, catalogs):
    """What rules ask of a result row that has a card."""
    models, instances, cards, latent_width = facts(catalogs)
    model, card = models[row["model"]], row["gpu"]
    if row["instance"]:
        arm, family = (instances[row["instance"]][name] for name in ("arm", "family"))
    else:
        hosts, family = (
            [instance["arm"] for instance in instances.values() if instance["gpu"] == card],
            "",
        )
        arm = len(hosts) > 0 and all(hosts)
    capability = cards[card]["compute_capability"]
    cache = row["kv_precision"] or ("bf16" if row["precision"].startswith("bf16") else "fp16")
    return {
        **{name: row[name] for name in ("work", "precision", "attention", "compile", "gpus")},
        "software": row["implementation"],
        "capability": pair(capability) if capability[0].isdigit() else None,
        "host_architecture": "arm64" if arm else "x86_64",
        "model_type": model["model_type"],
        "head_size": model["head_dim"],
        "latent_cache": latent_width[row["model"]] > 0,
        "replica_gpus": row["tensor_parallel"] * row["pipeline_parallel"] * row["context_parallel"],
        "loading": row["loading"],
        "host": family,
        "experts": "divided" if row["expert_parallel"] > 1 else "whole",
        "stages": "divided" if row["pipeline_parallel"] > 1 else "whole",
        "sequence": "whole"
        if row["context_parallel"] == 1
        else ("short" if row["sequence_tokens"] < 16_000 else "divided"),
        "kv_precision": cache,
    }


def counts(rule, row):
    """Whether a rule counts for a row of traits."""
    if rule["software"] not in ("any", row["software"]) or rule["work"] not in ("any", row["work"]):
        return False
    if (
        row[rule["what"]] not in rule["values"]
        or rule.get("host_architecture", row["host_architecture"]) != row["host_architecture"]
    ):
        return False
    for end, beyond in (
        ("min", lambda capability, bound: capability < bound),
        ("max", lambda capability, bound: capability > bound),
    ):
        bound = rule.get(f"{end}_compute_capability")
        if bound and (row["capability"] is None or beyond(row["capability"], pair(bound))):
            return False
    for size in ("gpus", "replica_gpus", "head_size"):
        if f"{size}_above" in rule and not row[size] > rule[f"{size}_above"]:
            return False
    if rule.get("latent_cache") and not row["latent_cache"]:
        return False
    if "model_types" in rule and row["model_type"] not in rule["model_types"]:
        return False
    return "precisions" not in rule or row["precision"] in rule["precisions"]


def reading(row):
    """What `runs` is to say of a row of traits, and the rules that it rests on."""
    rules = {name: rule for name, rule in RULES.items() if counts(rule, row)}
    specific = {rule["what"] for rule in rules.values() if rule["software"] != "any"}
    rules = {
        name: rule
        for name, rule in rules.items()
        if rule["software"] != "any" or rule["what"] not in specific
    }
    verdicts = [rule["verdict"] for rule in rules.values()]
    if not any(rule["what"] == "loading" for rule in rules.values()):
        verdicts.append("unknown")
    return SAID[max(verdicts, key=WORST_LAST.index)], rules


@cache
def bench():
    """The catalogs with a card of every capability that a rule borders on, each in an x86-64 and an
    Arm host of each family named.
    """
    real = the_catalogs()
    ends = {
        rule[f"{end}_compute_capability"]
        for rule in RULES.values()
        for end in ("min", "max")
        if f"{end}_compute_capability" in rule
    }
    named = sorted({step for end in ends for step in around(end)}, key=pair)
    cards = pd.concat(
        [
            real.gpus.loc[["h100-80gb-sxm"]]
            .assign(compute_capability=cc)
            .rename(index=lambda _, e=cc: f"cc-{e}")
            for cc in named
        ]
    )
    families = [
        "p5",
        *{family for rule in RULES.values() if rule["what"] == "host" for family in rule["values"]},
    ]
    places = [
        (f"{family}.{arm}.cc-{cc}", family, arm, f"cc-{cc}")
        for family in families
        for arm in (False, True)
        for cc in named
    ]
    host = real.instances.loc["p5.48xlarge"].to_dict()
    instances = pd.DataFrame(
        {
            name: host | {"family": family, "arm": arm, "gpu": card}
            for name, family, arm, card in places
        }
    ).T
    instances = instances.astype(real.instances.dtypes.to_dict()).rename_axis("id")
    return replace(
        real, gpus=pd.concat([real.gpus, cards]), instances=pd.concat([real.instances, instances])
    )


def around(capability):
    """A capability, the one before and the one after, as text."""
    major, minor = pair(capability)
    return [
        f"{major}.{minor - 1}" if minor else f"{major - 1}.9",
        capability,
        f"{major}.{minor + 1}",
    ]


@pytest.fixture(scope="module")
def sound(catalogs):
    """The results of some 4,000 varied scenarios, about three quarters of them on a card."""
    results = estimate(grid.recorded()[0], catalogs, solve=False)
    return results[results["memory_bytes"].notna()]


def test_the_verdict_of_a_table_is_that_of_its_rows_read_one_by_one(sound, catalogs):
    carded = sound[sound["gpu"] != ""]
    assert len(carded) > 2000
    assert set(sound["runs"][sound["gpu"] == ""]) == {""}
    assert set(carded["runs"]) == set(RUNS)
    verdicts = [reading(traits(row, catalogs))[0] for row in carded.to_dict("records")]
    assert carded["runs"].tolist() == verdicts
    assert (carded["note"] != "")[carded["runs"] != "yes"].all()


@pytest.mark.long
def test_so_it_is_at_both_ends_of_every_rule_and_one_step_beyond_them():
    """The scenarios of the grid eight times, each drawn formats and a place of the bench; every
    rule is met by some.
    """
    scenarios, draw = (
        pd.concat([grid.recorded()[0]] * 8, ignore_index=True),
        np.random.default_rng(26),
    )
    scenarios["precision"] = scenarios.groupby("work")["precision"].transform(draw.permutation)
    caches = [
        "",
        *{
            name
            for rule in RULES.values()
            if rule["what"] == "kv_precision"
            for name in rule["values"]
        },
    ]
    scenarios["kv_precision"] = np.where(
        scenarios["work"] == "training", "", draw.choice(sorted(caches), len(scenarios))
    )
    trainers = [name for name, software in entries("implementations").items() if software["trains"]]
    divided = ("expert_parallel", "pipeline_parallel", "context_parallel")
    spread = pd.DataFrame(
        [
            EXPERTS | {"expert_parallel": 1, degree: 2, "implementation": name}
            for name in trainers
            for degree in divided
        ]
        + [EXPERTS | NARROW | {"implementation": name} for name in ("megatron", "torchtitan")]
        + [EXPERTS | EIGHT_BIT | {"implementation": name} for name in ("megatron", "torchtitan")]
        * 8
        + [{**TRAIN, "attention": "sdpa", "precision": "fp16-mixed"}] * 16
    )
    scenarios = pd.concat([scenarios, spread], ignore_index=True)
    places = [name for name in bench().instances.index if ".cc-" in name]
    results = estimate(
        scenarios.assign(gpu="", instance=draw.choice(places, len(scenarios))), bench(), solve=False
    )
    met = set()
    for row in results[results["memory_bytes"].notna()].to_dict("records"):
        verdict, rules = reading(traits(row, bench()))
        assert row["runs"] == verdict, (row["implementation"], row["gpu"], rules)
        met |= {*rules}
    assert met == {name for name, rule in RULES.items() if rule["values"] != ["pinned"]}


SERVE = {"work": "inference", "model": "qwen3-0.6b", "implementation": "vllm"}
TRAIN = {"work": "training", "model": "gpt2"}
EXPERTS = {"work": "training", "model": "qwen3-30b-a3b", "gpus": 8, "expert_parallel": 8}
EIGHT_BIT = {"expert_parallel": 1, "precision": "fp8-params"}
NARROW = {"expert_parallel": 1, "tuning": "lora", "precision": "nf4"}
CASES = recorded("cases/support.json")["verdicts"]  # scenario, what runs, the words of its note


def test_what_is_known_of_a_case_and_a_cache_that_follows_a_refused_precision(catalogs):
    results = estimate(
        pd.DataFrame([scenario for scenario, _, _ in CASES]).astype(object).fillna(""),
        catalogs,
        solve=False,
    )
    for (scenario, runs, words), row in zip(CASES, results.to_dict("records"), strict=True):
        assert row["runs"] == runs, scenario
        assert words in row["note"], scenario
        assert bool(words) == bool(row["note"]), scenario
    refused = {**SERVE, "precision": "bf16", "instance": "g4dn.xlarge"}
    follows, named = (
        estimate(refused | {"kv_precision": cache}, catalogs, solve=False) for cache in ("", "bf16")
    )
    assert "bf16 cache" not in follows["note"]
    assert "refuses a bf16 cache" in named["note"]


TIMES = sorted(RESTING_ON_TIME)


def test_experts_that_a_software_does_not_divide_are_named_and_those_that_it_does_run(catalogs):
    """Search and estimate agree: what answers try runs without a word."""
    software = entries("implementations")
    trainers = [name for name, entry in software.items() if entry["trains"]]
    table = pd.DataFrame(
        [EXPERTS | {"instance": "p5.48xlarge", "implementation": name} for name in trainers]
    )
    results = estimate(table, catalogs, solve=False)
    for row in results.to_dict("records"):
        tried = software[row["implementation"]]["divides_experts"]
        assert (row["runs"] == "yes" and not row["note"]) == bool(tried), row["implementation"]
    runs = results.set_index("implementation")["runs"]
    assert runs["torchtune"] == "no"
    assert set(runs[["transformers", "trl", "deepspeed"]]) == {"unknown"}
    assert set(runs[["verl", "ms-swift", "axolotl"]]) == {"yes"}  # by an engine that they name
    whole = estimate(table.assign(expert_parallel=1), catalogs, solve=False)
    assert set(whole["runs"]) == {"yes"}
    job = EXPERTS | {"implementation": "torchtune", "gpus": None}
    answer = options(job, catalogs)
    assert answer.obstacle.code == "nothing-runs"
    assert "no setting that divides experts" in answer.obstacle.text


def test_answers_divide_no_sequence_or_stage_that_a_software_is_not_known_to_divide(catalogs):
    """A short sequence, and pipeline stages; a long sequence is divided in most software."""
    row = EXPERTS | {"model": "llama-3.1-8b", "expert_parallel": 1, "instance": "p5.48xlarge"}
    for change, known in (
        ({"context_parallel": 2}, {"megatron": "yes", "transformers": "unknown"}),
        ({"pipeline_parallel": 2}, {"megatron": "yes", "transformers": "unknown", "verl": "yes"}),
        ({"context_parallel": 2, "sequence_tokens": 16_384}, {"transformers": "yes"}),
    ):
        for software, runs in known.items():
            scenario = row | change | {"implementation": software}
            assert estimate(scenario, catalogs, solve=False)["runs"] == runs, (change, software)
    job = {"model": "llama-3.1-70b", "goal": "train", "train_tokens": 2e10, "hours_most": 720}
    free, whole = (options(job | fixed, catalogs) for fixed in ({}, {"pipeline_parallel": 1}))
    assert free.possible > whole.possible  # Megatron, from scratch, in stages too
    assert free.rows[0]["usd"] <= whole.rows[0]["usd"]


def on_t4(catalogs, **choices):
    scenario = {**TRAIN, "instance": "g4dn.12xlarge", "train_tokens": 1e9, **choices}
    row = estimate(scenario, catalogs, solve=False)
    return row, [name for name in TIMES if name in row and not np.isnan(row[name])]


def test_a_row_without_a_known_speed_has_no_time_and_what_is_not_verified_keeps_its_own(catalogs):
    """Refused or emulated, it has no second and no dollar that rests on one; a rate by the hour or
    the month stays.
    """
    timed, times = on_t4(catalogs, precision="fp16-mixed")
    assert timed["runs"] == "emulated"
    assert on_t4(catalogs, precision="fp16-mixed", attention="sdpa")[0]["runs"] == "yes"
    assert {
        "step_seconds",
        "run_hours",
        "run_usd_on_demand",
        "spot_run_hours",
        "usd_per_million_trained_tokens",
    } <= set(times)
    for choices, runs in (
        ({"precision": "bf16-mixed"}, "no"),
        ({"precision": "bf16-mixed", "attention": "eager"}, "emulated"),
    ):
        row, times = on_t4(catalogs, **choices)
        assert (row["runs"], times) == (runs, [])
        assert row["memory_bytes"] > 0
        assert row["fits"]
        assert row["usd_per_hour_on_demand"] == timed["usd_per_hour_on_demand"]
        assert row["usd_per_month_spot"] == timed["usd_per_month_spot"]
    row = estimate({**TRAIN, "instance": "p6e-gb200.36xlarge"}, catalogs, solve=False)
    assert row["runs"] == "unknown"
    assert row["step_seconds"] > 0


def test_of_each_choice_the_worst_is_told_and_nothing_else_of_software_that_does_not_load(
    sound, catalogs
):
    """Of every sound row on a card the note has the effect of each rule that its verdict rests
    on.
    """
    carded = sound[(sound["gpu"] != "") & (sound["runs"] != "yes")]
    effects = 0
    for row in carded.to_dict("records"):
        verdict, rules = reading(traits(row, catalogs))
        worst = [rule for rule in rules.values() if SAID[rule["verdict"]] == verdict]
        loads = [rule for rule in worst if rule["what"] == "loading" and verdict == "no"]
        for rule in loads or [rule for rule in worst if rule["what"] != "kv_precision"]:
            assert rule["effect"] in row["note"], row
            effects += 1
        quiet = [
            rule
            for rule in rules.values()
            if rule["verdict"] == "runs"
            and not {"needs", "instead"} & rule.keys()
            and "effect" in rule
        ]
        assert not [rule for rule in quiet if f"{rule['effect']};" in row["note"]]
    assert effects > 500


def test_the_rules_behind_a_verdict_are_those_of_the_plain_reading_and_only_emulation_has_a_speed(
    catalogs,
):
    """By name and worst first, with their sources; a scenario without a card has none."""
    for scenario in (
        {**SERVE, "precision": "bf16", "instance": "g4dn.xlarge"},
        {**TRAIN, "instance": "p6e-gb200.36xlarge"},
    ):
        row = estimate(scenario, catalogs, solve=False)
        _, rules = reading(traits(row, catalogs))
        shown = rules_that_apply(scenario, catalogs)
        assert set(shown.index) == set(rules)
        assert (
            shown["verdict"].iloc[0]
            == {word: verdict for verdict, word in SAID.items()}[row["runs"]]
        )
        assert shown["source"].to_dict() == {name: rule["source"] for name, rule in rules.items()}
    assert rules_that_apply(TRAIN, catalogs).empty
    # Without it such a row has no time.
    sourced = {name for name, rule in RULES.items() if "speed_source" in rule}
    assert {RULES[name]["verdict"] for name in sourced} == {"emulated"}
    assert {RULES[name]["what"] for name in sourced} == {"attention"}
