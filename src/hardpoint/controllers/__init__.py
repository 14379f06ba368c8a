"""The controllers of a cluster, a file each. They meet the API server only through the client.

`manager.py` runs them together; `metadata of everything` reaches them through `hardpoint.runtime.metadata`.
"""
