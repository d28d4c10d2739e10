"""The HTTP API: read-only JSON about clusters and groups.

`endpoint.py` says what an endpoint is; each module of `endpoints` has its own, and `routes.py` lists all. Routes and
the OpenAPI document are made from that list.
"""
