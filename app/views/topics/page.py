"""Who reads this topic, and who is behind?"""

from app.ui import state, widgets
from app.views.topics import topic, topics

widgets.follow()
page = widgets.require_report()
chosen = state.url("topic")
if chosen is None:
    topics.all_topics(page)
else:
    topic.one_topic(page, chosen)
