HYDRA_FULL_ERROR=1 python3 launcher/main.py recipes=fine-tuning/qwen/verl-dpo-qwen-3-4b-lora base_results_dir=results run.name=mine cluster_type=k8s \
  ++recipes.training_config.data.train_files=train.parquet
