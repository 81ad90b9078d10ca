"""The objective and the rollout of a run by preference or reward, where its trainer is read."""

from calc.catalogs.load import Catalogs
from calc.files.configs.fields import Tool
from calc.files.configs.problem import ConfigProblem
from calc.files.configs.settled import Settled

# What a config or command calls its training -> the objective of a scenario.
OBJECTIVE_OF = {name: name.lower() for name in ("DPO", "KTO", "ORPO", "CPO", "GRPO", "RLOO", "PPO", "REWARD")} | {
    "IPO": "dpo",
    "SIMPO": "cpo",
    "GDPO": "grpo",
    "RM": "reward",
    "reward_model": "reward",
    "OnlineDPO": "online-dpo",
    **dict.fromkeys(("reward_funcs", "num_generations", "trl.num_generations", "max_completion_length"), "grpo"),
    **dict.fromkeys(("precompute_ref_log_probs", "max_prompt_length", "reference_free"), "dpo"),
    "desirable_weight": "kto",
    "undesirable_weight": "kto",
    "center_rewards_coefficient": "reward",
}
SOFTWARE_OF = {"trl": "trl", "transformers": "trl", "axolotl": "axolotl", "llamafactory": "llama-factory"}  # tools that are read
PROMPT_TOKENS, COMPLETION_TOKENS = 512, 256  # TRL's own of a rollout


def unread_trainer(name: str, file: str) -> ConfigProblem:
    """The problem of a run whose trainer by preference or reward is not read."""
    return ConfigProblem(
        f"{file}: it trains by preference or reward ({name}), and its trainer's files are not read; give a config of TRL, axolotl or "
        "LLaMA-Factory, or set objective by hand."
    )


def settle_objective(settled: Settled, main: Tool, name: str, file: str, catalogs: Catalogs) -> None:
    """Settle objective, software, reference, lengths and rollout of a run; raises ConfigProblem."""
    objective = settled.values.get("objective") or OBJECTIVE_OF.get(name)
    software = SOFTWARE_OF.get(main.id)
    if not objective or not software:
        raise unread_trainer(name, file)
    settled.values |= {"objective": objective, "implementation": software}
    settled.fields |= {"objective": name, "implementation": main.name}
    settled.values.pop("loss", None)  # that of the objective
    if catalogs.objectives.at[objective, "rolls_out"]:
        _rollout(settled, main)


def _rollout(settled: Settled, main: Tool) -> None:
    """Where answers are generated, and their lengths, as TRL has them where nothing is said."""
    if "sequence_tokens" in settled.defaulted:
        settled.values.pop("sequence_tokens")
    usual = {"prompt_tokens": PROMPT_TOKENS, "completion_tokens": COMPLETION_TOKENS, "rollout": "none"}
    for column, value in usual.items():
        if column not in settled.values:
            settled.values[column], settled.fields[column] = value, main.name
            settled.defaulted.add(column)
