deepspeed --include localhost:2 llava/train/train_mem.py \
    --lora_enable True --lora_r 128 --lora_alpha 256 --mm_projector_lr 2e-5 \
    --deepspeed ./scripts/zero3.json \
    --model_name_or_path lmsys/vicuna-7b-v1.5 \
    --version v1 --data_path d.json --image_folder imgs \
    --vision_tower openai/clip-vit-large-patch14-336 --mm_projector_type mlp2x_gelu \
    --bf16 True --num_train_epochs 1 --per_device_train_batch_size 16 --gradient_accumulation_steps 1 \
    --learning_rate 2e-4 --model_max_length 2048 --gradient_checkpointing True --lazy_preprocess True
