"""What makes an object of a built-in kind invalid.

Each module exports `CREATE`, from Kind to a function of the object, and `UPDATE`, of the new and the old object; each
returns every FieldError it finds, in the order kube-apiserver tells them. It is imported when the first object of
such a kind arrives. Object metadata is checked here for every kind alike; see `metadata.py`.
"""
