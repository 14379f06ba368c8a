"""The cluster's side of the controller seam, as hard on its guests as production is.

record.py     what was asked, in order
faults.py     what may happen to a request, and the seeded plan that says to which it does
streams.py    what may happen to a watch
unruly.py     the API that does all that
reaching.py   how a controller finds it
"""

from hardpoint.seams.controller.host.faults import Fault, Plan
from hardpoint.seams.controller.host.reaching import make_pki, reachable
from hardpoint.seams.controller.host.record import Asked, Record, Where
from hardpoint.seams.controller.host.unruly import MARK, SOMEBODY_ELSE, UnrulyApi

__all__ = [
    "MARK",
    "SOMEBODY_ELSE",
    "Asked",
    "Fault",
    "Plan",
    "Record",
    "UnrulyApi",
    "Where",
    "make_pki",
    "reachable",
]
