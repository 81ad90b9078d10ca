"""Memory of one GPU by component, and the moment of its peak. Bytes.

A component is a formula. `moments` says which components are alive when, `peak` takes the largest
moment, and `overhead` adds the memory of the driver and the allocator. The name of a column tells
its shape: `stack_` has the shape (stacks of equal blocks, rows), `place_` (places in a stack,
stacks, rows); all others have one value per row.
"""
