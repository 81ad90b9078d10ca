"""A CSV of an earlier meeting comes back: what it said then, what is new, changed or not understood."""

import pytest
from examples import table

from calc.files.csv import tables as csv_tables
from calc.files.csv.earlier import earlier, standings
from calc.plan.bill import billed
from calc.scenarios.problems import TableError

HOLD = {"model": "llama-3.1-8b", "instance": "p5.48xlarge", "gpus": 8, "sharding": "zero3", "train_tokens": 1e9}
NAMED = ({"scenario": "plain"}, {"scenario": "8-bit", "optimizer": "adamw-8bit"}, {"scenario": "longer", "train_tokens": 2e9})


@pytest.fixture(scope="module")
def kept(catalogs):
    return billed(table(NAMED, **HOLD).assign(market=["on-demand", "spot", "on-demand"]), catalogs)


def read_earlier(content, name, catalogs):
    return earlier(csv_tables.read_csv(content, name), name, catalogs, solve=False)


def unread(content, catalogs):
    return read_earlier(content, "plans.csv", catalogs).unread


def test_what_was_written_comes_back_as_it_was(kept, catalogs):
    back = read_earlier(csv_tables.to_csv(kept), "plans.csv", catalogs)
    assert (back.unread, standings(back.rows, kept)) == ([], ["as kept"] * 3)
    assert back.rows["market"].tolist() == ["on-demand", "spot", "on-demand"]
    for column, then in (("usd", "usd"), ("then_usd_per_hour", "usd_per_hour"), ("then_memory_bytes", "memory_bytes")):
        assert back.rows[column].tolist() == pytest.approx(kept[then].tolist())
    assert back.rows["then_prices_as_of"].tolist() == kept["prices_as_of"].tolist()


def test_another_price_in_the_file_stays_beside_todays(kept, catalogs):
    older = kept.assign(usd_per_hour_on_demand=99.0, prices_as_of="2026-01-02")
    rows = read_earlier(csv_tables.to_csv(older), "plans.csv", catalogs).rows
    assert rows["then_usd_per_hour"].tolist()[:2] == pytest.approx([99.0, kept["usd_per_hour_spot"].iloc[1]])
    assert rows["usd_per_hour"].tolist() == pytest.approx(kept["usd_per_hour"].tolist())


def test_new_changed_and_refused_are_told_apart(kept, catalogs):
    first, second, third = (kept.iloc[[at]] for at in range(3))
    others = [first.assign(scenario="another", batch=2), second.assign(market="on-demand"), third]
    others += [third.assign(scenario="three", tensor_parallel=3)]
    content = b"".join([csv_tables.to_csv(others[0]), *(csv_tables.to_csv(each).split(b"\n", 1)[1] for each in others[1:])])
    back = read_earlier(content, "plans.csv", catalogs)
    assert back.unread == []
    assert standings(back.rows, kept) == ["new", "changed", "as kept", "refused"]
    assert standings(back.rows, kept.iloc[:0]) == ["new", "new", "new", "refused"]


def test_a_file_of_the_scenario_columns_alone_says_nothing_of_then(catalogs):
    rows = read_earlier("model,instance\nllama-3.2-1b,g6e.xlarge\n", "plans.csv", catalogs).rows
    assert rows[["market", "then_prices_as_of"]].to_numpy().tolist() == [["on-demand", ""]]
    assert (rows["then_usd_per_hour"].isna().item(), rows["usd_per_hour"].notna().item()) == (True, True)


@pytest.mark.parametrize(
    ("cells", "said"),
    [
        ("model,batch\ngpt2,1\ngpt2,half\n", "Row 2: batch 'half' is not a whole number"),
        ("model\nno-such-model\n", "Row 1: model 'no-such-model' is not in the catalog; choose one such as"),
        ("model,instance\ngpt2,p9.large\n", "Row 1: instance 'p9.large' is not in the catalog"),
        ("model,market\ngpt2,barter\n", "Row 1: market 'barter' is not known; use on-demand or spot"),
        ("model,work\ngpt2,cooking\n", "Row 1: work 'cooking' is not known; use training or inference."),
    ],
)
def test_a_cell_that_is_not_understood_is_named_with_what_is_allowed(cells, said, catalogs):
    (sentence,) = unread(cells, catalogs)
    assert sentence.startswith(said)
    assert unread("model,gpus,tensor_parallel\ngpt2,3,2\n", catalogs) == []  # a refused row is understood


@pytest.mark.parametrize(("content", "said"), [("model\n", "no scenario"), ("name\nx\n", "no column 'model'"), (b"\xff\xfe", "not UTF-8")])
def test_a_file_that_is_no_table_of_scenarios_is_one_sentence(content, said, catalogs):
    with pytest.raises(TableError, match=said):
        read_earlier(content, "plans.csv", catalogs)
