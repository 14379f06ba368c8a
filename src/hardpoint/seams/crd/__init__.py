"""Custom resources: a new API, described by a definition, and converted between its versions by whoever wrote it."""
