"""A plan is checked, applied, verified and undone."""
