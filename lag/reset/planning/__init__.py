"""From what is asked to a plan: the target of every partition and what it does to the consumers."""
