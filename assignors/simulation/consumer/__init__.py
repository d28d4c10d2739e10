"""The KIP-848 group coordinator of Kafka 4.3.1, as a state machine on the kernel's clock."""
