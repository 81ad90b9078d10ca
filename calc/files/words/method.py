"""Settings that stand beside other words: the bits of a LoRA base, what is offloaded."""

from calc.files.words.facts import Facts

BASES = {"8": ("precision", "int8"), "4": ("method", "qlora")}  # bits of what LoRA adapts
OWN_OFFLOADS = ("fsdp", "torchtune")  # which move weights, gradients and optimizer state together


def settle_method(facts: Facts, goal: str) -> None:
    """Settle the base of LoRA by its bits, and what FSDP's CPU offload moves."""
    columns = facts.columns
    bits = str(columns.get("fewest_bits", ""))
    if columns.get("method") == "qlora" and bits == "4":  # which QLoRA is
        facts.drop("fewest_bits")
    if goal == "tune" and bits == "4":  # whose weights nobody trains
        columns.setdefault("method", "lora")
    if goal != "serve" and columns.get("method") == "lora" and bits in BASES:
        column, value = BASES[bits]
        words = facts.words["fewest_bits"]
        facts.drop("fewest_bits")
        columns[column], facts.words[column] = value, words
    moved = facts.words.get("offload", "")
    if columns.get("offload") == "optimizer" and "optimizer" not in moved:
        named = f"{facts.words.get('sharding', '')} {columns.get('implementation', '')}"
        if any(name in named for name in OWN_OFFLOADS):
            columns["offload"] = "states"
        else:
            facts.assume(f"'{moved}' as that of the optimizer state")
