"""The format of the brokers' storage: `meta.properties` and `bootstrap.checkpoint` in each data folder.

Kafka's StorageTool makes the checkpoint (feature levels). It is the same for every node and every cluster of one Kafka
version and one set of broker properties, so the tool, a second of Java, runs once for each per user cache.
"""

import shutil
import time
import uuid
from base64 import urlsafe_b64encode
from collections.abc import Mapping, Sequence
from hashlib import sha256
from pathlib import Path

from lag.embedded.config import to_file
from lag.embedded.supervisor_client import Keeper, log_tail
from lag.errors import EmbeddedError

_NAME = "bootstrap.checkpoint"
_LOOK_EVERY_S = 0.02


def kept_checkpoint(cache: Path, classpath: Sequence[Path], properties: Mapping[str, str]) -> Path:
    """Where the checkpoint of this Kafka version is kept between runs of brokers with these extra properties."""
    version = next((jar.stem for jar in classpath if jar.name.startswith("kafka_2.13-")), "kafka")
    asked = f"-{sha256(to_file(dict(sorted(properties.items()))).encode()).hexdigest()[:12]}" if properties else ""
    return cache / f"bootstrap-{version}{asked}.checkpoint"


def make_checkpoint(keeper: Keeper, folder: Path, command: Sequence[str]) -> Path:
    """Have Kafka's tool format a folder by `broker-1.properties`; the checkpoint it made. Raises EmbeddedError."""
    log = folder / "format.log"
    arguments = [*command, "kafka.tools.StorageTool", "format", "--cluster-id", random_uuid()]
    arguments += ["--config", str(folder / "broker-1.properties")]
    keeper.start("format", arguments, log)
    while (code := keeper.poll("format")) is None:
        time.sleep(_LOOK_EVERY_S)
    if code != 0:
        tail = "\n".join(log_tail(log))
        raise EmbeddedError("Kafka's storage could not be formatted", f"Its last log lines say why:\n{tail}")
    made = folder / _NAME
    shutil.move(folder / "data-1" / _NAME, made)
    shutil.rmtree(folder / "data-1")
    return made


def format_nodes(folder: Path, nodes: Sequence[int], checkpoint: Path) -> None:
    """Write what StorageTool writes into the data folder of each node (MetaProperties version 1)."""
    cluster_id = random_uuid()
    for node in nodes:
        data = folder / f"data-{node}"
        data.mkdir()
        shutil.copyfile(checkpoint, data / _NAME)
        meta = {"version": "1", "cluster.id": cluster_id, "node.id": str(node), "directory.id": random_uuid()}
        (data / "meta.properties").write_text(to_file(meta))


def random_uuid() -> str:
    """A random id in the form of `org.apache.kafka.common.Uuid`; never one that starts with a dash."""
    text = urlsafe_b64encode(uuid.uuid4().bytes).decode().rstrip("=")
    return random_uuid() if text.startswith("-") else text
