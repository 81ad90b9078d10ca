from transformers import AutoModelForCausalLM
from trl import SFTConfig, SFTTrainer

model_id = "meta-llama/Llama-3.1-8B"
model = AutoModelForCausalLM.from_pretrained(model_id)
trainer = SFTTrainer(model=model, args=SFTConfig(max_length=1024, bf16=True))
trainer.train()
model_id = "./tuned"
model = AutoModelForCausalLM.from_pretrained(model_id)
