"""`groupscope jars`: the jars of Kafka and of the Spark pipeline, fetched and verified."""

from app.cli.output import emit, emit_json
from lag.embedded.jars import describe


def run(as_json: bool) -> None:
    """Print where they are. Raises EmbeddedError when one cannot be had or fails its checksum."""
    found = describe()
    if as_json:
        emit_json(found)
        return
    emit(f"Java   {found['java_home']}")
    emit(f"Kafka  {len(found['kafka_classpath'])} jars, the first {found['kafka_classpath'][0]}")
    emit(f"Spark  {len(found['spark_jars'])} jars, the first {found['spark_jars'][0]}")
