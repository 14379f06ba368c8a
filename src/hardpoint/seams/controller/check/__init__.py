"""Does a controller keep the promises of its seam? It is run as its users run it, in whatever language it is.

program.py       its process
trial.py         one run: a fresh cluster, an API that misbehaves by plan, the controller
state.py         what a run ended in, comparable with others
undisturbed.py   what it does when nothing goes wrong
disturbed.py     what it does when the API, the network and others do their worst
crashing.py      what it makes up for after crashes and missed events, and what it leaves behind
neighbours.py    what it does to fields of others, and what objects of others do to it
leading.py       what it does without its lease
rights.py        what it needs to be allowed
"""

from hardpoint.runtime.promises import Promises
from hardpoint.seams.controller.check import crashing, disturbed, leading, neighbours, rights, undisturbed
from hardpoint.seams.controller.check.trial import Bench, FreshCluster

promises: Promises[Bench] = Promises()
for part in (undisturbed, disturbed, crashing, neighbours, leading, rights):
    promises.include(part.promises)

__all__ = ["Bench", "FreshCluster", "promises"]
