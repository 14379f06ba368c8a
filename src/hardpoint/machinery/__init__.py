"""What a Kubernetes API is made of, as pure values and functions: no socket, file handle, clock, task or log."""
