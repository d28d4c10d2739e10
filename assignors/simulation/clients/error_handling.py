"""What an error in a reply means to a client (Kafka: the handlers of AbstractCoordinator and of heartbeat managers)."""

from assignors.simulation.errors import KafkaError

ELSEWHERE = frozenset({KafkaError.NOT_COORDINATOR, KafkaError.COORDINATOR_NOT_AVAILABLE})
"""The coordinator is another broker: look for it."""

LATER = ELSEWHERE | {KafkaError.COORDINATOR_LOAD_IN_PROGRESS}
"""Ask again after the back-off."""

NEW_ID = frozenset({KafkaError.UNKNOWN_MEMBER_ID, KafkaError.FENCED_INSTANCE_ID})
"""Classic: the member id is worth nothing any more."""

LOST = NEW_ID | {KafkaError.ILLEGAL_GENERATION}
"""Classic: the generation is lost; join again."""

AGAIN = frozenset({KafkaError.NONE, KafkaError.MEMBER_ID_REQUIRED, KafkaError.REBALANCE_IN_PROGRESS})
"""Classic: join again, and nothing is lost."""

FATAL = (frozenset(KafkaError) - LOST - LATER - AGAIN) | {KafkaError.FENCED_INSTANCE_ID}
"""Classic: the application gets it as an exception."""
