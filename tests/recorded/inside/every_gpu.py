import torch
from vllm import LLM, SamplingParams
llm = LLM(model="meta-llama/Llama-3.3-70B-Instruct", tensor_parallel_size=torch.cuda.device_count(), max_model_len=8192, gpu_memory_utilization=0.92, enforce_eager=True, quantization="fp8")
out = llm.generate(prompts, SamplingParams(max_tokens=512))
