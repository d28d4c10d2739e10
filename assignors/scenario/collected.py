"""The errors and warnings that the checks of a scenario file collect."""

from dataclasses import dataclass, field

from assignors.scenario.problems import MOST_PROBLEMS, Path


class EnoughError(Exception):
    """The limit of errors is reached: more are of no use, and suggestions take time."""


@dataclass(frozen=True, slots=True)
class Findings:
    """Errors and warnings by path: the first one of each path, at most 20 of each kind."""

    errors: dict[Path, str] = field(default_factory=dict)
    warnings: dict[Path, str] = field(default_factory=dict)

    def error(self, path: Path, sentence: str) -> None:
        """Add an error. Raises EnoughError when the limit is reached."""
        self.errors.setdefault(path, sentence)
        if len(self.errors) == MOST_PROBLEMS:
            raise EnoughError

    def warn(self, path: Path, sentence: str) -> None:
        """Add a warning: Kafka allows this, but it may not be intended."""
        if self.may_warn:
            self.warnings.setdefault(path, sentence)

    @property
    def may_warn(self) -> bool:
        """Whether there is room for one more warning."""
        return len(self.warnings) < MOST_PROBLEMS
