"""The controllers of a cluster, a file each. They know an API server only through the client.

`manager.py` runs them together, over one view of the metadata of everything (`hardpoint.runtime.metadata`).
"""
