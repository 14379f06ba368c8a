"""The in-tree admission plugins, a file each, in kube-apiserver's order."""

from __future__ import annotations

from hardpoint.apiserver.admission.chain import Chain
from hardpoint.apiserver.admission.contract import Reader
from hardpoint.apiserver.admission.namespace_lifecycle import NamespaceLifecycle


def chain(reader: Reader) -> Chain:
    """Every plugin that is on by default."""
    return Chain([NamespaceLifecycle()], [], reader)
