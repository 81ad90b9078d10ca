"""A config that trains by preference or reward is refused; supervised ones are read as before."""

import pytest

from calc.files.configs.preference import refuse_preference
from calc.files.configs.problem import ConfigProblem

REFUSED = {
    "trl grpo --model_name_or_path Qwen/Qwen3-8B": "TRL, GRPO",
    "accelerate launch examples/scripts/dpo.py --model_name_or_path x": "TRL, DPO",
    "python -m trl.scripts.kto": "TRL, KTO",
    "from trl import DPOConfig\nargs = DPOConfig(beta=0.1)": "TRL, DPO",
    "trainer = OnlineDPOTrainer(model)": "TRL, OnlineDPO",
    "base_model: meta-llama/Llama-3.1-8B\nrl: dpo\n": "axolotl, DPO",
    "base_model: x\nreward_model: true\n": "axolotl",
    "model_name_or_path: x\nstage: dpo\nfinetuning_type: lora": "LLaMA-Factory, DPO",
    "llamafactory-cli train --stage rm --model_name_or_path x": "LLaMA-Factory, RM",
    '{"stage": "ppo", "model_name_or_path": "x"}': "LLaMA-Factory, PPO",
    "deepspeed --module openrlhf.cli.train_ppo_ray --pretrain x": "OpenRLHF",
    "python3 -m verl.trainer.main_ppo algorithm.adv_estimator=grpo": "verl",
    "uv run examples/run_grpo.py --config examples/configs/grpo_math_8B.yaml": "NeMo-RL",
    "swift rlhf --rlhf_type dpo --model x": "ms-swift",
    "tune run lora_dpo_single_device --config llama3_1/8B_lora_dpo_single_device": "torchtune",
}
READ = (
    "trl sft --model_name_or_path Qwen/Qwen3-8B",
    "base_model: x\nrl:\nsequence_len: 4096\n",
    "# rl: dpo is another config\nbase_model: x",
    "stage: sft\nmodel_name_or_path: x",
    "python -m openrlhf.cli.train_sft --pretrain x",
    "torchrun -m verl.trainer.fsdp_sft_trainer model.partial_pretrain=x",
    "stage: pt",
)


@pytest.mark.parametrize("text", REFUSED)
def test_preference_and_reward_are_refused_by_name(text):
    with pytest.raises(ConfigProblem, match="preference or reward") as raised:
        refuse_preference(text, "run.yaml")
    assert REFUSED[text].lower() in str(raised.value).lower().replace(" ", " ")


@pytest.mark.parametrize("text", READ)
def test_supervised_runs_are_not_refused(text):
    refuse_preference(text, "run.yaml")
