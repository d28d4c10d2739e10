"""The pages, and the cluster picker when there is more than one cluster."""

from pathlib import Path

import streamlit as st

from app import source, state

st.set_page_config(
    page_title="groupscope",
    page_icon=Path(__file__).with_name("icon.svg"),
    layout="wide",
    initial_sidebar_state="collapsed",
)

pages = [
    st.Page("views/overview.py", title="Overview", url_path="overview", default=True, help="Which group needs me now?"),
    st.Page("views/group.py", title="Group", url_path="group", help="What is wrong inside one group?"),
    st.Page("views/history.py", title="History", url_path="history", help="Since when, how often, how bad?"),
    st.Page("views/topics.py", title="Topics", url_path="topics", help="Who reads a topic, and who is behind?"),
    st.Page(
        "views/whatif.py", title="What if", url_path="whatif", help="What moves, who idles, how fast does it drain?"
    ),
    st.Page("views/generations.py", title="Generations", url_path="generations", help="What happened, step by step?"),
    st.Page("views/sweeps.py", title="Sweeps", url_path="sweeps", help="Which assignor and how many members?"),
    st.Page("views/advice.py", title="Advice", url_path="advice", help="Will these settings hurt?"),
    st.Page(
        "views/about.py", title="About", url_path="about", help="Versions, settings, data age, limits, reporting a bug"
    ),
]
if source.current().demo is not None:
    pages.insert(
        7, st.Page("views/demo.py", title="Demo", url_path="demo", help="Drive the workload of the demo cluster")
    )
labs = [
    st.Page(
        "views/protocol.py", title="Protocol lab", url_path="protocol", help="Why does a rebalance take this long?"
    ),
    st.Page("views/delivery.py", title="Delivery lab", url_path="delivery", help="What is processed twice or lost?"),
    st.Page(
        "views/watermark.py", title="Watermark lab", url_path="watermark", help="When is a record visible, when lost?"
    ),
    st.Page("views/calls.py", title="Call lab", url_path="calls", help="What does Kafka answer, call by call?"),
]

page = st.navigation({"": pages, "Labs": labs}, position="top")
clusters = list(source.current().feeds)
if len(clusters) > 1:
    chosen = state.cluster()
    st.session_state["cluster_picker"] = chosen
    st.selectbox(
        "Cluster",
        clusters,
        key="cluster_picker",
        width=280,
        label_visibility="collapsed",
        on_change=lambda: state.choose_cluster(st.session_state["cluster_picker"]),
    )
page.run()
