"""How far the estimate is from what PyTorch allocates: the cases, the truth, the scripts that make it, the comparison."""
