"""Who is asking: the authenticators, a file each, and the order they are asked in (`chain.py`)."""
