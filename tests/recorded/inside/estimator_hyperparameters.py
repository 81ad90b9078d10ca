import sagemaker
from sagemaker.pytorch import PyTorch
role = sagemaker.get_execution_role()
hp = {
    "model_id": "mistralai/Mistral-7B-v0.3",
    "epochs": 3,
    "per_device_train_batch_size": 2,
    "gradient_accumulation_steps": 8,
    "gradient_checkpointing": True,
    "lora_r": 64,
    "lora_alpha": 16,
    "max_seq_length": 2048,
    "bf16": True,
}
est = PyTorch(
    entry_point="run_qlora.py",
    source_dir="scripts",
    role=role,
    instance_type="ml.g5.48xlarge",
    instance_count=2,
    framework_version="2.3",
    py_version="py311",
    hyperparameters=hp,
    distribution={"torch_distributed": {"enabled": True}},
)
est.fit({"training": "s3://bucket/data"})
