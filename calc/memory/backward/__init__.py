"""A micro-batch from its forward pass to the last reduction. Bytes on one GPU.

The files stand in the order in which things happen:

1. `waiting_gradients`: micro-batches whose forward pass is done wait for their backward pass; in a pipeline
several, with the gradients of
   those that are done. The turn at which most waits is the one that is followed from here on.
2. `saved`: every block has saved its activations, or its input alone; autocast's copies and a
pipeline's buffers stand beside them.
3. `loss`: the head makes logits, the loss their gradients.
4. `groups`: sharding has gathered whole weights for the products, and reduction has its buckets.
5. `head`: the head's own backward pass.
6. `places`: then each block frees its activations and adds its gradients, so between the ends of a
stack memory is linear: the
   first two and the last two blocks are looked at. Above them all is done; FSDP holds the block,
   and the one that comes next.
7. `block`: inside one block memory is largest at its widest products, at attention, once all its
gradients are there, or while
   they are reduced.
8. `last`: the embedding's gradient, and the last reduction.

What was simulated storage by storage is in validation/data/parallel; terms of sharding are in
validation/README.md, "Sharding".
"""
