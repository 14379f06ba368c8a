"""The words of a credential plugin: `from hardpoint.credential import ExecInfo, Token`.

`ExecPlugins` is for those who run plugins: `Client.from_kubeconfig(plugins=ExecPlugins())`.
"""

from hardpoint.seams.credential.guest import ClientCertificate, Cluster, ExecInfo, Token
from hardpoint.seams.credential.host import ExecPlugins

__all__ = ["ClientCertificate", "Cluster", "ExecInfo", "ExecPlugins", "Token"]
