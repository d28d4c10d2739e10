"""The pieces of the Delivery lab."""
