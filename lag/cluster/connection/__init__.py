"""How a cluster is reached: settings from file and environment, credentials, certificates, and why it did not work."""
