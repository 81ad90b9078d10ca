"""Compare and bill: one ticked answer of each job, the bill of the ticked ones."""

import re

import pytest
from examples import bill_row
from pages import address, loose, opened, page_text, run, title, turned

from calc.plan.plan_bill import answers_by_job
from calc.say.answer_name import answer_name, other_work
from calc.say.cases import Money
from views.compare_and_bill.answers import COPY, DOWN, PLAN, REMOVE, RENAME, UP
from views.compare_and_bill.differences import in_a_line

HOLD = {
    "model": "llama-3.1-8b",
    "instance": "p5.48xlarge",
    "gpus": 8,
    "sharding": "zero3",
    "train_tokens": 1e9,
}
COMMON = (
    "model~llama-3.1-8b~gpus~8~sharding~zero3~instance~p5.48xlarge~sequence_tokens~4096"
    "~train_tokens~150000000~plan_months~1"
)
PLAIN = f"plain~market~on-demand~{COMMON}"
EIGHT_BIT = f"8-bit~market~on-demand~{COMMON}~optimizer~adamw-8bit"
ON_SPOT = f"on spot~market~spot~{COMMON}"
SERVED = (
    "served~market~on-demand~work~inference~model~llama-3.1-8b~instance~g6e.xlarge"
    "~implementation~vllm~batch~8"
)
NO_PRICE = "a card~market~on-demand~model~llama-3.2-1b~gpu~h100-80gb-sxm"
REFUSED = f"refused~market~on-demand~{COMMON}~tensor_parallel~3"


def names(app):
    return [text.split("~")[0] for text in address(app).get("kept", [])]


def in_bill(app):
    """The names of the ticked answers."""
    return [box.label.split("**")[1] for box in app.checkbox if box.value]


def more(app, place, action):
    return run(app.menu_button(key=f"more_{place}").set_value(action))


def cells(app):
    """The figures of the answers, a text for each."""
    return [
        re.sub(r"<[^>]+>", " ", part.proto.body)
        for part in app.get("html")
        if "Memory, of its card" in part.proto.body
    ]


def lines(app):
    """The bill as it stands in its table, without the jobs in brackets."""
    return [
        [re.sub(r" \(.*\)$", "", loose(str(cell)).replace("\\", "").strip("*")) for cell in row]
        for row in app.table[0].value.to_numpy()
    ]


def figures(app):
    """The figures side by side, opened."""
    app.session_state["side_by_side_open"] = True
    return run(app)


def test_with_nothing_kept_the_present_answer_is_the_bill():
    app = opened("compare")
    plan = opened()
    money = re.search(r"\$[\d,.]*\d", title(plan).replace("\\", ""))[0]
    assert title(app).replace("\\", "") == f"{money} once"
    assert "Keep an answer on Plan to compare it" in page_text(app)
    assert (list(app.checkbox), list(app.menu_button)) == ([], [])
    assert lines(app)[0][1:4] == [money, "", money]
    assert lines(app)[0][4].endswith(" once")  # GPU-hours


@pytest.mark.bench
def test_one_answer_of_each_job_is_ticked_and_another_tick_moves_it():
    app = opened("compare", kept=[PLAIN, EIGHT_BIT, SERVED])
    assert "2 jobs, 3 kept answers; the ticked one of each job is in the bill." in page_text(app)
    assert in_bill(app) == ["plain", "served"]
    assert [line[0].split(",")[0] for line in lines(app)] == ["plain", "served", "Together"]
    run(app.checkbox(key="in_bill_1_8-bit").check())
    assert in_bill(app) == ["8-bit", "served"]
    assert ["in_bill~yes" in text for text in address(app)["kept"]] == [False, True, False]
    again = turned(
        opened(**{name: values for name, values in address(app).items() if name != "view"}),
        "compare",
    )
    assert in_bill(again) == ["8-bit", "served"]
    run(again.checkbox(key="in_bill_1_8-bit").uncheck())  # one of each job stays in the bill
    assert in_bill(again) == ["8-bit", "served"]
    run(more(again, 1, REMOVE))
    assert in_bill(again) == ["plain", "served"]


def test_a_run_is_paid_once_and_a_service_by_the_month(catalogs):
    app = opened("compare", kept=[PLAIN, SERVED])
    run_row = bill_row(catalogs, **HOLD | {"train_tokens": 1.5e8, "sequence_tokens": 4096})
    first, served, together = lines(app)
    assert first[0].startswith("plain, 1 run, $")
    assert first[0].endswith("of it for starting")
    assert (first[1], first[2], first[3]) == (
        f"${run_row['usd']:,.0f}",
        "",
        f"${run_row['usd']:,.0f}",
    )
    month, year = (float(served[column].strip("$").replace(",", "")) for column in (2, 3))
    assert served[0] == "served, 730 h"
    assert year == pytest.approx(12 * month, rel=1e-3)
    assert together[2] == served[2]
    assert re.fullmatch(r"\$[\d,]+ once, and \$[\d,]+ a month", title(app).replace("\\", ""))


