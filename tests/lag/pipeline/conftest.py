"""One Spark session and one broker for all tests of a module: both take seconds to start."""

from collections.abc import Iterator

import pytest
from pyspark.sql import SparkSession

from lag.embedded.broker import EmbeddedKafka
from lag.pipeline.session import session
from tests.lag.pipeline.broker_side import create_topic


@pytest.fixture(scope="session", autouse=True)
def short_lived_jvms() -> Iterator[None]:
    """Most of what a JVM of these tests does, it does once: compiling it well would take longer than doing it."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("JAVA_TOOL_OPTIONS", "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC")
        yield


@pytest.fixture(scope="module")
def spark() -> Iterator[SparkSession]:
    """A session on two cores, as `groupscope pipeline` makes it."""
    with session(heap_mb=768) as made:
        yield made


@pytest.fixture(scope="module")
def cluster() -> Iterator[EmbeddedKafka]:
    """A broker of the module's own: what is in its `__consumer_offsets` is what the tests put there."""
    with EmbeddedKafka(heap_mb=256, offsets_partitions=8) as kafka:
        create_topic(kafka.bootstrap_servers, "orders", 64)
        yield kafka
