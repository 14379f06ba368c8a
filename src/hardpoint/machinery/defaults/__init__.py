"""What the server fills in where a client says nothing, kind by kind.

Each module exports `DEFAULTS`, from Kind to a function that completes a decoded object in place. It is imported when
the first object of such a kind arrives. Functions see objects as `shapes` decodes them: absent means nil or zero.
"""
