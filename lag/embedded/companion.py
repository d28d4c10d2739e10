"""A process of ours beside the brokers of an embedded cluster: it works in the cluster's folder and ends with it."""

from pathlib import Path

from lag.embedded.supervisor_client import Keeper, log_tail

_SAID_NOTHING = "it wrote nothing"


class Beside:
    """Such a process, from `EmbeddedKafka.run_beside`; what it writes goes to a log in the folder."""

    def __init__(self, name: str, keeper: Keeper, folder: Path, command: list[str]) -> None:
        self._name, self._keeper, self._log = name, keeper, folder / f"{name}.log"
        self.pid = keeper.start(name, command, self._log)

    def last_words(self) -> str | None:
        """The last line that it wrote, once it has ended; None while it runs. Raises EmbeddedError after the cluster's
        end.
        """
        if self._keeper.poll(self._name) is None:
            return None
        return (log_tail(self._log, 1) or [_SAID_NOTHING])[0]
