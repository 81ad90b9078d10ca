"""Division of a model, its tokens and its states by a layout. Elements and tokens.

Stack quantities have shape (stacks, rows). `holds_embedding` and `holds_head` say which end of a
pipeline the GPU is at.
"""

from functools import partial

import numpy as np

from calc.evaluate import evaluate

CHUNK_LAYERS = 4  # blocks in a chunk of an interleaved pipeline stage


def data_parallel(training_gpus, tensor_parallel, pipeline_parallel, context_parallel):
    """Replicas of the model: GPUs / (tensor × pipeline × context). [replicas]

    Source: Narayanan et al. 2021, arXiv 2104.04473, section 3.
    """
    return np.maximum(
        np.floor(training_gpus / (tensor_parallel * pipeline_parallel * context_parallel)), 1
    )


def _replicas(gpus, tensor_parallel, pipeline_parallel, context_parallel):
    return data_parallel(gpus, tensor_parallel, pipeline_parallel, context_parallel)


def _at_once(
    work, batch, accumulation_steps, gpus, tensor_parallel, pipeline_parallel, context_parallel
):
    steps = np.where(work == "training", accumulation_steps, 1)
    return batch * steps * _replicas(gpus, tensor_parallel, pipeline_parallel, context_parallel)


# Of a row: its model replicas, and the sequences of its optimizer step or the requests that they
# answer at once.
replicas = partial(evaluate, _replicas)
at_once = partial(evaluate, _at_once)


def shard_gpus(data_parallel, context_parallel, group_gpus):
    """GPUs that ZeRO and FSDP shard over: data × context parallel, or one group. [GPUs]

    Source: torchtitan, distributed/parallel_dims.py, the shard mesh.
    """
    ranks = data_parallel * context_parallel
    return np.where(group_gpus > 0, np.minimum(ranks, group_gpus), ranks)


def shard_replicas(data_parallel, context_parallel, shard_gpus):
    """Groups that shard among themselves; more than one in hybrid sharding. [groups]

    Zhao et al. 2023, arXiv 2304.11277, section 3.2.2; torchtitan's data_parallel_replicate_degree.
    """
    return data_parallel * context_parallel / shard_gpus


def partitions_master(master_bytes_each, shards_optimizer, shards_weights, implementation_fsdp):
    """1 if ZeRO 1 or 2 divides an fp32 master copy, as DeepSpeed does. [0 or 1]

    Every GPU holds the whole 16-bit weights. FSDP has no master copy, since its shards are the
    master. Source: deepspeed, runtime/zero/stage_1_and_2.py; torch/distributed/fsdp/_fully_shard.
    """
    return (
        (master_bytes_each > 0)
        * (shards_optimizer > 0)
        * (shards_weights == 0)
        * implementation_fsdp
    )


def bucket_elements(partitions_master, implementation_bucket_elements, hidden):
    """Elements of the reduce bucket: the software's, or hidden² as Trainer sets it. [elements]

    Source: transformers, integrations/deepspeed.py.
    """
    return np.where(partitions_master > 0, hidden**2, implementation_bucket_elements)


def fsdp_active(
    implementation_fsdp, partitions_master, shards_gradients, shard_gpus, trains, offloads_weights
):
    """1 if weights are gathered block by block (FSDP2). [0 or 1]

    ZeRO 2 and 3 on more than one GPU, and weights that live in CPU memory (Zhao et al. 2023, arXiv
    2304.11277; torch/distributed/fsdp/_fully_shard).
    """
    blockwise = implementation_fsdp * (1 - partitions_master) * shards_gradients * (shard_gpus > 1)
    return np.maximum(blockwise, offloads_weights) * trains


def reshards_weights(shards_weights, pipeline_parallel):
    """1 if FSDP frees gathered weights after each block. [0 or 1]

    Source: torchtitan, models/llama3/infra/parallelize.py, reshard_after_forward_policy;
    torch/distributed/pipelining/stage.py.
    """
    return shards_weights * (pipeline_parallel == 1)


def autocast_active(
    autocast_bytes_each, fsdp_active, implementation_autocasts_shards, shards_gradients, trains
):
    """1 if products run under autocast. [0 or 1]

    Sharded mixed precision instead gathers 16-bit copies and runs a plain 16-bit model. Source:
    torch/amp/autocast_mode.py.
    """
    is_sharded = np.maximum(fsdp_active, shards_gradients)
    return (
        (autocast_bytes_each > 0)
        * trains
        * np.where(implementation_autocasts_shards > 0, 1, 1 - is_sharded)
    )


