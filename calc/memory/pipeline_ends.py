"""Parts of the model on the GPU at one stage of a pipeline. Counts of blocks and elements.

Source: tensor parallel, Shoeybi et al. 2019, arXiv 1909.08053, section 3; pipeline stages,
Narayanan et al. 2021, arXiv 2104.04473, section 2.
"""

import numpy as np


def holds_embedding(stages_before):
    """1 on the first pipeline stage, and without a pipeline. [0 or 1]"""
    return (stages_before == 0) * 1.0


def holds_head(stages_before, pipeline_parallel):
    """1 on the last pipeline stage, and without a pipeline. [0 or 1]"""
    return (stages_before == pipeline_parallel - 1) * 1.0


def stage_blocks(
    stack_layers,
    pipeline_parallel,
    most_stage_blocks,
    stages_before,
    holds_head,
    implementation_torch_pipeline,
    trains,
):
    """Blocks of this stage; the remainder goes to stages between the ends. [blocks]

    Outside torch.distributed.pipelining the first stage counts as one of them. Source: torchtitan,
    distributed/pipeline_parallel.py, generate_llm_fqn_per_model_part; vLLM, distributed/utils.py,
    get_pp_indices.
    """
    fewest = np.maximum(np.floor(np.sum(stack_layers, axis=0) / pipeline_parallel), 1)
    has_fewest = np.where(stages_before == 0, implementation_torch_pipeline * trains, holds_head)
    return np.where(has_fewest > 0, fewest, most_stage_blocks)


def first_blocks_here(first_blocks, stages_before, most_stage_blocks, stage_blocks, stack_layers):
    """Blocks of this stage that are dense and precede all routed ones. [blocks]"""
    blocks_before = np.minimum(
        stages_before * most_stage_blocks,
        np.maximum(np.sum(stack_layers, axis=0) - stage_blocks, 0),
    )
    return np.clip(first_blocks - blocks_before, 0, stage_blocks)


def stack_layers_here(stack_layers, stack_experts, first_blocks, first_blocks_here, stage_blocks):
    """Blocks of each stack on this stage; alternating stacks give equal shares. [blocks]

    Shape: (stacks, rows).
    """
    others = np.maximum(np.sum(stack_layers, axis=0) - first_blocks, 1)
    of_others = (stage_blocks - first_blocks_here) / others
    of_first = first_blocks_here / np.maximum(first_blocks, 1)
    return stack_layers * np.where((first_blocks > 0) & (stack_experts == 0), of_first, of_others)


def head_elements_here(head_matrix_parameters, vocabulary_split):
    """Elements of the head's matrix on one GPU. [elements]"""
    return head_matrix_parameters / vocabulary_split


def stage_head_here(head_elements_here, holds_head):
    """Elements of the head's matrix on one GPU of the stage that has the head. [elements]"""
    return head_elements_here * holds_head


def outside_parameters_here(
    outside_parameters,
    embedding_parameters,
    head_parameters,
    tied,
    holds_embedding,
    holds_head,
    vocabulary_split,
):
    """Parameters outside the blocks on one GPU. [parameters]

    The embedding at a pipeline's first stage, the head at its last, and the small rest at both.
    """
    rest = outside_parameters - embedding_parameters - head_parameters
    embedding = embedding_parameters * np.maximum(holds_embedding, tied * holds_head)
    return rest + (embedding + head_parameters * holds_head) / vocabulary_split


def embedding_parameters_here(
    embedding_parameters, tied, holds_embedding, holds_head, vocabulary_split
):
    """Elements of the embedding on one GPU. [parameters]"""
    return embedding_parameters * np.maximum(holds_embedding, tied * holds_head) / vocabulary_split


def tower_parameters_here(tower_parameters, tensor_parallel):
    """Parameters of the vision tower and its projector on one GPU. [parameters]

    Their matrices are parallel by heads and columns. Source: vLLM, model_executor/models/vision.py
    and the towers that use it.
    """
    return tower_parameters / tensor_parallel


def blocks_parameters_here(stack_layers_here, stack_block_parameters_here):
    """Parameters of all blocks on one GPU. [parameters]"""
    return np.sum(stack_layers_here * stack_block_parameters_here, axis=0)


def spread_experts_here(stack_layers_here, stack_block_experts_here, expert_copies_ratio, trains):
    """Additional elements of experts, which fewer ranks divide than other weights. [elements]

    Frozen experts too: ranks of expert parallel hold different ones.
    """
    return (
        trains
        * np.sum(stack_layers_here * stack_block_experts_here, axis=0)
        * (expert_copies_ratio - 1)
    )


def spread_trained_experts_here(spread_experts_here, adapts):
    """Additional elements of experts that are trained, not adapted. [elements]"""
    return spread_experts_here * (1 - adapts)


def adapter_parameters_here(stack_layers_here, stack_adapter_parameters, tensor_parallel):
    """LoRA parameters on one GPU. [parameters]"""
    return np.sum(stack_layers_here * stack_adapter_parameters, axis=0) / tensor_parallel


def saved_embedding_here(adapts, saves_embedding, embedding_parameters_here, holds_embedding):
    """Elements of the copy of the embedding that LoRA trains whole. [elements]

    Source: peft 0.21, utils/other.py, ModulesToSaveWrapper.
    """
    return adapts * saves_embedding * embedding_parameters_here * holds_embedding


def saved_head_here(adapts, saves_head, stage_head_here):
    """Elements of the copy of the head that LoRA trains whole. [elements]

    Source: as saved_embedding_here.
    """
    return adapts * saves_head * stage_head_here
