python3 -m verl.trainer.main_ppo --config-name=ppo_megatron_trainer algorithm.adv_estimator=grpo actor_rollout_ref.model.path=Qwen/Qwen3-30B-A3B \
 data.train_batch_size=128 data.max_prompt_length=1024 data.max_response_length=3072 actor_rollout_ref.actor.ppo_mini_batch_size=64 \
 actor_rollout_ref.actor.ppo_micro_batch_size_per_gpu=1 actor_rollout_ref.actor.megatron.tensor_model_parallel_size=4 \
 +actor_rollout_ref.actor.optim.override_optimizer_config.optimizer_cpu_offload=True \
 actor_rollout_ref.ref.megatron.tensor_model_parallel_size=4 actor_rollout_ref.ref.megatron.pipeline_model_parallel_size=2 \
 actor_rollout_ref.rollout.name=vllm trainer.n_gpus_per_node=8 trainer.nnodes=2
