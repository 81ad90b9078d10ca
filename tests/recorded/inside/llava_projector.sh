deepspeed --include localhost:0,1,2,3,4,5,6,7 --master_port 29501 llava/train/train_mem.py \
    --deepspeed scripts/zero2.json --model_name_or_path lmsys/vicuna-7b-v1.5 --version plain \
    --data_path d.json --vision_tower openai/clip-vit-large-patch14-336 --tune_mm_mlp_adapter True \
    --mm_vision_select_layer -2 --bf16 True --num_train_epochs 1 --per_device_train_batch_size 32 \
    --gradient_accumulation_steps 1 --model_max_length 2048 --gradient_checkpointing True
