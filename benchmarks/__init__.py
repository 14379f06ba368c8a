"""How fast Hardpoint is, measured next to kube-apiserver and etcd in the same run: `python -m benchmarks --help`.

load/          the load generator, in Go, and fallback.py where there is no Go
generator.py   builds and calls it
server.py      a server: its start, its end, its memory and processor time; ours.py and real.py are the two
objects.py     what is created
scenarios.py   what is measured of running servers; starting.py of starts; growth.py as the store fills up
report.py      medians, ratios, goals, the table; page.py puts them into docs/performance.md
machine.py     what it was measured on
"""
