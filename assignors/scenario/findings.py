"""What a check collects: errors, which make the file no scenario, and warnings, which do not."""

from dataclasses import dataclass, field

from assignors.scenario.problems import Path


@dataclass(frozen=True, slots=True)
class Findings:
    """Sentences by the path that they are about; of each path the first."""

    errors: dict[Path, str] = field(default_factory=dict)
    warnings: dict[Path, str] = field(default_factory=dict)

    def error(self, path: Path, sentence: str) -> None:
        """The file is no scenario because of this."""
        self.errors.setdefault(path, sentence)

    def warn(self, path: Path, sentence: str) -> None:
        """Kafka allows this, but it may not be meant."""
        self.warnings.setdefault(path, sentence)
