"""The places where Kubernetes is extended: one folder a seam, each with contract, host, guest and check."""
