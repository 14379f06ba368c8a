"""CustomResourceDefinitions at work: from a definition to kinds that are served, and back to nothing.

`definitions` makes kinds of a definition, `names` decides which of its names are free, `conditions` writes down what
became of it, `serving` keeps the registry true and moves definitions on, `removal` takes the objects of one that goes.
"""
