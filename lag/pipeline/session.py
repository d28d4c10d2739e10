"""A Spark session: on this machine with groupscope's Java and jars, or the one of spark-submit."""

import logging
import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path

from lag.embedded.jars import spark_jars
from lag.embedded.java import NO_PERF_DATA, find_java, spark_java_home
from lag.embedded.supervisor import owned_folder
from lag.errors import ConfigError, EmbeddedError
from lag.process_family import environment

if find_spec("pyspark") is None:
    raise ConfigError("PySpark is not installed", "Install it: uv sync --extra pipeline")

from py4j.protocol import Py4JError
from pyspark import SparkContext
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

HEAP_MB = 1024
FOLDER = "groupscope-spark-"
STOP_S = 5
"""How long to wait for a stream to stop: one that waits for a broker does not stop."""

FRUGAL = "-XX:+UseSerialGC -XX:TieredStopAtLevel=1"
"""JVM options that need less memory and CPU, for a JVM beside more important processes."""

BATCH_ROWS = 32_768
"""Records in a batch of a Python worker; smaller batches are slower, larger ones not faster."""

SUBMITTED = "PYSPARK_GATEWAY_PORT"
"""Set by spark-submit, which then determines master, memory and jars."""


@contextmanager
def session(cores: int = 2, heap_mb: int = HEAP_MB, java_options: str = "") -> Iterator[SparkSession]:
    """A session that is stopped at the end; under spark-submit `cores`, heap and JVM options are ignored.

    Raises EmbeddedError if Java or a jar is missing.
    """
    logging.getLogger("py4j").setLevel(logging.CRITICAL)  # it would print errors that are raised as well
    with owned_folder(FOLDER) as folder:
        local = {} if SUBMITTED in os.environ else _local(cores, heap_mb, java_options, folder)
        spark = _start(_always() | local)
        try:
            yield spark
        finally:
            spark.stop()
            _end_jvm()


def _end_jvm() -> None:
    """End the JVM, because its folder is deleted. Under spark-submit it is not ours."""
    gateway = SparkContext._gateway
    if gateway is None or SUBMITTED in os.environ:
        return
    SparkContext._gateway = SparkContext._jvm = None
    gateway.shutdown()
    gateway.proc.stdin.close()  # PythonGatewayServer ends with its input
    gateway.proc.wait()


def _start(settings: Mapping[str, str]) -> SparkSession:
    builder = SparkSession.builder.appName("groupscope")
    for key, value in settings.items():
        builder = builder.config(key, value)
    try:
        return builder.getOrCreate()
    except (PySparkException, Py4JError, OSError) as error:
        raise EmbeddedError(
            f"Spark does not start: {str(error).splitlines()[0]}", "groupscope doctor checks Java"
        ) from error


def _always() -> dict[str, str]:
    return {
        # Otherwise Spark skips internal topics and reads nothing.
        "spark.sql.streaming.kafka.useDeprecatedOffsetFetching": "true",
        "spark.sql.streaming.stopTimeout": f"{STOP_S}s",
        "spark.sql.execution.arrow.maxRecordsPerBatch": str(BATCH_ROWS),
        "spark.sql.extensions": "io.delta.sql.DeltaSparkSessionExtension",
        "spark.sql.catalog.spark_catalog": "org.apache.spark.sql.delta.catalog.DeltaCatalog",
        "spark.sql.session.timeZone": "UTC",
        # The default is 50 tasks for each read of a table's log; two need less than a second.
        "spark.databricks.delta.snapshotPartitions": "2",
        # Fetched records are read once. Spark would cache a megabyte of each partition for five minutes.
        "spark.kafka.consumer.fetchedData.cache.timeout": "5s",
        "spark.kafka.consumer.fetchedData.cache.evictorThreadRunInterval": "5s",
    }


def _local(cores: int, heap_mb: int, java_options: str, folder: Path) -> dict[str, str]:
    os.environ.update(environment(str(folder)))  # the JVM inherits it: removing the folder ends the JVM, too
    os.environ["JAVA_HOME"] = str(spark_java_home(find_java()))
    os.environ["PYSPARK_PYTHON"] = os.environ["PYSPARK_DRIVER_PYTHON"] = sys.executable
    quiet = f"-Dlog4j2.configurationFile={Path(__file__).with_name('log4j2.properties').as_uri()}"
    return {
        "spark.master": f"local[{cores}]",
        "spark.driver.memory": f"{heap_mb}m",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.extraJavaOptions": f"{NO_PERF_DATA} {java_options} {quiet} -Djava.io.tmpdir={folder}",
        "spark.jars": ",".join(map(str, spark_jars())),
        "spark.local.dir": str(folder),
        "spark.sql.warehouse.dir": str(folder / "warehouse"),
        "spark.sql.shuffle.partitions": str(2 * cores),
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
    }
