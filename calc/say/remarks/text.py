"""Remarks on rows as text, and the `note` and `problem` columns made of them."""

from collections.abc import Iterable
from functools import reduce

import numpy as np

from calc.remarks import Remark, Sentences
from calc.say.remarks.inputs import INPUTS
from calc.say.remarks.models import MODELS
from calc.say.remarks.notes import NOTES
from calc.say.remarks.refusals import LAYOUTS, OBJECTIVES, PLACEMENT
from calc.table import Words, word_pairs

SENTENCES: Sentences = {
    **INPUTS,
    **MODELS,
    **LAYOUTS,
    **OBJECTIVES,
    **PLACEMENT,
    **NOTES,
}


def remark_text(remark: Remark) -> str:
    """Return the sentence of a remark."""
    sentence = SENTENCES[remark.code]
    facts = dict(remark.facts)
    return sentence.format_map(facts) if isinstance(sentence, str) else sentence(**facts)


def remarks_text(remarks: Remark | tuple[Remark, ...] | str) -> str:
    """Return the sentences of a remark or of several; the text of a catalog stays as it is."""
    if isinstance(remarks, str):
        return remarks
    if isinstance(remarks, Remark):
        return remark_text(remarks)
    return " ".join(map(remark_text, remarks))


def text_column(remarks: Words) -> Words:
    """Return a column of remarks as text; remarks that no row has stay empty."""
    count = len(remarks.vocabulary)
    texts = np.full(count, "", dtype=object)
    occurs = np.bincount(np.mod(remarks.codes, count), minlength=count) > 0
    for number in np.flatnonzero(occurs).tolist():
        texts[number] = remarks_text(remarks.vocabulary[number])
    return Words(remarks.codes, texts)


def note_column(columns: Iterable[Words]) -> Words:
    """Return the texts of several columns of remarks, joined in each row."""
    return reduce(_joined, map(text_column, columns))


def _joined(first: Words, second: Words) -> Words:
    """Join two columns of text to one."""
    if not (second.vocabulary != "").any():
        return first
    codes, pairs = word_pairs(first, second)
    return Words(codes, np.array([" ".join(pair).strip() for pair in pairs], dtype=object))
