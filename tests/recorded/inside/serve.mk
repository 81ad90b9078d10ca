MODEL ?= Qwen/Qwen2.5-VL-7B-Instruct
QUANTIZATION ?= # empty for none
TENSOR_PARALLEL ?= 2 # GPUs
PORT := 8000

run: stop
	docker run -d --gpus all -p $(PORT):8000 \
	  vllm/vllm-openai:latest --model "$(MODEL)" \
	  --tensor-parallel-size $(TENSOR_PARALLEL) --max-model-len 16384

stop:
	-docker rm -f vllm
