"""Paths in file systems, as objects name them: relative ones that stay where they are, and absolute ones."""

from __future__ import annotations

from hardpoint.machinery.fielderrors import FieldError, invalid


def no_backsteps(errors: list[FieldError], field: str, path: str) -> None:
    """No part of the path is `..`."""
    if ".." in path and ".." in path.split("/"):
        errors.append(invalid(field, path, "must not contain '..'"))


def descending(errors: list[FieldError], field: str, path: str) -> None:
    """A relative path that never climbs."""
    if path.startswith("/"):
        errors.append(invalid(field, path, "must be a relative path"))
    no_backsteps(errors, field, path)


def descending_unreserved(errors: list[FieldError], field: str, path: str) -> None:
    """A descending path that leaves names beginning with two dots to the kubelet."""
    descending(errors, field, path)
    if path.startswith("..") and not path.startswith("../"):
        errors.append(invalid(field, path, "must not start with '..'"))
