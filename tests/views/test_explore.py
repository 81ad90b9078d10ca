"""The Explore page and its tables against estimates taken one by one; the guide against answers; a
point becomes the plan.
"""

import numpy as np
import pytest
from examples import catalogs
from pages import by_hand, opened, run, title

from calc import answer, estimate
from calc.answers.full_answer import full_answer as options
from calc.charts.result_tables import parts_by_row, pivot_rows
from calc.charts.walk import line_name
from calc.plan.communication import communication_volumes
from calc.say.numbers import about, three_digits
from calc.say.place import place
from calc.search.row_status import matrix_bits, method_name, scenario_of
from calc.studies import comparisons
from calc.studies.comparisons import over_gpus
from calc.studies.guide import asks_of, guide, ready_jobs
from calc.units import GIB
from views.charts.guide_tree import guide_tree
from views.shared.theme import INKS
from views.understand.comparisons_words import branch
from views.understand.comparisons_words import leaf as leaf_words

TRAINED = {
    "model": "llama-3.1-8b",
    "precision": "bf16-mixed",
    "sharding": "zero3",
    "gpus": 8,
    "instance": "p5.48xlarge",
}
TRAINED |= {
    "recompute": "full",
    "sequence_tokens": 4096,
    "batch": 2,
    "accumulation_steps": 8,
    "train_tokens": 150e6,
}
SERVED = {
    "model": "qwen2.5-7b",
    "work": "inference",
    "implementation": "vllm",
    "precision": "bf16",
    "instance": "g6e.xlarge",
    "batch": 8,
}


def scenario(**choices):
    return scenario_of(estimate({**TRAINED, **choices}, catalogs(), solve=False))


def test_methods_are_full_lora_and_qlora():
    rows = comparisons.over_methods(scenario(), "on-demand", catalogs()).set_index("line")
    assert list(rows.index) == ["full", "lora", "qlora"]
    assert rows["now"].tolist() == [True, False, False]
    assert (rows["trained_parameters"] / rows["parameters"]).tolist()[0] == 1
    assert rows.loc["qlora", "weights_bytes"] < rows.loc["lora", "weights_bytes"]
    parts = parts_by_row(rows.reset_index(), ["a", "b", "c"], ("weights_bytes", "overhead_bytes"))
    assert parts["a"].iloc[-1] == rows.loc["full", "needed_bytes"] / GIB


@pytest.mark.parametrize("work", ["training", "inference"])
def test_the_table_of_largest_batches(work):
    start = (
        scenario() if work == "training" else scenario_of(estimate(SERVED, catalogs(), solve=False))
    )
    rows = comparisons.largest_batches(start, catalogs(), comparisons.methods_of(start, catalogs()))
    cells = pivot_rows(rows, "gpu", "line", "most")
    methods = list(comparisons.methods_of(start, catalogs()))
    assert list(cells.index) == comparisons.cards_on_aws(catalogs())
    assert list(cells.columns) == methods
    for row in rows.to_dict("records"):
        cell = cells.loc[row["gpu"], row["line"]]
        assert np.isnan(cell) if row["runs"] == "no" else cell == row["max_batch"]
        assert row["gpus"] == 1
    sound = rows[rows["most"] >= 1]
    assert (2.0 ** (sound["grade"] - 1) <= sound["most"]).all()
    assert (rows["grade"][rows["most"] == 0] == 0).all()


def test_older_cards_take_the_format_and_the_build_that_they_run():
    """T4 has no bf16, and today's vLLM has no kernels for V100."""
    start = scenario_of(estimate(SERVED, catalogs(), solve=False))
    rows = comparisons.largest_batches(start, catalogs(), comparisons.methods_of(start, catalogs()))
    wide = rows[rows["line"] == "16 bits"].set_index("gpu")
    assert wide["precision"][["t4", "v100-32gb", "l4"]].tolist() == ["fp16", "fp16", "bf16"]
    assert wide["loading"][["t4", "v100-32gb", "l4"]].tolist() == ["default", "pinned", "default"]
    assert wide["most"]["v100-32gb"] >= 1


@pytest.mark.bench
def test_the_largest_batch_recomputes_as_far_as_it_helps():
    rows = comparisons.largest_batches(
        scenario(), catalogs(), comparisons.methods_of(scenario(), catalogs())
    ).set_index(["gpu", "line"])
    for card, method in (("l4", "qlora"), ("l40s", "lora"), ("h200-sxm", "full")):
        row = rows.loc[(card, method)].to_dict()
        one_more = estimate(
            {**scenario_of({**row, "gpu": card}), "batch": row["most"] + 1}, catalogs(), solve=False
        )
        assert one_more["fits"] == "no"
        for recompute in catalogs().recomputes.index:
            other = estimate(
                {**scenario_of({**row, "gpu": card}), "recompute": recompute}, catalogs()
            )
            assert other["max_batch"] <= row["most"]
    assert [
        rows.loc[cell, "most"] for cell in (("l4", "qlora"), ("l40s", "lora"), ("h200-sxm", "full"))
    ] == [2, 4, 5]


