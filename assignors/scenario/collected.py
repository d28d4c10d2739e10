"""What a check collects: errors, which make the file no scenario, and warnings, which do not."""

from dataclasses import dataclass, field

from assignors.scenario.problems import MOST_PROBLEMS, Path


class EnoughError(Exception):
    """As many errors are found as anybody wants to read: looking up what each was meant to be takes time."""


@dataclass(frozen=True, slots=True)
class Findings:
    """Sentences by the path that they are about: of each path the first, and of each kind the first 20."""

    errors: dict[Path, str] = field(default_factory=dict)
    warnings: dict[Path, str] = field(default_factory=dict)

    def error(self, path: Path, sentence: str) -> None:
        """The file is no scenario because of this. Raises EnoughError at the last one."""
        self.errors.setdefault(path, sentence)
        if len(self.errors) == MOST_PROBLEMS:
            raise EnoughError

    def warn(self, path: Path, sentence: str) -> None:
        """Kafka allows this, but it may not be meant."""
        if self.may_warn:
            self.warnings.setdefault(path, sentence)

    @property
    def may_warn(self) -> bool:
        """Whether one more warning would be kept."""
        return len(self.warnings) < MOST_PROBLEMS
