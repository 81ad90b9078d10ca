import argparse
import torch
from peft import LoraConfig
from trl import SFTConfig, SFTTrainer

parser = argparse.ArgumentParser()
parser.add_argument("--model", default="Qwen/Qwen3-8B")
parser.add_argument("--batch-size", type=int, default=2)
args = parser.parse_args()
rank, length = 32, 2048
config = SFTConfig(
    bf16=torch.cuda.is_bf16_supported(),
    fp16=not torch.cuda.is_bf16_supported(),
    per_device_train_batch_size=args.batch_size,
    max_length=length,
)
trainer = SFTTrainer(model=args.model, args=config, peft_config=LoraConfig(r=rank))
trainer.train()
