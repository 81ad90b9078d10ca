"""Ready set-ups: each is a link that is understood whole and has an answer; a click starts from it and Undo goes back."""

import pytest
from examples import catalogs
from pages import opened, run, title

from calc.catalogs.load import FOLDER, read_document
from calc.files.link import link
from calc.files.setups import setups
from calc.search.job_fields import BY_HAND, JOB, job_of
from calc.search.options import options
from views.session.job_state import FIRST_VISIT


@pytest.mark.parametrize("setup", setups(), ids=lambda setup: setup.name)
def test_a_setup_is_understood_whole_and_answered(setup):
    query, complaints = link.parse(setup.query, catalogs())
    assert not complaints
    several = ("regions", "markets")
    named = {name: value for name, value in query.items() if name in JOB}
    one = {name: value[0] if isinstance(value, list) and name not in several else value for name, value in named.items()}
    fields = {**FIRST_VISIT, **one}
    by_hand = {name: value if isinstance(value, list) else [value] for name, value in query.items() if name in BY_HAND}
    result = options(job_of(fields, by_hand), catalogs())
    assert result.problem == ""
    assert result.answers["answer"].iloc[0].startswith("least-money")


def test_there_are_a_dozen_no_two_alike_and_a_click_starts_from_one():
    read = setups()
    assert len(read) >= 12
    for entry, setup in zip(read_document(FOLDER, "setups")["setups"], read, strict=True):
        assert entry["asks"].keys() <= setup.query.keys()  # a name that nobody knows would be left out in silence
    assert len({setup.name for setup in read}) == len({repr(setup.query) for setup in read}) == len(read)
    app = opened(model="qwen2.5-7b", precision="bf16")
    before = title(app)
    app.session_state["setups"] = True
    run(app)
    run(app.button(key="setup_8").click())
    assert title(app).startswith("Serving Llama 3.1 8B with 16 requests at once")
    assert app.session_state["precision"] == []
    run(app.button(key="undo").click())
    assert title(app) == before
