"""Compare choices: each cell is what the job costs with that choice, and the sentence says so."""

import pytest
from examples import catalogs

from calc.charts.choices import choices_table, takeaway
from calc.say.choices import cell_name, choice_name, decision, mark_words
from calc.search.options import options
from calc.studies.choices import Cell, Choice, cells_for, comparisons, is_plan, job_with

TUNE = {"work": "training", "model": "llama-3.2-1b", "train_tokens": 150e6}
SERVE = {"work": "inference", "model": "llama-3.1-8b", "users": 20}


def studied(job):
    answer = options(job, catalogs())
    return answer.job, answer.rows[0]


def cell(job, row, column):
    return cells_for(job, [(row, column)], catalogs())[0]


def cells_in(comparison, job):
    return cells_for(job, comparison.pairs, catalogs())


@pytest.mark.sample(2)
@pytest.mark.parametrize(
    "job", [TUNE, SERVE, TUNE | {"method": "lora"}, TUNE | {"precision": "fp8-mixed"}]
)
def test_the_cell_of_the_plan_is_the_plan_and_no_cell_beats_a_freer_job(job):
    resolved, plan = studied(job)
    for comparison in comparisons(resolved, plan, catalogs()):
        own = [
            (row, column)
            for row, column in comparison.pairs
            if is_plan(row, resolved, plan) and is_plan(column, resolved, plan)
        ]
        assert own, comparison.id
        found = cell(resolved, *own[0]).plan
        assert found["usd"] <= plan["usd"] * 1.02, comparison.id


def test_a_cell_is_the_answer_of_the_job_with_the_choice_fixed():
    resolved, plan = studied(TUNE)
    matrix = comparisons(resolved, plan, catalogs())[0]
    pure = Choice("bf16", (("precision", "bf16"),), is_pure=True)
    adafactor = Choice("adafactor", (("optimizer", "adafactor"),))
    assert (pure, adafactor) in matrix.pairs
    found = cell(resolved, pure, adafactor).plan
    asked = options({**TUNE, "precision": "bf16", "optimizer": "adafactor"}, catalogs()).rows[0]
    assert found["usd"] == pytest.approx(asked["usd"])
    assert (found["instance"], found["gpus"]) == (asked["instance"], asked["gpus"])
    assert found["usd"] < plan["usd"]


def test_a_choice_that_nothing_can_run_says_why():
    job, _ = studied({**TUNE, "model": "llama-3.1-70b", "method": "lora"})
    one_gpu = Choice("1", (("gpus", 1),))
    alone = cell({**job, "instance": "g5.xlarge"}, one_gpu, Choice(""))
    assert alone.plan is None
    assert alone.refused.obstacle


@pytest.mark.long
def test_choices_over_a_limit_are_shown_with_what_they_exceed_and_the_sentence_prefers_others():
    resolved, free = studied(TUNE)
    matrix = comparisons(resolved, free, catalogs())[0]
    pairs = [(row, column) for row, column in matrix.pairs if column.id == "adafactor"]
    least = min(one.plan["usd"] for one in cells_for(resolved, pairs, catalogs()))
    for limit, qualifying in ((least * 1.001, True), (least / 2, False)):
        job, plan = studied({**TUNE, "usd_most": limit})
        cells = cells_for(job, pairs, catalogs())
        table = choices_table(cells, "usd", job, plan, catalogs())
        assert table["value"].gt(limit).eq(~table["qualifies"]).all()
        assert table["why"].str.contains("allowed").eq(~table["qualifies"]).all()
        assert table["qualifies"].any() == qualifying
        text = decision(cells, job, plan, catalogs())
        assert ("meets every limit, unlike" in text) == qualifying
        assert ("No choice meets every limit" in text) != qualifying


def test_the_sentence_names_the_cheapest_cell_and_what_stays_if_the_column_stays():
    resolved, plan = studied({**TUNE, "model": "llama-3.1-8b"})
    matrix = comparisons(resolved, plan, catalogs())[0]
    cells = cells_in(matrix, resolved)
    cheapest = min((one for one in cells if one.plan), key=lambda one: one.plan["usd"])
    text = decision(cells, resolved, plan, catalogs())
    assert text.startswith(choice_name(cheapest.row, catalogs())[:1].upper())
    assert "With AdamW kept" in text


