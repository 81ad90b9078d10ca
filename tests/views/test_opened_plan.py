"""A link of an earlier day: what its answer was, what has moved since and whose doing that is;
ready set-ups are links too.
"""

import re
import shutil

import pytest
from examples import catalogs as the_catalogs
from examples import recorded
from pages import address, loose, opened, page_text, run, title, turned

from calc import load_catalogs, versions
from calc.catalogs.load import FOLDER
from calc.catalogs.rooms import path_of
from calc.files.link import link
from calc.job.fields import BY_HAND, job_of
from calc.search.options import options
from calc.studies.guide import ready_jobs
from views.session.job_state import FIRST_VISIT


def of_then(query, **figures):
    """The query of an earlier day: these figures of its answer as they were then, times a number or
    as a word.
    """
    text = query["then"][0]
    for name, changed in figures.items():
        pattern = rf"(then_{name}~)([^~]+)"
        text = re.sub(
            pattern,
            lambda match, by=changed: (
                match[1] + (by if isinstance(by, str) else f"{float(match[2]) * by:.6g}")
            ),
            text,
        )
    return query | {"then": [text]}


@pytest.fixture(scope="module")
def today():
    return address(opened(model="llama-3.2-1b"))


def notice(app):
    return loose("\n".join(element.value for element in app.info).replace("\\", ""))


def test_what_changed_since_is_said_until_it_is_dismissed(today):
    app = opened(**of_then(today, made_on="2026-01-02"))
    assert notice(app) == ""
    assert address(app)["then"][0].endswith(today["then"][0].partition("then_facts")[2])
    app = opened(**of_then(today, made_on="2026-01-02", usd=2))
    run(app.button(key="dismiss_then").click())
    assert notice(app) == ""
    assert address(app)["then"] == today["then"]
    query = of_then(today, made_on="2026-01-02")
    query["then"] = [query["then"][0].replace("g6e.xlarge", "p5.48xlarge")]
    app = opened(**query)
    assert "Another answer comes first today: the heading has it." in notice(app)
    assert "1 × p5.48xlarge on demand in N. Virginia" in notice(app)
    assert "g6e.xlarge" in title(app)
    query = of_then(today, made_on="2026-01-02")
    query["then"] = [query["then"][0] + "~gpus~3~tensor_parallel~2"]
    assert re.search(r"Today it cannot be estimated: .*tensor", notice(opened(**query)))


@pytest.mark.sample(3)
@pytest.mark.parametrize(("then", "sentence"), recorded("cases/opened_plan.json")["moved"])
def test_what_has_moved_is_said_with_whose_doing_it_is(today, then, sentence):
    text = notice(opened(**of_then(today, made_on="2026-01-02", **then)))
    assert re.search(sentence, text)
    assert text == "" or text.startswith("Made on 2 January 2026: about $")


def test_it_is_carried_on_until_the_plan_is_another_one(today):
    query = of_then(today, made_on="2026-01-02", usd=2)
    app = opened(**query)
    assert address(app)["then"] == query["then"]
    run(app.button(key="keep_then").click())
    assert address(app)["kept"][0].endswith(query["then"][0].partition("~then_")[2])
    assert notice(app)
    turned(app, "compare")
    assert "The total cost: $10.99 → $5.50 (50 % less)." in notice(app)
    turned(app, "plan")
    run(app.selectbox(key="model").set_value("gpt2"))
    assert "Made on" not in notice(app)
    assert "then_made_on~2026-01-02" not in address(app)["then"][0]


@pytest.mark.parametrize(
    ("file", "before", "after", "facts_too"), recorded("cases/opened_plan.json")["edits"]
)
def test_a_price_is_no_fact_and_a_fact_is_none_of_the_prices(
    file, before, after, facts_too, tmp_path, catalogs
):
    folder = shutil.copytree(FOLDER, tmp_path / "catalogs")
    path = path_of(file, folder)
    text = path.read_text("utf-8")
    assert before in text
    path.write_text(text.replace(before, after, 1), "utf-8")
    changed = load_catalogs(folder)
    assert changed.version != catalogs.version
    assert (changed.facts_version != catalogs.facts_version) == facts_too


def test_another_formula_is_another_version_and_other_words_are_none(tmp_path, monkeypatch):
    folder = shutil.copytree(versions.FOLDER, tmp_path / "calc")
    monkeypatch.setattr(versions, "FOLDER", folder)
    of_folder = versions.formulas_version.__wrapped__
    assert of_folder() == versions.formulas_version()
    with (folder / "files" / "link" / "link.py").open("a") as file:
        file.write("# other words\n")
    assert of_folder() == versions.formulas_version()
    with (folder / "memory" / "weights.py").open("a") as file:
        file.write("# another formula\n")
    assert of_folder() != versions.formulas_version()


@pytest.mark.bench
@pytest.mark.parametrize("kind", ["setups", "use_cases"])
def test_every_ready_job_is_understood_whole_and_answered(kind):
    jobs = getattr(ready_jobs(), kind)
    for job in jobs:
        by_hand = {name: [value] for name, value in job.asks.items() if name in BY_HAND}
        answered = options(job_of({**FIRST_VISIT, **job.asks}, by_hand), the_catalogs())
        assert not answered.obstacle, job.name
        row = answered.rows[0]
        assert row["answer"].startswith("least-money")
        choices, complaints = link.parse(link.compose(job.asks), the_catalogs())
        # A name that nobody knows would be left out in silence.
        assert (choices.keys(), complaints) == (
            job.asks.keys(),
            [],
        )
        named = [name for name in job.asks if name in row]
        assert {name: row[name] for name in named} == {name: job.asks[name] for name in named}
    assert len({repr(job.asks) for job in jobs}) == len(jobs)


def test_fine_tuning_asks_for_an_objective_and_the_sentence_names_it():
    app = opened(goal="tune", have="8 x h100-80gb-sxm")
    (box,) = [box for box in app.selectbox if box.label == "Objective"]
    box.select("dpo")
    assert "Llama 3.1 8B with DPO on" in page_text(run(app))
