"""Models whose weights are published in fewer than 16 bits: served so where the job allows it, named where it does not."""

from calc import add_models, estimate
from calc.models.huggingface.config import read_config
from calc.search.options import options

SERVED = {"work": "inference", "users": 8}


def test_published_weights_are_the_default_where_the_maker_has_them_and_a_quantised_file_is_served_as_it_is(catalogs):
    served = options(SERVED | {"model": "gpt-oss-20b", "fewest_bits": 4}, catalogs)
    assert "mxfp4" in set(served.board["precision"])
    assert not {"awq-4bit", "gptq-4bit"} & set(served.board["precision"])
    for model, formats, words in (
        ("gpt-oss-20b", {"mxfp4"}, "4-bit weights as openai publishes them (openai/gpt-oss-20b)"),
        ("qwen2.5-32b", {"bf16", "int8"}, "8-bit weights as Qwen publishes them (Qwen/Qwen2.5-32B-Instruct-GPTQ-Int8)"),
        ("qwen3-30b-a3b", {"bf16", "fp8"}, "8-bit weights as Qwen publishes them (Qwen/Qwen3-30B-A3B-FP8)"),
        ("llama-3.1-8b", {"bf16"}, "1 L4, bf16, "),
    ):
        answers = options(SERVED | {"model": model, "instance": ["g6.xlarge", "g6e.xlarge", "p5.48xlarge"]}, catalogs)
        assert set(answers.board["precision"]) <= formats, model
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
    cases = (
        *(("qwen3-30b-a3b", "fp8", degree, divides) for degree, divides in ((1, True), (2, True), (4, False))),
        *(("qwen3-coder-480b-a35b", "fp8", degree, divides) for degree, divides in ((4, True), (8, False))),
        *(("minimax-m2.5", "fp8", degree, divides) for degree, divides in ((4, True), (8, False))),
        *(
            (model, "fp8", 8, divides)
            for model, divides in (("qwen3-4b", False), ("qwen3-32b", True), ("glm-4.5", True), ("deepseek-v3", True))
        ),
        *(("qwen2.5-7b", "awq-4bit", degree, divides) for degree, divides in ((2, True), (4, True))),
        ("qwen2.5-72b", "awq-4bit", 8, True),  # its file is padded
    )
    row = {"work": "inference", "implementation": "vllm"}
    for model, precision, degree, divides in cases:
        problem = estimate(row | {"model": model, "precision": precision, "tensor_parallel": degree, "gpus": degree}, catalogs, False)[
            "problem"
        ]
        assert ("no whole blocks of 128" in problem) != divides, (model, degree, problem)
    experts = {"model": "qwen3-30b-a3b", "precision": "fp8", "tensor_parallel": 4, "gpus": 4, "expert_parallel": 4}
    assert estimate(row | experts, catalogs, False)["problem"] == ""
