"""Each remark has a sentence, and each sentence names facts that its remark carries."""

from string import Formatter

import pytest

from calc.evaluate import parameters_of
from calc.memory import memory_basis, moments
from calc.remarks import remark
from calc.rules import layouts, objectives, placement
from calc.say.moments import MOMENTS
from calc.say.remarks.memory import BASES
from calc.say.remarks.refusals import LAYOUTS, OBJECTIVES, PLACEMENT
from calc.say.remarks.text import SENTENCES, remarks_text, text_column
from calc.table import Words

RULES = (*layouts.RULES, *objectives.RULES, *placement.RULES)


@pytest.mark.parametrize("rule", RULES, ids=[rule.code for rule in RULES])
def test_a_rule_carries_the_facts_of_its_sentence(rule):
    sentence = SENTENCES[rule.code]
    fields = (
        parameters_of(sentence)
        if callable(sentence)
        else [field for _, field, _, _ in Formatter().parse(sentence) if field]
    )
    assert {*rule.facts, *rule.computed} == set(fields)


def test_every_code_has_one_sentence_and_every_sentence_of_a_rule_has_its_rule():
    assert {*LAYOUTS, *OBJECTIVES, *PLACEMENT} == {rule.code for rule in RULES}
    assert len(RULES) == len({rule.code for rule in RULES})


def test_every_moment_and_every_basis_has_words():
    assert {moment.name for work in moments.MOMENTS.values() for moment in work} == set(MOMENTS)
    assert len(BASES) == len(memory_basis.GROUNDS) * len(memory_basis.AXES) == len(set(BASES))


def test_a_column_of_remarks_is_worded_where_it_occurs():
    one = remark("no-experts", model="gpt2")
    other = remark("draft-gain", tokens=2.5)
    several = (one, remark("served-adapters"))
    vocabulary = Words([0, 3, 2, 0], [one, "unused", "", several]).vocabulary
    assert remarks_text(other).startswith("Speculative decoding is counted as 2.5 tokens a step.")
    texts = text_column(Words([0, 3, 2, 0], vocabulary))
    assert list(texts.vocabulary) == [
        "gpt2 has no experts to divide; set expert_parallel to 1.",
        "",
        "",
        "gpt2 has no experts to divide; set expert_parallel to 1. All served adapters are on the "
        "GPUs; the time they cost is from a paper of 2023.",
    ]
