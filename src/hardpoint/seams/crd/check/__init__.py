"""Are definitions of custom resources what API servers, objects and clients can live with?

subject.py         what is checked: definitions, their past, their converter
accepting.py       a server takes them, and what they point to is there
values.py          what becomes of objects: defaults, pruning
compatibility.py   between versions, and with an earlier release
converting.py      what a conversion webhook does to objects
"""

from hardpoint.runtime.promises import Promises
from hardpoint.seams.crd.check import accepting, compatibility, converting, values
from hardpoint.seams.crd.check.subject import FreshCluster, Subject

promises: Promises[Subject] = Promises()
for part in (accepting, values, compatibility, converting):
    promises.include(part.promises)

__all__ = ["FreshCluster", "Subject", "promises"]
