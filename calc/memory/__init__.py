"""Memory of one GPU by component, and the moment of its peak. Bytes.

A component is a formula; `moments` says which of them are alive when; `peak` takes the largest
moment; `overhead` adds what the driver and the allocator hold. A name tells the shape of its
column: `stack_` has the shape (stacks of like blocks, rows), `place_` (places in a stack, stacks,
rows); all else has one value per row.
"""
