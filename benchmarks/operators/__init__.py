"""The same operator twice, and what it takes to run it, load it and weigh it: see benchmarks/controllers.py."""
