"""A CSV given to the Compare page: rows estimated, wrong rows named, wrong files answered with one sentence."""

import pytest
from pages import opened, run, title

from calc.files.csv import tables as csv_tables
from calc.files.csv.earlier import earlier
from views.compare_and_bill.earlier import _csv

ROWS = "scenario,model,gpus,sharding,instance,batch\n"
GOOD = "plain,llama-3.2-1b,1,none,g6e.xlarge,1\n"


@pytest.fixture(scope="module")
def app():
    return opened("compare")


def uploaded(app, content, name="plans.csv"):
    """The page after a file was given."""
    content = content.encode() if isinstance(content, str) else content
    run(app.file_uploader(key="uploaded").set_value((name, content, "text/csv")))
    assert title(app) == "Nothing is kept yet"
    return app


def table(app):
    """The scenarios of the file as they are shown, or None."""
    return next((frame.value for frame in app.dataframe if "max_batch" in frame.value), None)


def test_wrong_rows_unknown_columns_and_missing_cells_are_said(app):
    uploaded(app, ROWS + "wrong,no-such-model,1,none,g6e.xlarge,1\n" + GOOD + ",llama-3.2-1b,1,none,g6e.xlarge,half\n")
    assert not app.error
    assert "3 scenarios: 1 fit, 2 not understood." in " ".join(element.value for element in app.markdown)
    warning = app.warning[0].value
    assert "Row 1: " in warning
    assert "no-such-model" in warning
    assert "Row 3: batch 'half' is not a whole number" in warning
    shown = table(app)
    assert list(shown["name"]) == ["plain", "wrong", "Row 3"]
    assert list(shown["verdict"]) == ["fits", "refused", "refused"]
    assert [bool(problem) for problem in shown["problem"]] == [False, True, True]
    uploaded(app, "model,batch,gpus\nllama-3.2-1b,2\n")
    assert not app.error
    assert list(table(app)["gpus"]) == [1]
    uploaded(app, "model,colour\nllama-3.2-1b,blue\n")
    assert "'colour' that is unknown" in app.warning[0].value
    uploaded(app, ROWS + GOOD)
    app.file_uploader(key="uploaded").set_value(None).run()
    assert table(app) is None
    assert "earlier" not in app.session_state


def test_the_best_thousand_of_more_are_shown(app):
    uploaded(app, "model,batch\n" + "".join(f"gpt2,{batch}\n" for batch in range(1, 1202)))
    assert len(table(app)) == 1000
    assert any("The best 1,000 of 1,201 scenarios" in element.value for element in app.caption)


def test_what_the_page_writes_can_be_given_back_and_gives_the_same_rows_again(catalogs):
    scenarios, _ = csv_tables.scenarios_of(csv_tables.read_csv(ROWS + GOOD + "wrong,no-such-model,1,none,g6e.xlarge,1\n"), "the file")
    content = _csv(earlier(scenarios, "plans.csv", catalogs))
    again, complaints = csv_tables.scenarios_of(csv_tables.read_csv(content), "the file")
    assert not complaints
    assert _csv(earlier(again, "plans.csv", catalogs)) == content