def test_a_plan_that_costs_no_more_than_the_cheapest_cell_is_the_only_one_marked():
    """The chart calls no other cell the cheapest if none costs less than the plan.

    A sentence that begins with a format spells its name as the catalog does.
    """
    job, plan = studied(SERVE)
    other, own, alone = (
        Choice(name, (("precision", name),) if name else ())
        for name in ("bf16", plan["precision"], "")
    )
    cheaper = plan | {"usd": 0.995 * plan["usd"]}
    cells = [Cell(other, alone, job, cheaper), Cell(own, alone, job, plan)]
    table = choices_table(cells, "usd", job, plan, catalogs())
    assert table["mark"].tolist() == ["", "plan"]
    assert cell_name(cells[0], catalogs()) == "bf16"


def test_the_cheapest_is_marked_as_about_so_if_another_cell_shows_a_smaller_amount():
    job, plan = studied(SERVE)
    formats, caches = ("bf16", "fp8"), ("bf16", "fp8")
    axes = [
        [Choice(value, ((name, value),)) for value in values]
        for name, values in (("precision", formats), ("kv_precision", caches))
    ]
    pairs = [(row, column) for row in axes[0] for column in axes[1]]
    costs = dict(zip(pairs, (900, 900, 508, 507), strict=True))
    own = plan | {"usd": 1000.0, "precision": "nvfp4"}
    for least, word in ((507, "≈ cheapest"), (508, "cheapest")):
        cells = [Cell(*pair, job, plan | {"usd": max(usd, least)}) for pair, usd in costs.items()]
        table = choices_table(cells, "usd", job, own, catalogs())
        assert table["mark"].tolist() == ["", "", word, ""]
        assert decision(cells, job, own, catalogs()).count("$508") == 1


def test_the_least_of_a_measure_is_named_before_the_cost_and_a_tie_with_the_plan_is_no_mark():
    job, plan = studied(TUNE)
    several = [Choice(name, (("optimizer", name),)) for name in ("adamw", "lion", "sgd")]
    own, alone = plan | {"optimizer": "adamw"}, Choice("")

    def cells_at(*hours):
        plans = [own | {"optimizer": one.id} for one in several]
        return [
            Cell(one, alone, job, row | {"hours": time})
            for one, row, time in zip(several, plans, hours, strict=True)
        ]

    for hours, marks in (((4, 2, 3), ["plan", "fastest", ""]), ((4, 3.99, 3.98), ["plan", "", ""])):
        cells = cells_at(*hours)
        table = choices_table(cells, "hours", job, own | {"hours": 4}, catalogs())
        assert table["mark"].tolist() == marks
    said = takeaway(cells_at(4, 2, 3), "hours", job, own | {"hours": 4}, catalogs())
    assert said.startswith(f"Fastest: Lion, 2.0 h on {plan['instances_needed']:.0f} × ")
    assert said.endswith(decision(cells_at(4, 2, 3), job, own | {"hours": 4}, catalogs()))


def test_machines_that_are_not_on_demand_are_marked_and_the_mark_is_explained():
    job, plan = studied(TUNE)
    alone, one = Choice(""), Choice("bf16", (("precision", "bf16"),), is_pure=True)
    cells = [Cell(one, alone, job, plan | {"market": market}) for market in ("on-demand", "spot")]
    table = choices_table(cells, "usd", job, plan, catalogs())
    name = f"{plan['instances_needed']:.0f} × {plan['instance']}"
    assert table["machine_line"].tolist() == [name, f"{name} †"]
    assert table["machine"].tolist() == [name, f"{name} on spot"]
    assert mark_words(cells, "training", catalogs()) == "◇ Check the quality. † On spot."
    assert "†" not in mark_words(cells[:1], "training", catalogs())


