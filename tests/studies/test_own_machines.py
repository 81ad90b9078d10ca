"""Jobs on your own machines: the fastest layout is the answer, and a bad list is refused."""

import pandas as pd
import pytest
from plain_answers import serving_rows, training_rows

from calc import estimate
from calc.answers.full_answer import full_answer as options
from calc.job.columns import TIE_RATIO
from calc.say.numbers import usd

HAVE = "2 x p4d.24xlarge + 4xa10g"
OWNED = [
    {"model": "llama-3.2-1b", "sequence_tokens": 2048},
    {"work": "inference", "model": "llama-3.1-8b", "users": 12, "fewest_bits": 16},
]


@pytest.mark.sample(2)
@pytest.mark.parametrize("job", OWNED)
def test_on_machines_that_are_there_the_fastest_of_every_arrangement_is_the_answer(catalogs, job):
    owned, rented = options(job | {"have": HAVE}, catalogs), options(job, catalogs)
    rows_of_job = serving_rows if "work" in job else training_rows
    same_cards = {"instance": ["p4d.24xlarge", "g5.12xlarge"], "instances_most": 2}
    rows = [
        row
        for row in rows_of_job(job | same_cards, catalogs)
        if row["instance"] == "p4d.24xlarge" or row["gpus"] <= 4
    ]
    rows = [
        row | ({"instance": "", "gpu": "a10g"} if row["instance"] == "g5.12xlarge" else {})
        for row in rows
    ]
    results = pd.DataFrame(
        estimate(pd.DataFrame(rows).assign(start_seconds=0), catalogs, solve=False)
    )
    sound = results[
        (results["problem"] == "") & (results["fits"] == "yes") & (results["runs"] == "yes")
    ]
    if "work" in job:
        sound = sound[
            (sound["time_to_first_token_seconds"] <= 4)
            & (sound["time_per_output_token_seconds"] <= 0.08)
        ]
    column = "time_per_output_token_seconds" if "work" in job else "run_hours"
    answer_row = owned.answers.iloc[0]
    assert (answer_row["answer"], answer_row["problem"], len(owned.answers)) == ("fastest", "", 1)
    assert answer_row[column] == pytest.approx(sound[column].min(), rel=TIE_RATIO - 1)
    best = sound.groupby("gpu", observed=True)[column].min()
    assert owned.board.set_index("gpu")[column].to_dict() == pytest.approx(
        best.to_dict(), rel=TIE_RATIO - 1
    )
    assert owned.answers[["usd", "usd_per_hour"]].isna().all(axis=None)
    assert usd(rented.rows[0]["usd"]) in answer_row["why"]
    again = options(owned.job, catalogs)
    pd.testing.assert_frame_equal(again.answers, owned.answers)


@pytest.mark.parametrize(
    ("have", "sentence"),
    [
        ("8 x a100", "have '8 x a100' is not a GPU or instance"),
        ("0 x p4d.24xlarge", "have '0 x p4d.24xlarge' is not 1 to 512 of them"),
        ("p4d.24xlarge + 600 x l4", "have '600 x l4' is not 1 to 512 of them"),
        ("p4d.24xlarge +", "have '' is not a GPU or instance"),
        ("2 p4d.24xlarge 3", "have '2 p4d.24xlarge 3' is not a GPU or instance"),
    ],
)
def test_machines_that_cannot_be_read_are_named_in_a_sentence(catalogs, have, sentence):
    problem = options({"model": "llama-3.2-1b", "have": have}, catalogs).problem
    assert problem.startswith(sentence)
    assert problem.count(". ") == 0
