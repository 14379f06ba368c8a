"""Where a cluster's objects live: revisions, compare-and-swap, ordered watches, compaction.

`contract.py` says what every engine promises; `memory`, `sqlite` and `etcd` keep it; `tests/store/` holds them to it.
"""
