"""CustomResourceDefinitions at work: from a definition to kinds that are served, and back to nothing.

`lifecycle` follows the definitions there are and leaves the rest to others: `judging` decides what becomes of one, with
`names` and `approval`; `conditions` knows how that is said and `writing` writes it; `serving` keeps the registry true,
with the kinds that `definitions` makes; `removal` takes the objects of a definition that goes.
"""
