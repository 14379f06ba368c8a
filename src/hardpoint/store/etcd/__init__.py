"""The store past one machine: a real etcd, over its own gRPC API.

`calls` names the calls, `endpoints` finds a member that answers and tells lost answers from refusals, `watch` resumes
streams, `leases` makes keys expire, `store` keeps the contract with them. Needs `pip install hardpoint[etcd]`.
"""

from hardpoint.store.etcd.store import EtcdStore

__all__ = ["EtcdStore"]
