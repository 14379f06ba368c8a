"""Role-based access control: what roles allow (`permissions.py`), who holds them (`holders.py`), who may give them."""
