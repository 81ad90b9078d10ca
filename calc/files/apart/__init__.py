"""Foreign text is read in a process of its own, with limits on memory and CPU time."""
