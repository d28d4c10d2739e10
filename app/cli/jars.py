"""`groupscope jars`: the jars of Kafka and of the Spark pipeline, downloaded and verified."""

from app.cli.shared.options import Json, new_command
from app.cli.shared.output import emit, emit_json
from lag.embedded.jars import describe

command = new_command()


@command.command()
def jars(json: Json = False) -> None:
    """Download and verify the jars of Kafka and Spark.

    Prints where Java and the jars are, for tests, benchmarks and spark-submit.
    """
    found = describe()
    if json:
        emit_json(found)
        return
    emit(f"Java   {found['java_home']}")
    emit(f"Kafka  {len(found['kafka_classpath'])} jars, the first {found['kafka_classpath'][0]}")
    emit(f"Spark  {len(found['spark_jars'])} jars, the first {found['spark_jars'][0]}")
