"""What the page scripts are made of, where it is more than a few lines."""
