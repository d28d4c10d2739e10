"""Every page of the dashboard, in the order of the navigation: the one place that lists them."""

from dataclasses import dataclass

SCRIPT = "page"
"""The module of a page's folder that Streamlit runs; it is never imported."""


@dataclass(frozen=True, slots=True)
class PageInfo:
    """A page: its folder under `app/views`, its title, and the question that it answers.

    `shows_group`: the page takes a group from the URL.
    """

    folder: str
    title: str
    question: str
    section: str = ""
    shows_group: bool = False

    @property
    def name(self) -> str:
        """The page's name in the URL."""
        return self.folder.rpartition("/")[2]

    @property
    def script(self) -> str:
        """The page's script, relative to `app`."""
        return f"views/{self.folder}/{SCRIPT}.py"


PLAN = "Plan"
LEARN = "Learn"
PAGES = (
    PageInfo("overview", "Overview", "Which groups need attention now?"),
    PageInfo("group", "Group", "What is wrong inside one group?", shows_group=True),
    PageInfo("topics", "Topics", "Who reads a topic, and who is behind?"),
    PageInfo("generations", "Generations", "What happened in each rebalance?", shows_group=True),
    PageInfo("history", "History", "Since when, how often, how bad?", shows_group=True),
    PageInfo("whatif", "What if", "What would move, who would be idle, and how fast would the lag drain?", PLAN, True),
    PageInfo("sweeps", "Sweeps", "Which assignor and how many members?", PLAN, True),
    PageInfo("reset", "Reset offsets", "What would a reset of a group's offsets do?", PLAN, True),
    PageInfo("advice", "Advice", "Which settings cause problems?", PLAN),
    PageInfo("labs/protocol", "Protocol lab", "Why does a rebalance take this long?", LEARN),
    PageInfo("labs/delivery", "Delivery lab", "What is processed twice or lost?", LEARN),
    PageInfo("labs/watermark", "Watermark lab", "When is a record visible, and when is one lost?", LEARN),
    PageInfo("labs/calls", "Call lab", "What does Kafka answer, call by call?", LEARN),
    PageInfo("demo", "Demo", "Control the workload of the demo cluster", LEARN),
    PageInfo("audit", "Audit", "Who did what, when, and from where?"),
    PageInfo("about", "About", "Versions, settings, age of the data, limits, bug reports"),
)
BY_NAME = {page.name: page for page in PAGES}
EMBEDDED_ONLY = frozenset({"demo"})
"""Pages that control the embedded Kafka, and are listed only with it."""
IN_MENU = frozenset({"about", "audit"})
"""Pages that the main menu links to instead of the navigation."""
FOR_ADMINS = frozenset({"audit"})
"""Pages for admins only, if a login is configured."""
FOLLOW_GROUP = frozenset({"group", "generations", "history", "whatif", "reset"})
"""Pages that open with the group that was shown before."""
