"""A real broker, polled by the collector and scraped: what other exporters would say of it."""

import uuid
from collections.abc import Iterator

import pytest
from kafka.admin import KafkaAdminClient, NewTopic

from app.metrics.options import NAME_SETS
from app.metrics.view import Polled
from lag.cluster.connection.settings import load_settings
from lag.cluster.reader import open_reader
from lag.embedded.broker import EmbeddedKafka
from lag.polling.collector import Collector
from tests.app.metrics.clusters import of_family, samples
from tests.lag.cluster.test_reader import commit, fill
from tests.support.known import known
from tests.support.member import Member
from tests.support.waiting import wait_until

pytestmark = pytest.mark.broker


@pytest.fixture
def collector(kafka: EmbeddedKafka) -> Iterator[Collector]:
    settings = load_settings(kafka.bootstrap_servers, None, {})
    made = Collector("prod", lambda: open_reader(settings, "prod"), 1.0)
    yield made
    made.stop()


def test_empty_group_and_member_of_a_real_broker_are_served_under_all_names(
    kafka: EmbeddedKafka, collector: Collector
) -> None:
    topic, group, live = (f"{name}-{uuid.uuid4().hex[:8]}" for name in ("metrics", "empty", "live"))
    with KafkaAdminClient(bootstrap_servers=kafka.bootstrap_servers) as admin:
        admin.create_topics([NewTopic(topic, 2, 1)], wait_for_metadata=True)
        fill(kafka, topic, 2, 100)
        commit(admin, group, {(topic, 0): 40})
        member = Member(kafka.bootstrap_servers, live, [topic], {"enable.auto.commit": False})
        try:
            wait_until(lambda: len(member.held) == 2, within_s=60)
            collector.start()
            report = known(collector.wait_for(2, 60))
        finally:
            member.leave()
    polled = Polled("prod", report, collector.status(), report.snapshot.at_ms)
    lines = samples(polled, names=NAME_SETS, groups=f"{group}|{live}", topics=topic)
    assert of_family(lines, "kafka_consumergroup_lag") == [
        f'{{consumergroup="{group}",topic="{topic}",partition="0"}} 60',
        f'{{consumergroup="{group}",topic="{topic}",partition="1"}} -1',
    ]
    assert of_family(lines, "kafka_topic_partition_in_sync_replica") == [
        f'{{topic="{topic}",partition="{partition}"}} 1' for partition in range(2)
    ]
    assert of_family(lines, "kminion_kafka_topic_info") == [
        f'{{topic_name="{topic}",partition_count="2",replication_factor="1",cleanup_policy="delete"}} 1'
    ]
    (info,) = [line for line in of_family(lines, "kminion_kafka_consumer_group_info") if live in line]
    assert 'protocol_type="consumer",state="Stable",coordinator_id="1"} 1' in info
    assert f'{{group_id="{live}",topic_name="{topic}"}} 2' in of_family(
        lines, "kminion_kafka_consumer_group_topic_assigned_partitions"
    )
    assert of_family(lines, "groupscope_group_lag_records")[0] == f'{{cluster="prod",group="{group}"}} 60'