def test_a_run_without_a_cost_names_no_dollars_for_its_start():
    no_tokens = "no tokens~model~qwen3-32b~gpus~2~instance~g6e.12xlarge"
    app = opened("compare", kept=[no_tokens, SERVED])
    first = lines(app)[0]
    assert first[0].startswith("no tokens, 1 run")
    assert [cell for cell in first if "$" in cell] == []


def test_the_others_say_money_time_and_cause_against_the_ticked_one():
    app = opened(
        "compare",
        kept=[PLAIN, f"b200~market~on-demand~{COMMON.replace('p5.48', 'p6-b200.48')}", ON_SPOT],
    )
    first, faster, cheaper = cells(app)
    assert "the one in the bill" in first
    assert re.search(
        (
            r"\+\$[\d.]+, \d+ min less: [\d.]+ times the tokens a second at [\d.]+ times the "
            r"price of an hour"
        ),
        faster,
    )
    assert re.search(r"−\$\d+.*on spot", cheaper)


def test_other_work_is_named_in_bold(catalogs):
    full, lora = (
        bill_row(
            catalogs, **HOLD | {"gpus": 1, "instance": "p5.4xlarge", "sharding": "none"} | more
        )
        for more in ({"precision": "bf16"}, {"precision": "bf16", "tuning": "lora"})
    )
    assert other_work(full, lora, catalogs) == ["trains adapters only"]
    assert other_work(full, full | {"optimizer": "adamw-8bit"}, catalogs) == [
        "steps with AdamW 8-bit"
    ]
    assert other_work(full, full | {"step_tokens": 4 * full["step_tokens"]}, catalogs)[
        0
    ].startswith("takes ")
    assert "<b>trains adapters only</b>" in in_a_line(full, lora, Money(0), catalogs)
    assert [answer_name(row, catalogs) for row in (full, lora)] == [
        "Full · p5.4xlarge",
        "LoRA · p5.4xlarge",
    ]
    assert answer_name(lora | {"precision": "nf4-dq"}, catalogs) == "QLoRA · p5.4xlarge"


def test_without_a_tick_the_first_answer_of_a_job_is_in_the_bill():
    jobs = answers_by_job(["a", "b", "a", "a"], [False, False, False, True])
    assert [(job.job, job.places, job.ticked) for job in jobs] == [
        ("a", [0, 2, 3], 3),
        ("b", [1], 1),
    ]
    assert [job.ticked for job in answers_by_job(["a", "a"], [False, False])] == [0]


def test_choices_that_differ_come_first_and_differences_say_why():
    app = figures(opened("compare", kept=[PLAIN, EIGHT_BIT, ON_SPOT]))
    differing = app.table[-3].value
    assert list(differing.iloc[:, 0]) == ["Market", "Optimizer"]
    assert list(differing.columns[1:]) == ["plain", "8-bit", "on spot"]
    for words in (": optimizer state", "on spot instead of on demand", "against plain"):
        assert words in page_text(app)


def test_the_components_side_by_side_are_those_of_the_plan_and_sum_to_what_must_fit():
    """The allocator's cache stands beside them: it was counted as overhead."""
    app = figures(opened("compare", kept=[PLAIN, EIGHT_BIT]))
    table = app.table[-2].value.set_index("").iloc[:, 0]
    needed, *parts = (
        float(size.split()[0])
        for label, size in table.items()
        if label.startswith((":color", "What must fit")) and size != "–"
    )
    assert sum(parts) == pytest.approx(needed, rel=0.01)
    assert "GiB" in table["Allocator's cache beside it"]


def test_an_answer_without_a_price_and_one_that_is_refused_stand_beside_the_others():
    app = opened("compare", kept=[PLAIN, NO_PRICE, REFUSED])
    assert "no price" in cells(app)[-1]
    assert "1 answer without a price is not in it." in page_text(app)
    assert "do not divide" in app.error[0].value
    assert [PLAN in button.options for button in app.menu_button] == [True, False, True]
    assert "✗ does not fit" not in cells(app)[0]
    assert (
        "GiB over"
        in cells(opened("compare", kept=[PLAIN, f"too large~market~on-demand~{COMMON}~batch~16"]))[
            1
        ]
    )


def test_answers_are_renamed_moved_copied_and_removed():
    app = opened("compare", kept=[PLAIN, EIGHT_BIT])
    more(app, 0, RENAME)
    app.text_input(key="new_name").set_value("as it is")
    run(app.button(key="rename").click())
    assert names(app) == ["as it is", "8-bit"]
    assert names(more(app, 0, DOWN)) == ["8-bit", "as it is"]
    assert names(more(app, 1, UP)) == ["as it is", "8-bit"]
    assert names(more(app, 1, COPY)) == ["as it is", "8-bit", "8-bit 2"]
    assert names(more(app, 0, REMOVE)) == ["8-bit", "8-bit 2"]
    for _ in range(5):
        run(app.button(key="undo").click())
    assert names(app) == ["plain", "8-bit"]


