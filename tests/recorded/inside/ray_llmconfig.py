from ray.serve.llm import LLMConfig, build_openai_app

llm_config = LLMConfig(
    model_loading_config=dict(
        model_id="my-llama-3.1-8B",
        model_source="meta-llama/Llama-3.1-8B-Instruct",
    ),
    accelerator_type="L4",
    deployment_config=dict(autoscaling_config=dict(min_replicas=1, max_replicas=2)),
    engine_kwargs=dict(
        max_model_len=8192,
    ),
)
app = build_openai_app({"llm_configs": [llm_config]})
