"""The words of a credential plugin: `from hardpoint.credential import ExecInfo, Token`."""

from hardpoint.seams.credential.guest import ClientCertificate, Cluster, ExecInfo, Token

__all__ = ["ClientCertificate", "Cluster", "ExecInfo", "Token"]
