"""The link: out and in gives the same plan, and what is not understood is named, never dropped."""

from urllib.parse import parse_qs, urlencode

import pytest
from examples import STEADY, catalogs
from hypothesis import given
from hypothesis import strategies as st

from calc.doors.link import LONGEST_VALUE, MOST_VALUES, VERSION, VIEW_CHOICES, compose, parse
from calc.models.huggingface.config import custom_entry
from calc.scenarios.inputs import BY_NAME, CATALOG_OF, DEFAULTS, INPUTS, inputs_by_name

IDS = {"model": "models", "precision": "precisions", "optimizer": "optimizers", "sharding": "shardings"}
IDS |= {"recompute": "recomputes", "implementation": "implementations", "gpu": "gpus", "instance": "instances"}
IDS |= {"region": "regions"}


def value_of(column):
    """Any value that may stand in a column."""
    if column.name in IDS:
        return st.sampled_from(list(getattr(catalogs(), IDS[column.name]).index))
    if column.kind == "choice":
        return st.sampled_from([*column.choices, column.default])
    if column.kind == "count":
        return st.integers(1, 10**15)
    if column.kind in ("number", "amount"):
        return st.floats(1e-9, 1e15).map(lambda value: int(value) if value.is_integer() else value)
    return st.sampled_from(["all-linear", "q+v", "a plan & more = 100 %?", "größer 模型"])


def plans():
    one = {name: value_of(column) for name, column in inputs_by_name().items()}
    several = {name: st.lists(one[name], min_size=2, max_size=4) for name in ("precision", "optimizer", "gpus")}
    views = {name: st.sampled_from(words) for name, words in VIEW_CHOICES.items()}
    return st.fixed_dictionaries({}, optional={**one, **several, **views})


def through_the_address(choices):
    """A plan as a browser brings it back."""
    return parse(parse_qs(urlencode(compose(choices), doseq=True), keep_blank_values=True), catalogs())


@STEADY
@given(plans())
def test_out_and_in_gives_the_same_choices(choices):
    assert through_the_address(choices) == (choices, [])


def test_the_defaults_go_out_and_in_too():
    choices = {name: "" if value is None else value for name, value in DEFAULTS.items()}
    back, complaints = through_the_address(choices)
    assert back == choices
    assert complaints == []
    assert set(compose(choices)) == {"v", *(column.name for column in INPUTS)}


@pytest.mark.parametrize("model", ["mine", "my-llama-3.1-8b.v2", "größer"])
def test_a_model_of_ones_own_travels_field_by_field(model):
    entry = {name: value for name, value in custom_entry(64, 2, 4, 2, 128, 999, model, catalogs()).items() if value != ""}
    choices = {"model": model, "custom_models": {model: entry}, "batch": 3}
    assert through_the_address(choices) == (choices, [])


def test_the_date_of_its_prices_travels():
    assert through_the_address({"prices_as_of": "2026-07-20"}) == ({"prices_as_of": "2026-07-20"}, [])


