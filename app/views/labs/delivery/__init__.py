"""The Delivery lab."""
