"""Handlers: functions for what happened to an object, over the same loop that looks at what it is.

- `handler` is what a decorator makes of a function; `guest` is all the handlers of a resource together.
- `essence` says what of an object counts as a change, `progress` what is remembered on it, `memory` what is not.
- `handling` is what is done in one `look` at one object, over `attempts`, `remembering` and `events`; `daemons` run
  beside the looks.
"""
