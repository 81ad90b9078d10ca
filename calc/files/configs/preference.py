"""Configs that train by preference or reward are refused; they are not supervised runs."""

import re

from calc.files.configs.problem import ConfigProblem

_OBJECTIVES = "dpo|ipo|kto|orpo|cpo|simpo|bco|ppo|grpo|gspo|dapo|gdpo|rloo|reinforce|online_dpo|online-dpo|nash_md|xpo|gkd|reward|rm|prm"
_SET = r"""["']?\s*[:=\s]\s*["']?"""  # between a field and its value, in YAML, JSON, TOML or on a command line
_MARKS = {  # tool -> what only its training by preference or reward writes
    "TRL": rf"\btrl\s+(?P<a>{_OBJECTIVES})\b|\btrl[./]scripts[./](?P<b>{_OBJECTIVES})\b|(?:^|[\s/])(?P<c>{_OBJECTIVES})(?:_vlm)?\.py\b"
    r"|\b(?P<d>DPO|KTO|ORPO|CPO|PPO|GRPO|RLOO|BCO|XPO|PRM|GKD|NashMD|OnlineDPO|Reward)(?:Trainer|Config)\b",
    "axolotl": rf"""^\s*["']?rl{_SET}(?P<a>{_OBJECTIVES})\b|^\s*["']?(?P<b>(?:process_)?reward_model){_SET}true""",
    "LLaMA-Factory": rf"""(?:^|[\s{{,])(?:--)?["']?stage{_SET}(?P<a>rm|ppo|dpo|kto)\b""",
    "OpenRLHF": r"\bopenrlhf\.cli\.train_(?P<a>(?!sft)\w+)",
    "verl": r"\bverl\.trainer\.(?P<a>main_\w+)|\b(?:algorithm\.)?adv_estimator\b(?P<b>)",
    "NeMo-RL": rf"\brun_(?P<a>{_OBJECTIVES})\.py\b"
    rf"|\bexamples/configs/(?P<b>{_OBJECTIVES})\w*\.ya?ml|\bnemo_rl\.algorithms\.(?P<c>{_OBJECTIVES})\b",
    "ms-swift": rf"\bswift\s+rlhf\b(?P<a>)|--rlhf_type\s+(?P<b>{_OBJECTIVES})\b",
    "torchtune": r"\b(?:lora|full)_(?P<a>dpo)_\w+|\b(?P<b>ppo|grpo)_full_finetune\w*|\b(?P<c>dev/grpo)\w*",
}
_PATTERNS = {tool: re.compile(pattern, re.MULTILINE) for tool, pattern in _MARKS.items()}
_COMMENT = re.compile(r"^\s*#(?!SBATCH).*$", re.MULTILINE)


def refuse_preference(text: str, file: str) -> None:
    """Raise ConfigProblem where a config or a command trains by preference or reward."""
    for tool, pattern in _PATTERNS.items():
        if match := pattern.search(_COMMENT.sub("", text)):
            objective = next((value for value in match.groups() if value), "")
            named = f"{tool}, {objective.upper().replace('_', ' ')}" if objective else tool
            raise ConfigProblem(
                f"{file}: it trains by preference or reward ({named}), whose memory and time are not those of supervised training and are "
                "not estimated; give the config of its supervised run."
            )
