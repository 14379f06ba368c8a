"""What controllers are made of: a queue of things to look at, and a view of every object's metadata."""
