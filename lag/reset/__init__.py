"""Changes of a group's committed offsets: a plan that is reviewed, applied, verified and undone."""