@pytest.mark.bench
def test_a_run_and_a_month_are_not_compared_and_either_becomes_the_plan():
    app = figures(opened("compare", kept=[PLAIN, SERVED]))
    assert "a run and a month: their cost is not compared" in page_text(app)
    more(app, 1, PLAN)
    assert address(app)["goal"] == ["serve"]
    assert names(app) == ["plain", "served"]


@pytest.mark.bench
def test_the_plan_that_an_answer_became_costs_what_it_cost():
    rest = "tensor_parallel~1~batch~1"
    app = opened(
        "compare",
        kept=[
            PLAIN,
            f"older~market~on-demand~{COMMON.replace('p5.48', 'p4d.24')}~recompute~full~{rest}",
        ],
    )
    for place in (0, 1):
        turned(app, "compare")
        more(app, place, PLAN)
        cost = re.search(r"\$[\d,.]+", cells(app)[place])[0]
        turned(app, "pay")
        assert (
            title(run(app)).replace("\\", "")
            == f"About {cost} once: Fine-tune Llama 3.1 8B on 150 million tokens"
        )


@pytest.mark.bench
def test_of_more_than_six_the_six_chosen_are_side_by_side():
    app = figures(
        opened("compare", kept=[PLAIN.replace("plain", f"copy {number}") for number in range(8)])
    )
    assert len(app.multiselect(key="side_by_side").value) == 6
    run(app.multiselect(key="side_by_side").set_value(["copy 7", "copy 2"]))
    *_, differing, alike = (list(table.value.columns[1:]) for table in app.table)
    assert (differing, alike) == (["copy 2", "copy 7"], ["Value"])  # what all share is said once
    more(app, 7, RENAME)
    app.text_input(key="new_name").set_value("last")
    run(app.button(key="rename").click())
    assert app.multiselect(key="side_by_side").value == ["last", "copy 2"]


@pytest.mark.bench
def test_runs_months_and_a_discount_change_the_bill():
    app = opened("compare", kept=[PLAIN, SERVED])
    before = lines(app)
    app.session_state["planned"] = True
    run(app)
    run(app.number_input(key="plan_months_0").set_value(5))
    run(app.number_input(key="runs_per_month_0").set_value(4.0))
    assert lines(app)[0][0].startswith("plain, 4 runs a month for 5 months")
    run(app.number_input(key="bill_discount").set_value(50.0))
    assert lines(app)[1][0] == "served, 730 h, 50 % less"
    halves = [float(table[1][2].strip("$").replace(",", "")) for table in (before, lines(app))]
    assert halves[1] == pytest.approx(halves[0] / 2, rel=0.01)
    assert lines(app)[1][4] == before[1][4] != ""  # GPU-hours, which no discount changes
    assert address(app)["paid_ratio"] == ["0.5"]
    run(app.button(key="undo").click())
    assert lines(app)[1] == before[1]


def test_what_one_could_sign_for_costs_less_and_says_what_it_binds_to():
    app = opened("compare", kept=[SERVED])
    signed = app.table[1].value
    assert list(signed.columns[1:]) == ["A month", "You sign for", "Breaks even from"]
    assert signed.iloc[0, 2] == "nothing"
    assert all("h a month" in text for text in signed.iloc[1:, 3])
    assert "You pay for each hour of the year, used or not" in page_text(app)
    assert "A spare instance for Llama 3.1 8B, served: $" in page_text(app)
    unlisted = page_text(opened("compare", kept=[SERVED.replace("g6e.xlarge", "g7e.2xlarge")]))
    assert "No price of a commitment is known for served" in unlisted
    once = page_text(opened("compare", kept=[PLAIN]))
    assert "No commitment costs less" in once
    assert "Another attempt at Llama 3.1 8B, plain: $" in once


def test_machines_that_one_has_are_not_paid():
    app = opened(have="8 x h100-80gb-sxm")
    run(
        app.button(
            key=next(
                button.key for button in app.button if button.key and button.key.startswith("keep")
            )
        ).click()
    )
    assert "have~8 x h100-80gb-sxm" in address(app)["kept"][0]
    turned(app, "compare")
    assert title(app) == "Nothing to pay: the machines are your own"
    assert "yours" in cells(app)[0]
    assert re.search(r"Time\W+\d+ min", cells(app)[0])
    assert lines(app)[0][0].endswith("1 run, on your machines")
    assert "Rented, the same job costs $" in page_text(opened("compare", have="8 x h100-80gb-sxm"))
