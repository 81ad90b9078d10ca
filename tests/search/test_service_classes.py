"""Service classes: their defaults, what a job says over them, and their words."""

import pytest
from pages import address, opened, page_text, run

from calc import answer
from calc.files.request import PASTED, request_of
from calc.files.request_answer import answer_request
from calc.files.words.owners import owners_of
from calc.job.columns import JOB_BY_NAME, SERVICE_CLASSES
from calc.job.resolve import resolve
from calc.job.service_classes import class_defaults, service_classes
from calc.say.job import job_sentence
from calc.scenarios.inputs import inputs_by_name

SERVED = {"work": "inference", "model": "llama-3.1-8b", "users": 8}


def test_every_class_names_columns_of_a_job_and_values_that_are_read(catalogs):
    assert tuple(sorted(service_classes())) == tuple(sorted(SERVICE_CLASSES))
    for name in SERVICE_CLASSES:
        for job in (SERVED, {"model": "llama-3.1-8b"}):
            work = job.get("work", "training")
            defaults = class_defaults(name, work)
            assert defaults.keys() <= JOB_BY_NAME.keys() | inputs_by_name().keys()
            by_class = resolve(job | {"service_class": name}, catalogs).cells
            by_hand = resolve(job | defaults, catalogs).cells
            assert by_class == by_hand | {"service_class": name}


def test_what_a_job_says_stands_over_its_class(catalogs):
    job = resolve(SERVED | {"service_class": "critical", "spare": 3, "markets": "spot"}, catalogs)
    assert (job.assumed["spare"], job.markets, job.confidence) == (3, ["spot"], "95")
    sentence = job_sentence(job.cells, catalogs)
    for words in ("on spot", "with 3 spare instances", "as critical work", "95 % confidence"):
        assert words in sentence


@pytest.mark.parametrize(
    ("text", "left", "owners"),
    [
        ("serve x, for team nlp, owner: Ana Li", "serve x", {"team": "nlp", "owner": "Ana Li"}),
        ("serve x project: docs team: a-b", "serve x", {"project": "docs", "team": "a-b"}),
        ("serve x; cost center: 4711.", "serve x", {"project": "4711"}),
        ("serve x to a team of 20 for our project planner", None, {}),
    ],
)  # fmt: skip
def test_whose_a_job_is_in_words(text, left, owners):
    rest, read = owners_of(text)
    assert read == owners
    assert rest.split() == (text if left is None else left).split()


def test_words_name_the_class_and_the_team(catalogs):
    text = b"serve llama-3.1-8b to 200 people, business critical, for team nlp"
    request = request_of([(PASTED, text)], catalogs)
    result = answer_request(request)
    assert (request.remark, result.row["team"]) == ("", "nlp")
    assert (result.job["service_class"], result.job["spare"]) == ("critical", 1)


@pytest.mark.long
def test_the_page_takes_class_and_team_to_link_kit_and_kept_answer():
    app = opened(goal="serve", team="nlp", project="search")
    app.session_state["where"] = True
    run(app)
    run(app.selectbox(key="class_chosen").set_value("critical"))
    assert (app.session_state["spare"], app.session_state["confidence"]) == (1, "95")
    assert address(app)["service_class"] == ["critical"]
    run(app.selectbox(key="class_chosen").set_value(""))
    assert (app.session_state["spare"], app.session_state["confidence"]) == (None, "75")
    app.session_state["launch_kit"] = True
    run(app)
    kits = "\n".join(code.value for code in app.code)
    assert '{"Key": "team", "Value": "nlp"}' in kits
    assert '{"Key": "plan", ' in kits
    run(app.button(key="keep").click())
    kept = app.session_state["kept"][0]
    assert (kept.team, kept.project) == ("nlp", "search")
    assert "as critical work" not in page_text(app)


def test_answers_are_rows_of_a_plan_in_which_each_job_counts_once(catalogs):
    jobs = [
        {"job": "tune", "model": "llama-3.2-1b", "instance": "g6e.xlarge", "train_tokens": 1e8},
        {"job": "chat", "instance": "g6e.xlarge+g6.xlarge", **SERVED},
    ]
    rows = answer(jobs, catalogs)
    first = rows[rows["in_bill"] == "yes"]
    assert first["scenario"].tolist() == ["tune", "chat"]
    assert first["plan_months"].tolist() == [1, 12]
    others = rows[rows["in_bill"] == "no"]
    assert all(name.startswith(("tune, ", "chat, ")) for name in others["scenario"])
    with_months = answer({**jobs[0], "plan_months": 3}, catalogs)
    assert set(with_months["plan_months"]) == {3}
