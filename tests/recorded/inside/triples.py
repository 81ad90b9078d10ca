from trl.experimental.tpo import TPOConfig, TPOTrainer

arguments = TPOConfig(output_dir="out", per_device_train_batch_size=2, max_length=1024, tpo_alpha=1.0)
TPOTrainer(model="Qwen/Qwen3-0.6B", args=arguments).train()