def test_the_cache_overtakes_the_weights_where_it_is_said_to_and_an_encoder_caches_nothing():
    rows = comparisons.over_tasks(scenario(), catalogs(), ["bf16", "int8"])
    row = rows[rows["precision"] == "bf16"].iloc[0].to_dict()
    lengths = {
        "batch": 1,
        "sequence_tokens": round(row["overtakes_tokens"]),
        "prompt_tokens": None,
        "decoder_tokens": None,
    }
    there = estimate({**scenario_of(row), **lengths}, catalogs(), solve=False)
    assert there["kv_cache_bytes"] == pytest.approx(there["weights_bytes"], rel=1e-4)
    assert set(rows["line"]) == set(comparisons.TASKS)
    rows = comparisons.over_tasks(
        scenario(model="bert-base-uncased", sequence_tokens=512), catalogs(), ["fp32"]
    )
    assert rows["overtakes_tokens"].isna().all()


def test_gpus_go_up_to_sixty_four_and_cards_on_aws_are_whole_and_current():
    assert (
        over_gpus(scenario(batch=2, accumulation_steps=8), "on-demand", catalogs(), 64)[
            "gpus"
        ].max()
        == 64
    )
    cards = comparisons.cards_on_aws(catalogs())
    assert {"t4", "a10g", "l4", "h100-80gb-sxm"} <= set(cards)
    assert not [card for card in cards if "/" in card]
    assert line_name("l4", catalogs()) == "L4 · 22"


def test_a_machine_that_takes_one_number_of_gpus_has_no_lines_but_says_where_others_are():
    job = {"method": "lora", "model": "mistral-7b-v0.3", "instance": "g6e.xlarge", "gpus": "1"}
    app = opened("explore", v="3", goal="tune", **job)
    assert any("runs on 1 GPU alone" in info.value for info in app.info)
    assert not app.get("vega_lite_chart")


def test_what_is_sent_is_the_papers():
    """Rajbhandari et al. 2019, section 7: 2 P for an all-reduce, 3 P for stage 3; a ring sends (g -
    1) / g of each.
    """
    base = {
        "model": "llama-3.1-8b",
        "precision": "bf16",
        "gpus": 8,
        "reduce_precision": "bf16",
        "accumulation_steps": 1,
    }
    parameters = estimate(base, catalogs(), solve=False)["parameters"]
    sent = communication_volumes(
        [{**base, "sharding": sharding} for sharding in ("none", "zero1", "zero2", "zero3")],
        catalogs(),
    )
    volume = 2 * parameters * 7 / 8
    assert sent["sent_bytes"].tolist() == pytest.approx(
        [2 * volume, 2 * volume, 2 * volume, 3 * volume]
    )


def test_tensor_and_pipeline_send_activations():
    """Shoeybi et al. 2019: four all-reduces of batch x tokens x hidden per block; Llama 3.1 8B has
    32 blocks of 4096.
    """
    base = {
        "model": "llama-3.1-8b",
        "precision": "bf16",
        "gpus": 4,
        "batch": 2,
        "sequence_tokens": 1024,
        "accumulation_steps": 3,
    }
    layouts = [
        {**base, "tensor_parallel": 4},
        {**base, "pipeline_parallel": 4},
        {**base, "gpus": 1},
    ]
    tensor, pipeline, alone = communication_volumes(layouts, catalogs()).to_dict("records")
    output = 2 * 2 * 1024 * 4096
    assert tensor["tensor_parallel_bytes"] == pytest.approx(3 * 4 * 2 * 3 / 4 * output * 32)
    assert pipeline["pipeline_parallel_bytes"] == pytest.approx(3 * 2 * output)
    assert alone["sent_bytes"] == 0


@pytest.mark.sample(2)
@pytest.mark.parametrize(
    ("work", "tree"), [("training", "training_questions"), ("inference", "serving_questions")]
)
@pytest.mark.long
def test_each_leaf_of_the_guide_is_an_answer(work, tree):
    job = (
        {"model": "llama-3.1-8b", "work": work, "hours_most": 168}
        if work == "training"
        else {"model": "llama-3.1-8b", "work": work}
    )
    plan = options(job, catalogs()).rows[0]
    leaves = guide({**job, "batch": 64}, plan, catalogs())
    names = [leaf.job.name for leaf in leaves]
    assert {*names} <= {question.name for question in getattr(ready_jobs(), tree)}
    (several,) = [leaf for leaf in leaves if "two or more" in leaf.job.name]
    assert several.holds
    assert several.row["instances_needed"] >= 2
    for leaf in leaves:
        if leaf is several:
            continue
        alone = answer({**job, **asks_of(leaf.job, job["model"], catalogs())}, catalogs()).iloc[0]
        assert leaf.holds == (not alone["problem"])
        assert (leaf.row["instance"], leaf.row["usd_per_hour"]) == (
            alone["instance"],
            alone["usd_per_hour"],
        )
    last = guide({"model": "llama-3.1-405b", "work": "training"}, plan, catalogs())[-1]
    assert (last.holds, bool(last.options.obstacle)) == (False, True)


