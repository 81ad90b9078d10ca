torchrun --nproc_per_node 8 tools/run_text_generation.py --tensor-model-parallel-size 4 --num-layers 32 --hidden-size 4096 \
  --num-attention-heads 32 --micro-batch-size 1 --seq-length 2048 --tokenizer-model mistralai/Mistral-7B-v0.3
