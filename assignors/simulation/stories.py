"""The stories of the protocol lab: scenarios of a group of three members. They are in `stories.yaml`."""

from collections.abc import Mapping
from pathlib import Path

from assignors.scenario.build import build
from assignors.scenario.schema import ScenarioFile
from assignors.scenario.syntax import read_bundled
from assignors.whatif.events import Scenario


def _read(path: Path) -> Mapping[str, Scenario]:
    stories = read_bundled(path)
    common = stories.pop("common")
    return {name: build(ScenarioFile.model_validate(common | values)) for name, values in stories.items()}


STORIES = _read(Path(__file__).with_name("stories.yaml"))
"""The stories by their names in links; the lab opens at the first. `name` is a title, `description` what it shows."""
