"""Simulate without a GPU what PyTorch allocates: real models on fake CUDA tensors.

Every storage is followed from its allocation to its release.
"""
