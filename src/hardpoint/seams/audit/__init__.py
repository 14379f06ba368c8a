"""Auditing: the cluster tells somebody what was asked of it, by whom, and how it answered."""
