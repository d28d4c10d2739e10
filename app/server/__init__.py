"""The server process: settings, collectors, routes, and the Streamlit app inside it."""
