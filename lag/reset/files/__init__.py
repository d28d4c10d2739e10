"""A plan and its offsets as files."""