def activation_format(precision_format, autocast_active):
    """Column of the block coefficients: 0 bf16, 1 fp32, 2 autocast.

    By definition.
    """
    return np.where(
        precision_format == 2, np.where(autocast_active > 0, 2, 0), precision_format
    ).astype(int)


def activation_bytes_each(activation_format):
    """Width of the gathered norm outputs. [B]

    By definition.
    """
    return np.where(activation_format == 1, 4.0, 2.0)


def stack_sequence(stack_side, sequence_tokens, decoder_tokens, fixed_tokens, has_source):
    """Tokens of one sequence that pass through a stack. [tokens per sequence]

    By definition.
    """
    main = np.where(has_source > 0, decoder_tokens, sequence_tokens)
    none = 0 * stack_side
    return np.select(
        [stack_side == 1, stack_side == 2],
        [sequence_tokens + none, fixed_tokens + none],
        main + none,
    )


def stack_source_tokens(sequence_tokens, fixed_tokens, has_source, stack_cross_attention):
    """Length of the sequence that cross attention reads; 0 without it. [tokens]

    By definition.
    """
    return stack_cross_attention * np.where(has_source > 0, sequence_tokens, fixed_tokens)


def stack_source_ratio(stack_source_tokens, stack_sequence):
    """Source tokens per token of the stack itself. Shape (stacks, rows). [ratio]

    By definition.
    """
    return stack_source_tokens / np.maximum(stack_sequence, 1)


def batch_sequences(batch, sequences_each):
    """Sequences of a micro-batch; a chosen and a rejected answer are two. [sequences]

    Source: Rafailov et al. 2023, arXiv 2305.18290, for pairs.
    """
    return batch * sequences_each


def stack_tokens(batch_sequences, stack_sequence, context_parallel):
    """Tokens of a micro-batch that one GPU works on. Shape (stacks, rows). [tokens]

    By definition.
    """
    return batch_sequences * stack_sequence / context_parallel


def logits_tokens(
    batch_sequences, sequence_tokens, decoder_tokens, context_parallel, has_source, scores_once
):
    """Positions that the head scores in training: every token, or each image once. [tokens]

    By definition.
    """
    main = np.where(has_source > 0, decoder_tokens, sequence_tokens)
    return batch_sequences * np.where(scores_once > 0, 1, main / context_parallel)


def first_blocks(stack_layers, stack_experts, has_source):
    """Blocks with a dense network before all routed ones; 0 if the two alternate. [blocks]

    If at most every fourth block is dense, these come first. Otherwise they alternate with the
    routed ones. Source: first_k_dense_replace in the configs of DeepSeek, Kimi and GLM; the layer
    patterns of Llama 4 and Jamba.
    """
    dense = np.sum(stack_layers * (stack_experts == 0), axis=0)
    return np.where((has_source == 0) & (4 * dense <= np.sum(stack_layers, axis=0)), dense, 0)


def most_stage_blocks(stack_layers, pipeline_parallel):
    """Blocks of the fullest pipeline stage. [blocks]

    By definition.
    """
    return np.ceil(np.sum(stack_layers, axis=0) / pipeline_parallel)


def stage_between(pipeline_parallel, first_blocks, most_stage_blocks):
    """Number of the first stage between the ends that has no dense block; 0 for none. [stages]

    By definition.
    """
    number = np.clip(
        np.ceil(first_blocks / np.maximum(most_stage_blocks, 1)),
        1,
        np.maximum(pipeline_parallel - 2, 1),
    )
    return np.where((pipeline_parallel > 2) & (first_blocks > 0), number, 0)


def stage_chunks(
    pipeline_chunks, engine_interleaves_stages, stack_layers, pipeline_parallel, accumulation_steps
):
    """Chunks of blocks per pipeline stage that take turns. [chunks]

    Megatron interleaves where the micro-batches divide by the stages (Narayanan et al. 2021, arXiv
    2104.04473, section 2.2.2); its recipes keep about four blocks in a chunk. All else runs plain
    1F1B.
    """
    divides = accumulation_steps % pipeline_parallel == 0
    chunks = np.maximum(
        np.floor(np.sum(stack_layers, axis=0) / pipeline_parallel / CHUNK_LAYERS), 1
    )
    return np.where(
        pipeline_chunks > 0,
        pipeline_chunks,
        np.where((engine_interleaves_stages > 0) & divides, chunks, 1),
    )


