from sagemaker.huggingface import HuggingFace
hyperparameters = {"model_id": "meta-llama/Llama-2-70b-hf", "dataset_path": "/opt/ml/input/data/training", "num_train_epochs": 1, "max_steps": 500, "per_device_train_batch_size": 2, "gradient_checkpointing": True, "bf16": True, "max_seq_length": 2048,
 "load_in_4bit": True, "lora_r": 64, "lora_alpha": 16}
est = HuggingFace(entry_point="run_qlora.py", source_dir="scripts", instance_type="ml.g5.48xlarge", instance_count=1, transformers_version="4.36", pytorch_version="2.1", py_version="py310", hyperparameters=hyperparameters, use_spot_instances=True, max_wait=86400, max_run=36000)
est.fit()
