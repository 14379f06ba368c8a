"""Who may do what: the authorizers, a file each, and the order they are asked in (`chain.py`)."""
