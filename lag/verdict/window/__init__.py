"""The samples of the last polls, and the rates that follow from them."""
