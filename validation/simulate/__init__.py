"""What PyTorch allocates, found without a GPU: fake CUDA tensors, real models, every storage
followed.
"""
