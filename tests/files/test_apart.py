"""Foreign text is read in a process of its own: within limits, canceled at any moment, and with
the same result as here.
"""

import os
import time

import pytest
from examples import catalogs
from foreign import reader_of_tests

from calc.files.apart.messages import pack, unpack
from calc.files.configs.problem import ConfigProblem
from calc.files.door import ReadingProblem, one_sentence
from calc.files.request import PASTED, request_of

CONFIG = b"base_model: Qwen/Qwen3-8B\nmicro_batch_size: 2\nadapter: lora\n"
MODEL = b"""{"model_type": "llama", "hidden_size": 256, "num_hidden_layers": 2, "vocab_size": 1000,
"num_attention_heads": 4, "intermediate_size": 512}"""


@pytest.fixture(scope="module")
def reader():
    """One for all tests; it finds the functions of this file."""
    with reader_of_tests() as started:
        yield started


def process_of():
    return os.getpid()


def endless():
    while True:
        pass


def sleeps():
    time.sleep(60)


def hungry():
    return len([bytes(2**20) for _ in range(2**12)])


def ends():
    os._exit(1)


def fails():
    raise KeyError("a secret of the text")


class LeftError(Exception):
    """The visitor has gone."""


def leave():
    raise LeftError


@pytest.mark.parametrize(
    "text", [CONFIG, MODEL, b"qwen3-8b lora on an l4", b"http://x/?goal=serve"]
)
def test_a_text_is_read_apart_as_it_is_read_here(reader, text):
    here = request_of([(PASTED, text)], catalogs())
    there = reader.read(request_of, [(PASTED, text)], catalogs())
    assert (there.kinds, there.columns, there.models) == (here.kinds, here.columns, here.models)
    assert there.catalogs.version == here.catalogs.version
    assert there.catalogs.prices is catalogs().prices  # shared, not copied
    assert (there.run and there.run.lines) == (here.run and here.run.lines)


def test_each_text_has_a_process_of_its_own_that_is_gone_afterwards(reader):
    first, second = (reader.read(process_of) for _ in range(2))
    assert os.getpid() not in (first, second)
    assert first != second
    time.sleep(0.2)
    with pytest.raises(ProcessLookupError):
        os.kill(first, 0)


@pytest.mark.parametrize("function", [hungry, ends])
def test_a_process_that_dies_or_needs_too_much_memory_costs_one_sentence(reader, function):
    with pytest.raises(ReadingProblem) as raised:
        reader.read(function)
    assert str(raised.value).endswith(".")
    assert reader.read(process_of)  # and the next text is read


@pytest.mark.long
def test_a_text_that_takes_all_of_its_processor_time_costs_one_sentence(reader):
    with pytest.raises(ReadingProblem, match="10 s of processor time"):
        reader.read(endless)


def test_who_leaves_ends_the_reading_of_the_text(reader):
    with pytest.raises(LeftError):
        reader.read(sleeps, on_wait=leave)
    assert reader.read(process_of)


def test_a_refusal_crosses_as_it_is(reader):
    with pytest.raises(ConfigProblem, match="nested deeper"):
        reader.read(request_of, [("a.toml", b"a" + b".a" * 1000 + b" = 1")], catalogs())


def test_any_other_error_is_one_sentence_and_the_log_has_the_trace_without_the_text(caplog):
    with pytest.raises(ReadingProblem) as raised:
        one_sentence(fails)()
    assert "secret" not in str(raised.value)
    assert "secret" not in caplog.text.replace('raise KeyError("a secret of the text")', "")
    assert "fails" in caplog.text


def test_other_catalogs_cross_with_what_is_their_own_alone():
    from calc import add_models

    extended = add_models(catalogs(), request_of([(PASTED, MODEL)], catalogs()).models)
    content = pack(extended, catalogs())
    there = unpack(content, catalogs())
    assert there.version == extended.version
    assert there.prices is catalogs().prices
    assert there.models.equals(extended.models)
    assert len(content) < len(pack(extended))
