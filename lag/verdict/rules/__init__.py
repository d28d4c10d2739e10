"""The rules: the verdict of each partition from its numbers, of each group from its partitions, and their onsets."""
