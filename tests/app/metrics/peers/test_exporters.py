"""Each set of names beside the exporter whose names they are: the same series with the same values.

What the exporters said of the scenario is in tests/fixtures/exporters. Where one is installed, it is asked again.
"""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

import pytest

from app.metrics.view import Polled
from lag.embedded.broker import EmbeddedKafka
from tests.app.metrics.clusters import text
from tests.app.metrics.peers import scenario
from tests.app.metrics.peers.exporters import FOLDER, KAFKA_EXPORTER, Exporter, running, scrape
from tests.app.metrics.peers.series import (
    Differences,
    differences,
    masked,
    masked_names,
    name_of,
    recorded,
    series,
)

pytestmark = pytest.mark.broker

DOCS = (Path(__file__).parents[4] / "docs" / "metrics.md").read_text()


class Peer(NamedTuple):
    """An exporter, our set of its names, and the differences by the reason that the documentation gives."""

    exporter: Exporter
    names: str
    differences: Mapping[str, Differences]

    @property
    def all_differences(self) -> Differences:
        return {name: values for found in self.differences.values() for name, values in found.items()}


PEERS = {
    "kafka_exporter": Peer(
        KAFKA_EXPORTER,
        "kafka-exporter",
        {
            "Below the log start the lag counts from the log start": {
                'kafka_consumergroup_lag{consumergroup="behind",partition="0",topic="old"}': ("90", "30"),
                'kafka_consumergroup_lag_sum{consumergroup="behind",topic="old"}': ("90", "30"),
            },
            "A commit beyond the log end has no lag": {
                'kafka_consumergroup_lag{consumergroup="beyond",partition="0",topic="orders"}': ("-50", None),
                'kafka_consumergroup_lag_sum{consumergroup="beyond",topic="orders"}': ("-40", "10"),
            },
            "Members of KIP-848 and share groups are counted": {
                'kafka_consumergroup_members{consumergroup="kip-848"}': ("0", "1"),
                'kafka_consumergroup_members{consumergroup="share"}': ("0", "1"),
            },
        },
    ),
}


each_peer = pytest.mark.parametrize("name", PEERS)


class Scene(NamedTuple):
    """The broker of the scenario, and how we polled it."""

    kafka: EmbeddedKafka
    polled: Polled


@pytest.fixture(scope="module")
def scene() -> Iterator[Scene]:
    with scenario.at_rest() as kafka:
        yield Scene(kafka, scenario.polled(kafka))


def ours(scene: Scene, peer: Peer) -> dict[str, str]:
    return series(text(scene.polled, names=(peer.names,)), peer.exporter.prefix)


@each_peer
def test_series_are_those_that_the_exporter_had(scene: Scene, name: str) -> None:
    peer = PEERS[name]
    assert differences(recorded(name), masked(ours(scene, peer))) == peer.all_differences


@each_peer
def test_series_are_those_that_the_exporter_has(scene: Scene, name: str, tmp_path: Path) -> None:
    peer = PEERS[name]
    if peer.exporter.path is None:
        pytest.skip(f"{peer.exporter.program} is neither on PATH nor in the folder that {FOLDER} names")
    with running(peer.exporter, scene.kafka.bootstrap_servers, tmp_path) as address:
        whole = series(scrape(address), peer.exporter.prefix)
    theirs = {line: value for line, value in whole.items() if name_of(line) not in peer.exporter.not_served}
    assert {name_of(line) for line in whole.keys() - theirs.keys()} == peer.exporter.not_served
    assert masked_names(differences(theirs, ours(scene, peer))) == peer.all_differences
    assert masked(theirs) == recorded(name)


@each_peer
def test_documentation_gives_the_reason_for_every_difference(name: str) -> None:
    (section,) = re.findall(rf"^### {name}\n(.*?)(?=^##|\Z)", DOCS, re.MULTILINE | re.DOTALL)
    common = DOCS.partition("## Names of other exporters")[2].partition("###")[0]
    for reason in PEERS[name].differences:
        assert reason in " ".join((common + section).split()), reason
