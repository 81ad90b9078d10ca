cat << 'EOF' > "$DIR/hot.yaml"
apiVersion: apps/v1
kind: Deployment
metadata: {name: hot}
spec:
  replicas: 2
  template:
    spec:
      containers:
      - name: vllm
        image: vllm/vllm-openai:latest
        args: [--model=meta-llama/Llama-2-7b-hf, --enable-prefix-caching, --max-num-seqs=21, --gpu-memory-utilization=0.95]
EOF
cat << 'EOF' > "$DIR/warm.yaml"
apiVersion: apps/v1
kind: Deployment
metadata: {name: warm}
spec:
  replicas: 1
  template:
    spec:
      containers:
      - name: tgi
        image: ghcr.io/huggingface/text-generation-inference:2.4.1
        args: [--model-id=meta-llama/Llama-2-7b-chat-hf, --quantize=bitsandbytes-nf4, --max-concurrent-requests=13]
EOF
