"""Make the same random writes, in the same order, to two API servers and tell where their answers differ.

`drawing` draws values; `builtin`, `workloads` and `schemas` say what an object of a kind may look like; `steps` turns a
seed into a sequence of writes by several managers; `running` makes them and compares; `shrinking` drops what a
difference does not need. What it takes to ask a server comes from `tools.differ`.
"""
