torchrun --nproc_per_node 8 --nnodes 32 pretrain_gpt.py --use-mcore-models --num-layers 48 --hidden-size 2048 --ffn-hidden-size 6144 \
 --num-attention-heads 32 --group-query-attention --num-query-groups 4 --kv-channels 128 --qk-layernorm --num-experts 128 --moe-router-topk 8 --moe-ffn-hidden-size 768 \
 --seq-length 4096 --max-position-embeddings 40960 --vocab-size 151936 --swiglu --normalization RMSNorm --disable-bias-linear --untie-embeddings-and-output-weights \
 --micro-batch-size 1 --global-batch-size 2048 --tensor-model-parallel-size 2 --pipeline-model-parallel-size 1 --expert-model-parallel-size 16 --expert-tensor-parallel-size 1 \
 --sequence-parallel --use-distributed-optimizer --bf16 --fp8-format e4m3 --fp8-recipe blockwise --recompute-granularity selective --recompute-modules moe_act layernorm \
 --use-precision-aware-optimizer --exp-avg-dtype bf16 --exp-avg-sq-dtype bf16 --main-grads-dtype bf16 --train-samples 10000000 --optimizer-cpu-offload --optimizer-offload-fraction 0.5
