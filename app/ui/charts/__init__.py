"""Typed data in, `plotly.graph_objects.Figure` out. No Streamlit."""
