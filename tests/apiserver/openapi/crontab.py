"""A custom resource to test with."""

from __future__ import annotations

from typing import Any

from hardpoint.machinery.kinds import Kind, Subresource

Json = dict[str, Any]


EVERYTHING = ("create", "delete", "deletecollection", "get", "list", "patch", "update", "watch")
CRONTAB = Kind(
    *("stable.example.com", "v1", "CronTab", "crontabs", "crontab", True, EVERYTHING),
    subresources=(Subresource("scale", ("get", "patch", "update"), "autoscaling", "v1", "Scale"),),
)
CRONTAB_SCHEMA: Json = {
    "description": "Something to do at times.",
    "type": "object",
    "properties": {"spec": {"type": "object", "properties": {"cron": {"type": "string", "description": "The times."}}}},
}
