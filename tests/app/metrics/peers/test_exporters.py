"""Each set of names beside the exporter whose names they are: the same series with the same values.

What the exporters served for the scenario, and how we differ, is in tests/fixtures/exporters. Where an exporter is
installed, it is asked again.
"""

import re
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from app.metrics.view import Polled
from lag.cluster.connection.settings import load_settings
from lag.cluster.reader import open_reader
from lag.embedded.broker import EmbeddedKafka
from lag.polling.report import CollectorStatus
from tests.app.metrics.clusters import report, text
from tests.app.metrics.peers import scenario
from tests.app.metrics.peers.exporters import BURROW, FOLDER, KAFKA_EXPORTER, KMINION, Exporter, running, scrape
from tests.app.metrics.peers.scenario import Scene
from tests.app.metrics.peers.series import (
    Differences,
    Series,
    differences,
    explained,
    masked,
    name_of,
    recorded,
    series,
)

pytestmark = [pytest.mark.broker, pytest.mark.timeout(600)]  # a loaded machine takes minutes to start all members

DOCS = (Path(__file__).parents[4] / "docs" / "metrics.md").read_text()


EXPORTERS = {"kafka-exporter": KAFKA_EXPORTER, "kminion": KMINION, "burrow": BURROW}
"""By the set of their names."""

each_exporter = pytest.mark.parametrize(("names", "exporter"), EXPORTERS.items(), ids=EXPORTERS)


@pytest.fixture(scope="module")
def scene() -> Iterator[Scene]:
    with scenario.at_rest() as made:
        yield made


def ours(scene: Scene, names: str) -> Series:
    return series(text(scene.polled, names=(names,)), EXPORTERS[names].prefix)


def all_explained(exporter: Exporter) -> Differences:
    return frozenset().union(*explained(exporter.program).values())


@each_exporter
def test_series_are_those_that_the_exporter_had(scene: Scene, names: str, exporter: Exporter) -> None:
    assert differences(recorded(exporter.program), masked(ours(scene, names))) == all_explained(exporter)


@each_exporter
def test_series_are_those_that_the_exporter_has(scene: Scene, names: str, exporter: Exporter, tmp_path: Path) -> None:
    skip_if_not_built(exporter)
    with running(exporter, scene.kafka.bootstrap_servers, tmp_path) as served:
        whole = series(scrape(exporter, served), exporter.prefix)
    theirs = {line: value for line, value in whole.items() if name_of(line) not in exporter.not_served}
    assert {name_of(line) for line in whole.keys() - theirs.keys()} <= exporter.not_served
    assert differences(theirs, ours(scene, names)) == all_explained(exporter)
    assert masked(theirs) == recorded(exporter.program)


def test_kminion_and_we_are_up_where_everything_can_be_read(kafka: EmbeddedKafka, tmp_path: Path) -> None:
    """In the scene it is down: a partition has no leader."""
    with closing(open_reader(load_settings(kafka.bootstrap_servers, None, {}), "prod")) as reader:
        snapshot = reader.read(1, 0)
    assert up(text(Polled("prod", report([snapshot]), CollectorStatus(1.0, polls=1), 0), names=("kminion",))) == ["1"]
    skip_if_not_built(KMINION)
    with running(KMINION, kafka.bootstrap_servers, tmp_path) as served:
        assert up(scrape(KMINION, served)) == ["1"]


def skip_if_not_built(exporter: Exporter) -> None:
    if exporter.path is None:
        pytest.skip(
            f"{exporter.program} is not on PATH or in the folder that {FOLDER} names: docs/contributing.md builds it"
        )


def up(exposition: str) -> list[str]:
    found = series(exposition, "kminion_exporter_up")
    return list(found.values())


@each_exporter
def test_documentation_gives_the_reason_for_every_difference(names: str, exporter: Exporter) -> None:
    (section,) = re.findall(rf"^### {exporter.program}\n(.*?)(?=^##|\Z)", DOCS, re.M | re.S | re.I)
    common = DOCS.partition("## Names of other exporters")[2].partition("###")[0]
    for reason in explained(exporter.program):
        assert reason in " ".join((common + section).split()), reason
