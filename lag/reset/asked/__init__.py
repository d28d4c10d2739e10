"""What is asked of a reset: which offsets, of which partitions, in words and from options."""
