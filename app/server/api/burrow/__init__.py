"""The read endpoints of Burrow (`/v3/kafka`), answered as Burrow does."""
