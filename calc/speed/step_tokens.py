"""How many tokens one optimizer step takes in."""

import numpy as np


def step_tokens(batch, stack_side, stack_layers, stack_pass_tokens, accumulation_steps, data_parallel):
    """Tokens of one step over all GPUs; of an image its patches. [tokens]"""
    sides = [np.where((stack_side == side) & (stack_layers > 0), stack_pass_tokens, 0) for side in (0, 1)]
    text = np.max(sides[0], axis=0) + np.max(sides[1], axis=0)
    fixed = np.max(np.where(stack_layers > 0, stack_pass_tokens, 0), axis=0)
    return batch * np.where(text > 0, text, fixed) * accumulation_steps * data_parallel
