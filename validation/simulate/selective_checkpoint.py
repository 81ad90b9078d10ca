"""Recompute per operator, with the policy that torchtitan sets: keep attention outputs and every odd matrix product."""

from functools import partial

from validation.simulate.device import aten  # isort: skip
from torch.utils.checkpoint import CheckpointPolicy, checkpoint, create_selective_checkpoint_contexts

KEPT = {
    aten._scaled_dot_product_flash_attention.default,
    aten._scaled_dot_product_efficient_attention.default,
    aten._scaled_dot_product_cudnn_attention.default,
    aten.max.default,
}


def policy():
    """A new policy for one run of one block; products are counted from the block's first."""
    products = {True: 0, False: 0}

    def decide(context, function, *arguments, **options):
        keep = function in KEPT
        if function is aten.mm.default:
            products[context.is_recompute] += 1
            keep = products[context.is_recompute] % 2 == 1
        return CheckpointPolicy.MUST_SAVE if keep else CheckpointPolicy.PREFER_RECOMPUTE

    return create_selective_checkpoint_contexts(decide)


def kept_products(blocks):
    """Wrap the forward of each block in this checkpoint."""
    for block in blocks:
        block.forward = partial(checkpoint, block.forward, use_reentrant=False, context_fn=policy)
