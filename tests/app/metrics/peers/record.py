"""`python -m tests.app.metrics.peers.record`: keep what the installed exporters say of the scenario."""

import tempfile
from pathlib import Path

from tests.app.metrics.peers import scenario
from tests.app.metrics.peers.exporters import running, scrape
from tests.app.metrics.peers.series import name_of, record, series
from tests.app.metrics.peers.test_exporters import PEERS

if __name__ == "__main__":
    with scenario.at_rest() as kafka, tempfile.TemporaryDirectory() as folder:
        for name, peer in PEERS.items():
            if peer.exporter.path is not None:
                with running(peer.exporter, kafka.bootstrap_servers, Path(folder)) as address:
                    found = series(scrape(address), peer.exporter.prefix)
                record(name, {s: v for s, v in found.items() if name_of(s) not in peer.exporter.not_served})
