NPROC_PER_NODE=8 megatron rlhf --rlhf_type grpo --model Qwen/Qwen3-8B --tuner_type lora --use_vllm true --vllm_mode colocate \
  --vllm_gpu_memory_utilization 0.5 --num_generations 8 --max_length 1024 --max_completion_length 2048 --micro_batch_size 1 \
  --global_batch_size 64 --offload_model true --offload_optimizer true --recompute_granularity full
