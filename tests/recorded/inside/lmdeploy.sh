docker run --gpus '"device=0,1"' openmmlab/lmdeploy:v0.10.0-cu12 \
    lmdeploy serve api_server Qwen/Qwen2.5-14B-Instruct-AWQ --tp 2 --session-len 16384 --model-format awq