WRONG = [
    ({"v": ["9"]}, "The link is of version 9, this is version 1; "),
    ({"v": ["1' OR 1=1 --"]}, "The link is of version 1' OR 1=1 --, this is version 1; "),
    ({"colour": ["red"]}, "The link asked for colour=red , which is not a choice of this page; it was left aside."),
    ({"colour": []}, "The link asked for colour= , which is not a choice of this page; it was left aside."),
    ({"model": ["gpt-9"]}, "The link asked for model=gpt-9 , which is not possible; the usual value is used instead."),
    ({"gpus": ["0"]}, "The link asked for gpus=0 , which is not possible; "),
    ({"gpus": ["-1"]}, "The link asked for gpus=-1 , which is not possible; "),
    ({"gpus": ["1.5"]}, "The link asked for gpus=1.5 , which is not possible; "),
    ({"gpus": ["1e400"]}, "The link asked for gpus=1e400 , which is not possible; "),
    ({"gpus": ["nan"]}, "The link asked for gpus=nan , which is not possible; "),
    ({"gpus": ["1e16"]}, "The link asked for gpus=1e16 , which is not possible; "),
    ({"gpus": [""]}, "The link asked for gpus= , which is not possible; "),
    ({"batch": ["lots"]}, "The link asked for batch=lots , which is not possible; "),
    ({"work": ["sleep"]}, "The link asked for work=sleep , which is not possible; "),
    ({"market": ["black"]}, "The link asked for market=black , which is not possible; "),
    ({"prices_as_of": ["<b>now</b>"]}, "The link asked for prices_as_of=<b>now</b> , which is not a choice "),
    ({"precision": ["../../etc/passwd"]}, "The link asked for precision=../../etc/passwd , which is not possible; "),
    ({"region": ["x" * 5000]}, f"The link asked for region={'x' * 40} , which is not possible; "),
    ({"custom.mine.hidden": ["[1]"]}, "The link's custom.mine.hidden is not a size of a model; it was left aside."),
    ({"custom.mine.hidden": ["1e999"]}, "The link's custom.mine.hidden is not a size of a model; it was left aside."),
    ({"custom.mine.hidden": ["NaN"]}, "The link's custom.mine.hidden is not a size of a model; it was left aside."),
    ({"custom.mine.hidden": ["-Infinity"]}, "The link's custom.mine.hidden is not a size of a model; it was left "),
    ({"custom.mine.hidden": ["["] * 3}, "The link's custom.mine.hidden is not a size of a model; it was left aside."),
    ({"custom.mine.hidden": ["[" * LONGEST_VALUE]}, "The link's custom.mine.hidden is not a size of a model; it was"),
    ({"custom.mine.hidden": []}, "The link's custom.mine.hidden is not a size of a model; it was left aside."),
    ({"custom.mine": ["1"]}, "The link's custom.mine is not a size of a model; it was left aside."),
    ({"custom.": ["1"]}, "The link's custom. is not a size of a model; it was left aside."),
]


@pytest.mark.parametrize(("query", "sentence"), WRONG, ids=[str(query)[:40] for query, _ in WRONG])
def test_what_is_not_understood_is_named_in_one_sentence(query, sentence):
    choices, complaints = parse({"v": [VERSION], "batch": ["3"], **query}, catalogs())
    assert len(complaints) == 1
    assert complaints[0].startswith(sentence)
    assert complaints[0].endswith(".")
    assert len(complaints[0]) < 200
    assert choices == ({"batch": 3} if "batch" not in query else {})


def test_of_several_values_the_possible_ones_stay():
    choices, complaints = parse({"precision": ["bf16", "bf17", "fp32"]}, catalogs())
    assert choices == {"precision": ["bf16", "fp32"]}
    assert len(complaints) == 1


def test_more_values_than_can_be_shown_are_counted():
    choices, complaints = parse({"gpus": [str(number) for number in range(1, 100)]}, catalogs())
    assert choices == {"gpus": list(range(1, MOST_VALUES + 1))}
    assert complaints == [f"The link asked for 99 values of gpus; the first {MOST_VALUES} are used."]


@STEADY
@given(st.dictionaries(st.text(max_size=30), st.lists(st.text(max_size=50), max_size=3), max_size=5))
def test_no_link_breaks_the_page(query):
    choices, complaints = parse(query, catalogs())
    named = [name for name in query if name != "v"]
    assert len(complaints) + len(choices) >= len(named)


@pytest.mark.parametrize(("name", "catalog"), CATALOG_OF.items())
def test_every_choice_has_its_catalog_and_its_default_stands_there(name, catalog):
    known = getattr(catalogs(), catalog).index
    assert BY_NAME[name].default in ("", *known)
    assert parse({"v": [VERSION], name: [known[-1]]}, catalogs()) == ({name: known[-1]}, [])
    assert len(parse({"v": [VERSION], name: ["no-such"]}, catalogs())[1]) == 1
