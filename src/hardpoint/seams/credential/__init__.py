"""Credentials that a program gets for a client: what a kubeconfig's `exec` section runs."""
