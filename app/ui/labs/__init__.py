"""What the four labs share: a story in the link, its head, and the fields that change it."""
