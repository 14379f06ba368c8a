"""Talk to any Kubernetes API server: over HTTPS with a kubeconfig, or in-process with a handler.

- `client` has the verbs, over `collection` (lists, watches), `discovery` (what a server has), `resources`, `options`.
- `watch` follows a collection for ever; `picture` is its state machine, `events` and `backoff` its parts.
- `transport` says what carries a request: `http` (over `pool`, `connection`, `tls`, `inflate`) or `inprocess`, each
  wrapped in `retries`; `answers` reads what comes back.
- `kubeconfig` (over `filechange`), `endpoint` and `credentials` know where a server is and how it knows us.
"""
