"""What the GPU at the first or the last end of a pipeline holds. Counts of elements."""

import numpy as np


def holds_embedding(pipeline_parallel, at_last_stage):
    """1 on the first pipeline stage, and where there is no pipeline. [0 or 1]"""
    return np.where(pipeline_parallel == 1, 1.0, 1.0 - at_last_stage)


def holds_head(pipeline_parallel, at_last_stage):
    """1 on the last pipeline stage, and where there is no pipeline. [0 or 1]"""
    return np.where(pipeline_parallel == 1, 1.0, at_last_stage)


def head_elements_here(head_matrix_parameters, vocabulary_split):
    """Elements of the head's matrix on one GPU. [elements]"""
    return head_matrix_parameters / vocabulary_split


def stage_head_here(head_elements_here, holds_head):
    """Elements of the head's matrix on one GPU, where its stage has the head. [elements]"""
    return head_elements_here * holds_head


def outside_parameters_here(outside_parameters, embedding_parameters, head_parameters, tied, holds_embedding, holds_head, vocabulary_split):
    """Parameters outside the blocks on one GPU. [parameters]

    The embedding at a pipeline's first stage, the head at its last, and the small rest at both.
    """
    rest = outside_parameters - embedding_parameters - head_parameters
    embedding = embedding_parameters * np.maximum(holds_embedding, tied * holds_head)
    return rest + (embedding + head_parameters * holds_head) / vocabulary_split


def embedding_parameters_here(embedding_parameters, tied, holds_embedding, holds_head, vocabulary_split):
    """Elements of the embedding on one GPU. [parameters]"""
    return embedding_parameters * np.maximum(holds_embedding, tied * holds_head) / vocabulary_split


def tower_parameters_here(tower_parameters, tensor_parallel):
    """Parameters of the vision tower and its projector on one GPU. [parameters]

    vLLM, model_executor/models/vision.py and the towers that use it: their matrices are parallel by heads and columns.
    """
    return tower_parameters / tensor_parallel


def blocks_parameters_here(stack_layers_here, stack_block_parameters_here):
    """Parameters of all blocks on one GPU. [parameters]"""
    return np.sum(stack_layers_here * stack_block_parameters_here, axis=0)


def spread_experts_here(stack_layers_here, stack_block_experts_here, expert_copies_ratio, trains_all):
    """What trained experts count more because fewer ranks divide their states. [elements]"""
    return trains_all * np.sum(stack_layers_here * stack_block_experts_here, axis=0) * (expert_copies_ratio - 1)


def adapter_parameters_here(stack_layers_here, stack_adapter_parameters, tensor_parallel):
    """LoRA parameters on one GPU. [parameters]"""
    return np.sum(stack_layers_here * stack_adapter_parameters, axis=0) / tensor_parallel
