"""Models whose weights are published in fewer than 16 bits: served so where the job allows it, named where it does not."""

from examples import recorded

from calc import add_models, estimate
from calc.models.huggingface.config import read_config
from calc.search.options import options

SERVED = {"work": "inference", "users": 8}


def test_published_weights_are_the_default_where_the_maker_has_them_and_a_quantised_file_is_served_as_it_is(catalogs):
    served = options(SERVED | {"model": "gpt-oss-20b", "fewest_bits": 4}, catalogs)
    assert "mxfp4" in set(served.board["precision"])
    assert not {"awq-4bit", "gptq-4bit"} & set(served.board["precision"])
    for model, formats, words in recorded("cases/published_precision.json")["makers"]:
        answers = options(SERVED | {"model": model, "instance": ["g6.xlarge", "g6e.xlarge", "p5.48xlarge"]}, catalogs)
        assert set(answers.board["precision"]) <= {*formats}, model
        assert words in answers.answers["why"].iloc[0], model
        assert set(answers.board["kv_precision"]) == {""}
    to_make = {"model": "llama-3.1-8b", "precision": "int4", "instance": "g6.xlarge", "implementation": "transformers"}
    made = options(SERVED | to_make, catalogs)
    assert "nobody is known to publish its 4-bit weights: they are to be made" in made.answers["why"].iloc[0]
    bits = "its weights are published in 4 bits, which are not allowed here"
    assert bits in options(SERVED | {"model": "gpt-oss-20b", "fewest_bits": 16}, catalogs).answers["why"].iloc[0]
    sizes = {"model_type": "llama", "hidden_size": 2048, "num_hidden_layers": 16, "num_attention_heads": 32, "num_key_value_heads": 8}
    stored = {"intermediate_size": 8192, "vocab_size": 128256, "quantization_config": {"quant_method": "awq", "bits": 4}}
    with_it = add_models(catalogs, {"it": read_config({**sizes, **stored}, "it", catalogs)})
    assert set(options(SERVED | {"model": "it"}, with_it).board["precision"]) == {"awq-4bit"}
    assert set(options(SERVED | {"model": "it", "precision": "bf16"}, with_it).board["precision"]) == {"bf16"}


def test_shards_of_block_scaled_weights_are_whole_blocks(catalogs):
    """vLLM issues 17569 and 17604: a GPU's columns are whole blocks of 128, or groups, else the file does not load."""
    row = {"work": "inference", "implementation": "vllm"}
    for model, precision, degree, divides in recorded("cases/published_precision.json")["shards"]:
        scenario = row | {"model": model, "precision": precision, "tensor_parallel": degree, "gpus": degree}
        problem = estimate(scenario, catalogs, False)["problem"]
        assert ("no whole blocks of 128" in problem) != divides, (model, degree, problem)
    experts = {"model": "qwen3-30b-a3b", "precision": "fp8", "tensor_parallel": 4, "gpus": 4, "expert_parallel": 4}
    assert estimate(row | experts, catalogs, False)["problem"] == ""
