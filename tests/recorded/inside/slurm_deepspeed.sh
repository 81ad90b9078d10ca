#!/bin/bash
#SBATCH --nodes=4
#SBATCH --gres=gpu:8
export MASTER_PORT=29500
GPUS_PER_NODE=8
srun --ntasks-per-node=1 deepspeed --num_nodes $SLURM_NNODES --num_gpus $GPUS_PER_NODE main.py \
  --model_name_or_path Qwen/Qwen2.5-72B --zero_stage 3 --offload --per_device_train_batch_size 1 \
  --gradient_accumulation_steps 8 --max_seq_len 4096 --gradient_checkpointing --num_train_epochs 2
