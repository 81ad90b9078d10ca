"""Models whose weights are published in fewer than 16 bits: served so where the job allows it, named where it does not."""

from calc import add_models
from calc.models.huggingface.config import read_config
from calc.search.options import options

SERVED = {"work": "inference", "users": 8}


def test_published_4_bit_weights_are_served_as_they_are(catalogs):
    found = options(SERVED | {"model": "gpt-oss-20b", "fewest_bits": 4}, catalogs)
    assert "mxfp4" in set(found.board["precision"])
    assert not {"awq-4bit", "gptq-4bit"} & set(found.board["precision"])


def test_bits_of_published_weights_are_named_where_the_job_does_not_allow_them(catalogs):
    narrow = "its weights are published in 4 bits, which are not allowed here"
    assert narrow in options(SERVED | {"model": "gpt-oss-20b"}, catalogs).answers["why"].iloc[0]
    assert narrow not in options(SERVED | {"model": "gpt-oss-20b", "fewest_bits": 4}, catalogs).answers["why"].iloc[0]
    too_large = options({"work": "inference", "model": "kimi-k2"}, catalogs).problem
    assert too_large.startswith("Nothing allowed is large enough")
    assert "some of which must stay free" in too_large
    assert too_large.endswith("or allow 8 bits, in which its weights are published.")


def test_a_quantised_file_is_served_as_it_is(catalogs):
    sizes = {"model_type": "llama", "hidden_size": 2048, "num_hidden_layers": 16, "num_attention_heads": 32, "num_key_value_heads": 8}
    stored = {"intermediate_size": 8192, "vocab_size": 128256, "quantization_config": {"quant_method": "awq", "bits": 4}}
    with_it = add_models(catalogs, {"it": read_config({**sizes, **stored}, "it", catalogs)})
    assert set(options(SERVED | {"model": "it"}, with_it).board["precision"]) == {"awq-4bit"}
    assert set(options(SERVED | {"model": "it", "precision": "bf16"}, with_it).board["precision"]) == {"bf16"}
