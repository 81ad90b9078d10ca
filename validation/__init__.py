"""Accuracy of the estimate against what PyTorch allocates.

Cases, the measured or simulated truth, the scripts that make it, and the comparison.
"""
