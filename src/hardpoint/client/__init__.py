"""Talk to any Kubernetes API server: over HTTPS with a kubeconfig, or in-process with a handler."""
