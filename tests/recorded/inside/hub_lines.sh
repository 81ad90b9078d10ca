CUDA_VISIBLE_DEVICES=0,1 \
swift infer \
    --model Qwen/Qwen2.5-VL-3B-Instruct \
    --val_dataset example/LaTeX_OCR#1000 \
    --infer_backend vllm \
    --vllm_tensor_parallel_size 2 --vllm_max_model_len 32768  # two cards
