"""A micro-batch from its forward pass to the last reduction. Bytes on one GPU.

The modules stand in the order of the events:

1. `waiting_gradients`: micro-batches whose forward pass is done wait for their backward pass. A
   pipeline has several of them, and the gradients of those that are finished. From here on, the
   turn at which most of them wait is followed.
2. `saved_tensors`: every block has saved its activations, or only its input, beside the copies of
   autocast and the buffers of a pipeline.
3. `loss`: the head makes logits, and the loss their gradients.
4. `groups`: sharding has gathered whole weights for the products, and reduction has its buckets.
5. `head`: the backward pass of the head.
6. `places`: each block then frees its activations and adds its gradients. Between the ends of a
   stack memory is linear, so the first two and the last two blocks are examined. Above them
   everything is done. FSDP holds the block and the one that comes next.
7. `block`: inside one block memory is largest at its widest products, at attention, when all its
   gradients are there, or while they are reduced.
8. `backward_end`: the gradient of the embedding, and the last reduction.

What was simulated storage by storage is in validation/data/parallel; terms of sharding are in
validation/README.md, "Sharding".
"""
