"""Hardpoint: every Kubernetes extension point, on both sides, in Python."""

__version__ = "0.1.0"
