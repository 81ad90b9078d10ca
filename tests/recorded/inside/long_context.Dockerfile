FROM vllm/vllm-openai:v0.10.1
ENV HF_HOME=/cache MODEL=Qwen/Qwen3-30B-A3B-Instruct-2507-FP8
EXPOSE 8000
ENTRYPOINT ["vllm", "serve", "Qwen/Qwen3-30B-A3B-Instruct-2507-FP8", "--max-model-len", "65536", "--enable-expert-parallel", "-tp", "2"]
