model=BAAI/bge-m3
docker run --gpus all -p 8080:80 text-embeddings-inference:1.9 --model-id $model
