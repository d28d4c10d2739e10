"""Kafka's `sticky`, and what it shares with `cooperative-sticky` (Kafka: `AbstractStickyAssignor`)."""

from assignors.client.sticky.assignor import StickyAssignor, plan_sticky

__all__ = ["StickyAssignor", "plan_sticky"]
