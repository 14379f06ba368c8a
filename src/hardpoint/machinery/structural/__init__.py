"""Structural schemas: what a CustomResourceDefinition says about one version of its objects, made to work.

    kind.structure                    # None for built-in kinds, else the Structure of the kind in its version
    kind.structure.schema             # its openAPIV3Schema as it is stored, not to be changed
    kind.structure.decode(body)       # like a built-in shape's: unknown fields dropped, metadata as Go writes it
    kind.structure.rules              # what `areas.rule` finds for it: defaults, validation, warnings

A schema is compiled into closures, each part when it is first needed: a thousand definitions of which three are used
cost what three cost. The closures answer yes or no; where they say no, `explained` walks the same value again, slowly,
and finds kube-apiserver's words. So it is with rules in CEL: `passing` says yes or no, `judged` why.
"""

from hardpoint.machinery.structural.scale import Scale
from hardpoint.machinery.structural.structure import Stored, Structure
from hardpoint.machinery.structural.versions import ConversionFailed, Converter

__all__ = ["ConversionFailed", "Converter", "Scale", "Stored", "Structure"]
