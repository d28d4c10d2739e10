"""What can take long: in a process of its own (`__main__.py`), with a deadline and a few at a time."""
