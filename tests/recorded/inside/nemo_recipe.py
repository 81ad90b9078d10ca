import nemo_run as run
from nemo.collections import llm

recipe = llm.llama31_70b.finetune_recipe(
    name="llama31_70b_lora",
    dir="/ckpts",
    num_nodes=1,
    num_gpus_per_node=8,
    peft_scheme="lora",
    seq_length=4096,
)
recipe.trainer.strategy.tensor_model_parallel_size = 8
recipe.data.micro_batch_size = 1
recipe.data.global_batch_size = 32
run.run(recipe, executor=run.LocalExecutor(ntasks_per_node=8, launcher="torchrun"))
