"""The labs: stories that show how Kafka behaves, step by step."""
