python3 quantize.py --model_dir ./Llama-3.1-70B-Instruct --dtype float16 --qformat fp8 --kv_cache_dtype fp8 \
  --output_dir ./ckpt_fp8 --calib_size 512 --tp_size 4
trtllm-build --checkpoint_dir ./ckpt_fp8 --output_dir ./engine --gemm_plugin auto \
  --max_batch_size 64 --max_input_len 8192 --max_seq_len 10240 --max_num_tokens 16384 --workers 4
mpirun -n 4 --allow-run-as-root trtllm-serve ./engine --tokenizer meta-llama/Llama-3.1-70B-Instruct --kv_cache_free_gpu_memory_fraction 0.9
