"""Every page of the dashboard, in the order of the navigation: the one place that lists them."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class PageInfo:
    """A page: its folder under `app/views`, its title, and the question that it answers."""

    folder: str
    title: str
    question: str
    section: str = ""

    @property
    def name(self) -> str:
        """The page's name in the URL."""
        return self.folder.rpartition("/")[2]

    @property
    def script(self) -> str:
        """The page's script, relative to `app`."""
        return f"views/{self.folder}/page.py"


LABS = "Labs"
PAGES = (
    PageInfo("overview", "Overview", "Which groups need attention now?"),
    PageInfo("group", "Group", "What is wrong inside one group?"),
    PageInfo("history", "History", "Since when, how often, how bad?"),
    PageInfo("topics", "Topics", "Who reads a topic, and who is behind?"),
    PageInfo("whatif", "What if", "What would move, who would be idle, and how fast would the lag drain?"),
    PageInfo("generations", "Generations", "What happened in each rebalance?"),
    PageInfo("sweeps", "Sweeps", "Which assignor and how many members?"),
    PageInfo("demo", "Demo", "Control the workload of the demo cluster"),
    PageInfo("advice", "Advice", "Which settings cause problems?"),
    PageInfo("about", "About", "Versions, settings, age of the data, limits, bug reports"),
    PageInfo("labs/protocol", "Protocol lab", "Why does a rebalance take this long?", LABS),
    PageInfo("labs/delivery", "Delivery lab", "What is processed twice or lost?", LABS),
    PageInfo("labs/watermark", "Watermark lab", "When is a record visible, when lost?", LABS),
    PageInfo("labs/calls", "Call lab", "What does Kafka answer, call by call?", LABS),
)
BY_NAME = {page.name: page for page in PAGES}
EMBEDDED_ONLY = frozenset({"demo"})
"""Pages that control the embedded Kafka, and are listed only with it."""