GUIDED = {
    "published in 8 bits": {"model": "qwen3-32b", "work": "inference", "people": 200},
    "full": {"model": "llama-3.1-8b", "method": "full"},
    "adapters": {"model": "llama-3.1-8b", "method": "lora"},
    "a service": {"model": "llama-3.1-8b", "work": "inference"},
}


@pytest.mark.sample(4)
@pytest.mark.parametrize("job", GUIDED.values(), ids=GUIDED)
def test_the_guide_begins_with_the_plan_and_is_ordered_by_money_without_doubles(job):
    plan = options(job, catalogs()).rows[0]
    leaves = guide(job, plan, catalogs())
    assert leaves[0].is_same(plan)
    trains = plan["work"] == "training"
    own = [
        method_name(leaf.row, catalogs()) == method_name(plan, catalogs())
        if trains
        else matrix_bits(leaf.row, catalogs()) == matrix_bits(plan, catalogs())
        for leaf in leaves
        if leaf.holds
    ]
    assert own == sorted(own, reverse=True)
    usd = [leaf.row["usd"] for leaf in leaves if leaf.holds]
    assert usd == sorted(usd[: sum(own)]) + sorted(usd[sum(own) :])
    yes = [leaf for leaf in leaves if leaf.holds]
    assert not any(a.is_same(b.row) for i, a in enumerate(yes) for b in yes[i + 1 :])


def test_the_plans_own_answer_is_marked_in_the_guide():
    job = {"model": "llama-3.1-8b", "work": "training", "method": "full"}
    row = options(job, catalogs()).rows[0]
    leaves = guide(job, row, catalogs())
    (planned,) = [leaf for leaf in leaves if leaf.is_same(row)]
    assert planned.job.name == "Does full training fit on one instance?"
    shown = [leaf_words("Question", leaf, row, catalogs())["Question"] for leaf in leaves]
    assert [("your plan" in words) for words in shown] == [leaf is planned for leaf in leaves]
    branches = [branch(leaf, row) for leaf in leaves]
    tree = guide_tree('A "job"', branches, INKS["light"])
    assert r'root [label="A \"job\""]' in tree
    assert tree.count("-> leaf") == len(leaves)
    assert tree.count("-> choice") == len({leaf.job.asks["method"] for leaf in leaves})
    assert tree.count("penwidth=3") == 1
    assert f"{place(row)}\\n{about(row['usd'])} in" in tree
    needed = leaf_words("Question", planned, row, catalogs())["Memory of each GPU"]
    assert needed.startswith(three_digits(row["needed_bytes"] / GIB))


TABS = ("GPUs", "Precision and task", "Methods", "Decision guide")


def opened_at(tab, **query):
    app = opened("explore", **query)
    app.session_state["explore_tab"] = tab
    return run(app)


@pytest.mark.sample(2)
@pytest.mark.parametrize(
    "query",
    [
        {"model": "llama-3.2-1b", "instance": "g6e.12xlarge"},
        {"model": "qwen2.5-7b", "goal": "serve"},
    ],
)
def test_every_tab_shows_its_rows_while_it_is_open(query):
    app = opened("explore", **query)
    assert title(app).startswith("Explore around ")
    tabs = [tab for tab in TABS if "goal" not in query or tab != "Methods"]
    for tab in tabs:
        app.session_state["explore_tab"] = tab
        panes = {pane.label: pane for pane in run(app).tabs}
        assert [name for name in panes if name in TABS] == tabs
        assert len(panes[tab].children) > 1, tab
        assert not app.error, tab


@pytest.mark.sample(3)
@pytest.mark.parametrize(
    ("tab", "column", "key"),
    [
        ("GPUs", "gpus", "use_explore_gpus"),
        ("Precision and task", "precision", "use_precision"),
        ("Methods", "optimizer", "use_optimizer"),
    ],
)
def test_a_row_of_a_comparison_becomes_the_plan(tab, column, key):
    app = opened_at(tab, model="llama-3.2-1b", instance="g6e.12xlarge")
    before, box = by_hand(app, column), app.selectbox(key=key)
    run(box.set_value(box.options[-1]))
    assert by_hand(app, column) not in ([], before)


@pytest.mark.bench
def test_a_leaf_of_the_guide_becomes_the_plan():
    app = opened_at("Decision guide", model="llama-3.1-8b")
    (qlora,) = [button for button in app.button if button.label.startswith("Does QLoRA fit on one")]
    run(qlora.click())
    assert app.session_state["method"] == "qlora"
    assert app.session_state["gpus"] == [1]
