"""Who reads this topic, and who is behind?"""

from app.ui import required_report, state, widgets
from app.views.topics.all_topics import all_topics
from app.views.topics.one_topic import one_topic

widgets.follow()
page = required_report.require_report()
chosen = state.url("topic")
if chosen is None:
    all_topics(page)
else:
    one_topic(page, chosen)
