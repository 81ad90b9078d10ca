from ray.data.llm import vLLMEngineProcessorConfig, build_llm_processor
config = vLLMEngineProcessorConfig(
    model_source="unsloth/Llama-3.1-8B-Instruct",
    engine_kwargs={"enable_chunked_prefill": True, "max_num_batched_tokens": 4096, "max_model_len": 16384, "tensor_parallel_size": 2},
    concurrency=3, batch_size=64, accelerator_type="L4",
)
processor = build_llm_processor(config)
