from sagemaker.huggingface import HuggingFace
hyperparameters = {
    "model_id": "meta-llama/Llama-3.1-8B", "dataset_path": "/opt/ml/input/data/training", "num_train_epochs": 3,
    "per_device_train_batch_size": 2, "gradient_accumulation_steps": 4, "gradient_checkpointing": True, "bf16": True, "lr": 2e-4,
    "max_seq_length": 4096, "fsdp": '"full_shard auto_wrap"', "use_peft": True, "lora_r": 64,
}
est = HuggingFace(entry_point="run_clm.py", source_dir="./scripts", instance_type="ml.g5.12xlarge", instance_count=2, use_spot_instances=True, max_wait=86400, max_run=36000,
    role=role, transformers_version="4.48", pytorch_version="2.5", py_version="py311", hyperparameters=hyperparameters, distribution={"torch_distributed": {"enabled": True}})
est.fit({"training": s3})
