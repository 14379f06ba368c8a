"""The Go types of the built-in kinds: what decoding a JSON body into them and encoding it again leaves.

    decoded = shape("v1", "Pod").decode(body)   # raises TypeMismatch in Go's words
    decoded.object                              # unknown fields dropped, zero values as Go writes them once stored
    decoded.unknown                             # ["spec.containers[0].bogus"]

The facts are in `data/shapes.json`, derived by `tools/make_tables.py`; a kind is compiled when it is first decoded.
Defaults, validation and custom resources are other modules' business.
"""

from hardpoint.machinery.shapes.refusals import TypeMismatch
from hardpoint.machinery.shapes.shape import Decoded, Field, Shape, find, named, shape

__all__ = ["Decoded", "Field", "Shape", "TypeMismatch", "find", "named", "shape"]
