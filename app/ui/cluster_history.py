"""The history of the cluster that a page shows. Its tables stay open, shared by all pages and sessions."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import streamlit as st

from app.server import source
from app.server.access.visitor import Grant, Role, Visitor
from app.ui.state import Shown

if TYPE_CHECKING:
    from lag.history.queries import HistoryQueries


@dataclass(frozen=True, slots=True)
class ClusterHistory:
    """The history of one cluster: the folder or URL of its tables, the cluster's id and name, and who may see it.

    `grants` None: everybody.
    """

    root: str
    cluster: str
    name: str = ""
    grants: tuple[Grant, ...] | None = None

    def sees(self, group_id: str) -> bool:
        """Whether the group may be seen."""
        return self.grants is None or Visitor(grants=self.grants).may(Role.VIEWER, self.name, group_id)


def cluster_history(page: Shown) -> ClusterHistory | None:
    """The history of the page's cluster; None if the dashboard records none."""
    root, cluster = source.current().settings.history, page.report.snapshot.cluster_id
    return None if root is None or cluster is None else ClusterHistory(root, cluster, page.cluster, page.grants)


@st.cache_resource(max_entries=16, show_spinner=False)
def queries(history: ClusterHistory) -> "HistoryQueries":
    """The queries of that history."""
    from lag.history.queries import HistoryQueries
    from lag.history.store import History  # deltalake is needed only with a history

    return HistoryQueries(History(history.root), history.cluster, history.sees)
