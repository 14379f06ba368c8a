"""What the server does to an object just before it is validated: reset what clients may not set, derive the rest.

Each module exports `CREATE`, from Kind to a function of the new object, and `UPDATE`, of the new and the old object;
both change the new object in place. It is imported when the first object of such a kind arrives.
"""
