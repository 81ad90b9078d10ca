python3 -m verl.trainer.main_ppo algorithm.adv_estimator=gae data.train_batch_size=512 data.max_prompt_length=1024 data.max_response_length=2048 \
 actor_rollout_ref.model.path=Qwen/Qwen3-8B actor_rollout_ref.model.lora_rank=32 actor_rollout_ref.model.lora_alpha=32 actor_rollout_ref.model.target_modules=all-linear actor_rollout_ref.model.use_remove_padding=True \
 actor_rollout_ref.actor.strategy=fsdp2 actor_rollout_ref.actor.fsdp_config.fsdp_size=8 actor_rollout_ref.actor.fsdp_config.model_dtype=bfloat16 actor_rollout_ref.actor.fsdp_config.offload_policy=True \
 actor_rollout_ref.actor.ppo_mini_batch_size=128 actor_rollout_ref.actor.ppo_micro_batch_size_per_gpu=4 actor_rollout_ref.model.enable_activation_offload=True actor_rollout_ref.model.enable_gradient_checkpointing=True \
 actor_rollout_ref.rollout.name=vllm actor_rollout_ref.rollout.mode=async actor_rollout_ref.rollout.tensor_model_parallel_size=1 actor_rollout_ref.rollout.gpu_memory_utilization=0.7 actor_rollout_ref.rollout.max_num_batched_tokens=16384 actor_rollout_ref.rollout.max_model_len=4096 actor_rollout_ref.rollout.n=1 \
 critic.model.path=Qwen/Qwen3-8B critic.ppo_micro_batch_size_per_gpu=4 critic.model.fsdp_config.param_offload=True reward_model.enable=True reward_model.model.path=Skywork/Skywork-Reward-Llama-3.1-8B \
 trainer.n_gpus_per_node=8 trainer.nnodes=2 trainer.total_epochs=2
