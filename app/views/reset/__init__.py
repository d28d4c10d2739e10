"""The page that plans, applies, verifies and undoes a reset of a group's offsets."""
