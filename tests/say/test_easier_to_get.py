"""The card of the option that is easiest to get: it compares within its class of availability."""

import pytest
from examples import catalogs

from calc.answers.full_answer import full_answer
from calc.cost.obtainability import CLASSES
from calc.say.cards import card_line
from calc.say.numbers import percent
from calc.say.place import obtainable_words
from calc.search.board import qualifies

G_TYPES = ["g7e.2xlarge", "g7e.4xlarge", "g7e.8xlarge", "g6e.2xlarge", "g6e.12xlarge"]


@pytest.fixture(scope="module")
def answer():
    """A run whose lowest cost and whose easiest option are both on G instances."""
    job = {"model": "qwen3-4b", "method": "lora", "examples": 10_000, "epochs": 3}
    return full_answer(job | {"instance": G_TYPES, "instances_most": 1}, catalogs())


def test_no_type_of_its_class_costs_less_than_the_easiest_option(answer):
    least, easiest = answer.rows[0], answer.rows[-1]
    assert "easiest" in easiest["answer"].split("+")
    assert CLASSES.index(easiest["obtainable"]) < CLASSES.index(least["obtainable"])
    board = answer.board[qualifies(answer.board)]
    as_easy = board[board["obtainable"].map(CLASSES.index) <= CLASSES.index(easiest["obtainable"])]
    assert as_easy["usd"].min() == pytest.approx(easiest["usd"])


def test_its_card_names_its_family_and_class_beside_what_it_costs_more(answer):
    least, easiest = answer.rows[0], answer.rows[-1]
    line = card_line(easiest, least, catalogs())
    more = percent(easiest["usd"] / least["usd"] - 1)
    assert line == f"{more} more for g6e instances, {obtainable_words(easiest)}."
    nearer = answer.board[
        (answer.board["usd"] < easiest["usd"]) & (answer.board["usd"] > least["usd"])
    ]
    assert set(nearer["obtainable"]) <= {least["obtainable"]}  # cheaper types are harder to get
