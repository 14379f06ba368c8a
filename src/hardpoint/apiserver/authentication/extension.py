"""What extension API servers need to know of authentication: whose certificates count, and whose headers.

They read it from the ConfigMap kube-system/extension-apiserver-authentication, as every server written with
Kubernetes' own library does.
"""

from __future__ import annotations

from typing import Any

import orjson

from hardpoint.apiserver.authentication.options import AuthenticationOptions

Json = dict[str, Any]

COLLECTION = "/api/v1/namespaces/kube-system/configmaps"
NAME = "extension-apiserver-authentication"


def config_map(options: AuthenticationOptions) -> Json:
    data = {}
    if options.client_ca_file is not None:
        data["client-ca-file"] = options.client_ca_file.read_text()
    proxy = options.front_proxy
    if proxy.ca_file is not None:
        data["requestheader-client-ca-file"] = proxy.ca_file.read_text()
        for name, values in (
            ("allowed-names", proxy.allowed_names),
            ("username-headers", proxy.headers.username),
            ("uid-headers", proxy.headers.uid),
            ("group-headers", proxy.headers.group),
            ("extra-headers-prefix", proxy.headers.extra_prefix),
        ):
            data[f"requestheader-{name}"] = orjson.dumps(values).decode()
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": NAME}, "data": data}
