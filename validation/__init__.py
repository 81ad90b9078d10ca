"""How far the estimate is from what PyTorch allocates: cases, truth, the scripts that make it, the
comparison.
"""
