"""The API server: a request's walk from bytes to the store and back."""
