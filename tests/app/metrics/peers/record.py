"""`python -m tests.app.metrics.peers.record`: keep what the installed exporters say of the scenario."""

import tempfile
from pathlib import Path

from tests.app.metrics.peers import scenario
from tests.app.metrics.peers.exporters import running, scrape
from tests.app.metrics.peers.series import name_of, record, series
from tests.app.metrics.peers.test_exporters import EXPORTERS

if __name__ == "__main__":
    with scenario.at_rest() as scene, tempfile.TemporaryDirectory() as folder:
        for exporter in EXPORTERS.values():
            if exporter.path is not None:
                with running(exporter, scene.kafka.bootstrap_servers, Path(folder)) as served:
                    found = series(scrape(exporter, served), exporter.prefix)
                kept = {line: value for line, value in found.items() if name_of(line) not in exporter.not_served}
                record(exporter.program, kept)
