docker run --gpus all -v /models:/models -p 8000:8000 ghcr.io/ggml-org/llama.cpp:server-cuda \
  -m /models/Qwen2.5-32B-Instruct-Q4_K_M.gguf --port 8000 --host 0.0.0.0 -n 512 --n-gpu-layers 99 -c 16384 -np 4