def expert_split(tensor_parallel, expert_parallel, pipeline_parallel, training_gpus, trains):
    """GPUs that divide the routed experts of one block. [GPUs]

    In serving, expert parallel lies inside the tensor group or extends it over the attention's
    replicas, so the larger of both counts. The same holds in training if their product exceeds the
    GPUs. Source: vLLM, fused_moe/config.py; SGLang, layers/moe.
    """
    inside = (trains == 0) | (tensor_parallel * expert_parallel > training_gpus / pipeline_parallel)
    return np.where(
        inside, np.maximum(tensor_parallel, expert_parallel), tensor_parallel * expert_parallel
    )


def stack_block_experts_here(stack_block_expert_parameters, expert_split):
    """Elements of one block's routed experts on one GPU. Shape (stacks, rows). [elements]

    By definition.
    """
    return stack_block_expert_parameters / expert_split


def stack_block_parameters_here(
    stack_block_parameters, stack_block_expert_parameters, stack_block_experts_here, tensor_parallel
):
    """Parameters of one block on one GPU. Shape (stacks, rows). [parameters]

    Tensor parallel divides all of them and expert parallel the routed experts. Norms and biases,
    which stay whole, are counted as divided. Source: Shoeybi et al. 2019, arXiv 1909.08053, section
    3.
    """
    return (
        stack_block_parameters - stack_block_expert_parameters
    ) / tensor_parallel + stack_block_experts_here


def stack_block_linear_here(
    stack_block_linear_parameters,
    stack_block_expert_parameters,
    stack_block_experts_here,
    tensor_parallel,
):
    """Elements of one block's matrices on one GPU. Shape (stacks, rows). [elements]

    Source: Shoeybi et al. 2019, arXiv 1909.08053, section 3.
    """
    return (
        stack_block_linear_parameters - stack_block_expert_parameters
    ) / tensor_parallel + stack_block_experts_here


def stack_group_here(
    stack_block_parameters_here,
    stack_block_experts_here,
    expert_parallel,
    implementation_groups_experts,
):
    """Parameters of a block that FSDP gathers together, without separate experts. [elements]

    Shape: (stacks, rows). Source: torchtitan groups experts apart under expert parallel
    (models/llama4/infra/parallelize.py, apply_fsdp).
    """
    apart = implementation_groups_experts * (expert_parallel > 1)
    return stack_block_parameters_here - apart * stack_block_experts_here


def expert_copies_ratio(shard_gpus, expert_parallel):
    """Ranks that share a GPU's other weights, per rank with the same experts. [ratio]

    Expert parallel lies across the data-parallel ranks, so data × context × tensor / expert
    parallel of them hold the same experts and divide their states. Source: Megatron-Core,
    parallel_state.py; torchtitan, distributed/parallel_dims.py.
    """
    return np.minimum(expert_parallel, shard_gpus)


def vocabulary_split(tensor_parallel, implementation_splits_vocabulary):
    """GPUs over which embedding, head and logits are divided. [GPUs]

    Source: catalogs/edited/implementations.yaml, splits_vocabulary; Shoeybi et al. 2019, arXiv
    1909.08053, section 3.
    """
    return np.where(implementation_splits_vocabulary > 0, tensor_parallel, 1)


def head_matrix_parameters(head_parameters, embedding_parameters, tied):
    """Elements of the output matrix, its own or that of the embedding. [parameters]

    By definition.
    """
    return np.where(tied > 0, embedding_parameters, head_parameters)


def gathered_bytes_each(
    matrix_bytes_each, compute_bytes_each, master_bytes_each, autocast_bytes_each
):
    """Width of a gathered weight: as the products, at least 16 bits, or as stored. [B]

    Weights that are stored in 8 bits beside a master copy pass without their transposes.
    Source: torch/distributed/fsdp/_fully_shard, MixedPrecisionPolicy.param_dtype; Megatron-LM,
    distrib_optimizer.py, fp8_param_gather.
    """
    wide = np.maximum(compute_bytes_each, 2.0)
    narrow = (master_bytes_each > 0) & (autocast_bytes_each == 0)
    passed = np.where(narrow, compute_bytes_each, wide)
    return np.where(matrix_bytes_each < 2, matrix_bytes_each, passed)


def stack_largest_linear(
    stack_hidden, stack_ffn_width, stack_query_width, stack_expert_ffn_width, stack_shared_ffn_width
):
    """Elements of the largest linear layer of a block. Shape (stacks, rows). [elements]

    By definition.
    """
    dense = np.maximum(stack_ffn_width, stack_query_width)
    experts = np.maximum(stack_expert_ffn_width, stack_shared_ffn_width)
    return stack_hidden * np.maximum(dense, experts)
