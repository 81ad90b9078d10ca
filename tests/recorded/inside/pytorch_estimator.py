from sagemaker.pytorch import PyTorch

HYPER = {
    "model_id": "mistralai/Mistral-7B-v0.1",
    "per_device_train_batch_size": 2,
    "gradient_accumulation_steps": 8,
}
HYPER["max_seq_length"] = 2048
estimator = PyTorch(
    entry_point="run_sft.py",
    instance_type="ml.p4d.24xlarge",
    instance_count=2,
    distribution={"torch_distributed": {"enabled": True}},
    hyperparameters={
        **HYPER,
        "use_peft": True,
        "lora_r": 64,
        "num_train_epochs": 1,
        "gradient_checkpointing": True,
        "bf16": True,
    },
)
estimator.fit()
