"""Admission: what may change an object before it is validated, and refuse it after.

`contract.py` says what a plugin is, `plugins.py` which there are and in which order, `chain.py` runs them; the plugins
themselves are a file each.
"""