def test_the_sentence_says_each_cost_as_its_cell_does_and_nothing_twice():
    """The sentence says what stays with the plan's column if the cheapest cell has another one."""
    formats = [Choice(name, (("precision", name),)) for name in ("fp8", "bf16")]
    caches = [Choice(name, (("kv_precision", name),)) for name in ("bf16", "fp8")]
    job, plan = {}, {"usd": 211.4, "answer": "least-money", "work": "inference", "instance": ""}
    plan |= {"precision": "fp8", "kv_precision": "bf16", "is_once": True, "hours": float("nan")}
    plan |= {"gpu": "L4", "gpus": 1, "market": "on-demand"}
    plan |= {"model": "gpt2", "time_per_output_token_seconds": 0.02}

    def said(*costs):
        pairs = [(row, column) for row in formats for column in caches]
        return decision(
            [Cell(*pair, job, plan | {"usd": usd}) for pair, usd in zip(pairs, costs, strict=True)],
            job,
            plan,
            catalogs(),
        )

    assert said(211.4, 300, 300, 300) == "The plan is the cheapest of these at $211."
    assert said(211.4, 211.4, 300, 300) == "No choice costs less than the plan, $211."
    assert said(211.4, 300, 210, 300) == "No choice costs over 1 % less than the plan, $211."
    assert said(211.4, 128, 128, 129).count("; 2 other choices tie within 1 %") == 1
    assert "kept" not in said(211.4, 300, 150, 200)
    assert said(211.4, 300, 185.6, 128).endswith(" kept, bf16 costs $186, 12 % less.")


def test_the_sentence_on_a_load_gives_the_cost_of_the_least_and_of_the_most():
    """A smaller load always costs less, so it is no better choice."""
    job, plan = studied(SERVE)
    loads = {10.0: 0.5, 20.0: 1.0, 40.0: 3.0}
    cells = [
        Cell(
            Choice(f"{users:g}", (("users", users),)),
            Choice(""),
            job,
            plan | {"usd": 1000 * ratio},
        )
        for users, ratio in loads.items()
    ]
    text = decision(cells, job, plan | {"usd": 1000.0}, catalogs())
    where = f"{plan['instances_needed']:.0f} × {plan['instance']}"
    assert text == (
        f"The plan costs $1,000. 10 requests in flight on {where} cost $500, 50 % less. "
        f"40 requests in flight on {where} cost $3,000, 3.0 times as much."
    )


@pytest.mark.long
def test_the_table_of_a_chart_holds_every_cell_once_and_marks_the_plan():
    resolved, plan = studied(TUNE)
    for comparison in comparisons(resolved, plan, catalogs()):
        cells = cells_in(comparison, resolved)
        for measure in ("usd", "hours", "gpu_hours", "memory_gib"):
            table = choices_table(cells, measure, resolved, plan, catalogs())
            assert len(table) == len(comparison.pairs)
            assert not table.duplicated(["row", "column"]).any(), comparison.id
            assert (table["mark"] == "plan").sum() == 1, comparison.id
        assert table["text"].ne("").all()


def test_a_choice_frees_what_contradicts_it():
    job = {"fewest_bits": "16", "people": 40, "tuning": "full", "model": "gpt2"}
    assert job_with(job, Choice("fp8", (("precision", "fp8"),))).keys() == {
        *("people", "tuning", "model", "precision")
    }
    assert "people" not in job_with(job, Choice("8", (("users", 8.0),)))
    assert "sequence_tokens" not in job_with(
        {"sequence_tokens": 4096}, Choice("8", (("prompt_tokens", 8.0),))
    )
    assert "tuning" not in job_with(job, Choice("lora", (("method", "lora"),)))


def test_gpu_hours_are_the_paid_gpus_times_the_hours():
    _, plan = studied(TUNE)
    assert plan["gpu_hours"] == pytest.approx(plan["gpus_paid"] * plan["hours"])
    _, service = studied(SERVE)
    assert service["gpu_hours"] == pytest.approx(service["gpus_paid"] * 730)


def test_the_load_of_a_service_of_a_rate_is_its_rate():
    """The plan is at the rate, however small, and each load has its own."""
    resolved, plan = studied(SERVE | {"requests_per_second": 0.5})
    (load,) = (one for one in comparisons(resolved, plan, catalogs()) if one.id == "load")
    rates = [dict(choice.sets)["requests_per_second"] for choice in load.rows]
    assert rates == [0.125, 0.25, 0.5, 1.0, 2.0]
    assert [is_plan(choice, resolved, plan) for choice in load.rows] == [
        *(False, False, True, False, False)
    ]
    names = [choice_name(choice, catalogs()) for choice in load.rows[2:4]]
    assert names == ["0.5 requests a second", "1 request a second"]
