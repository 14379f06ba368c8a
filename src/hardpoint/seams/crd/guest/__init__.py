"""The author's side of custom resources: classes that are read, written, described, converted and imported.

`resource` is what authors derive from; `codec` compiles a class out of `wire` (JSON to Python and back) and `schema`
(the structural schema); `definition` makes CustomResourceDefinitions of the classes of an App; `conversion` converts
between versions behind a webhook; `source` writes the classes for a definition that exists.
"""
