"""The demo workload on an embedded Kafka: real producers and consumers, with and without faults.

    with (
        EmbeddedKafka(properties=BROKER_PROPERTIES) as kafka,
        Workload(kafka.bootstrap_servers, kafka.folder) as workload,
    ):
        workload.wait_ready()
        workload.controls.kill_member("order-fulfilment-1")

`describe()` says which group shows what. No Kafka client is imported into the process that starts it.
"""

from lag.embedded.workload.controls import START_AGAIN, Controls, DemoMember, DemoTopic, Readiness, Running
from lag.embedded.workload.expected_verdicts import Case, describe
from lag.embedded.workload.plan import BROKER_PROPERTIES, PLAYABLE_TOPICS
from lag.embedded.workload.process import Workload

__all__ = [
    "BROKER_PROPERTIES",
    "PLAYABLE_TOPICS",
    "START_AGAIN",
    "Case",
    "Controls",
    "DemoMember",
    "DemoTopic",
    "Readiness",
    "Running",
    "Workload",
    "describe",
]
