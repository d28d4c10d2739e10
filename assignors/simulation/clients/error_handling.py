"""How a client handles errors in replies (Kafka: AbstractCoordinator and the heartbeat request managers)."""

from assignors.simulation.errors import KafkaError

ELSEWHERE = frozenset({KafkaError.NOT_COORDINATOR, KafkaError.COORDINATOR_NOT_AVAILABLE})
"""The coordinator is another broker: look for it."""

LATER = ELSEWHERE | {KafkaError.COORDINATOR_LOAD_IN_PROGRESS}
"""Retry after the backoff."""

NEW_ID = frozenset({KafkaError.UNKNOWN_MEMBER_ID, KafkaError.FENCED_INSTANCE_ID})
"""Classic: the member id is no longer valid."""

LOST = NEW_ID | {KafkaError.ILLEGAL_GENERATION}
"""Classic: reset the generation and rejoin."""

AGAIN = frozenset({KafkaError.NONE, KafkaError.MEMBER_ID_REQUIRED, KafkaError.REBALANCE_IN_PROGRESS})
"""Classic: rejoin with the same generation."""

FATAL = (frozenset(KafkaError) - LOST - LATER - AGAIN) | {KafkaError.FENCED_INSTANCE_ID}
"""Classic: an exception for the application."""
