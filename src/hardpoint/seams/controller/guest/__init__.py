"""The author's side of the controller seam: what a controller declares, what its functions get, how it works.

- `controller` is what `@app.controller` makes of a function, over `declared` and `predicates`.
- `handlers` is what the other decorators make of theirs; a controller and all handlers of a resource are each a
  `follower` to the rest of the house.
- `context` and `plain` are what the function gets besides the object; `reading` is their cache, and `indexing` finds
  objects in it.
- `work` finds whom a change concerns; `reconciling` is one look at one object, `calling` one call in it, `outcome` what
  that changed.
"""
