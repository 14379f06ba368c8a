"""Ask two API servers the same questions and tell where their answers differ.

`bases/` holds objects of every kind, written to be rich rather than sensible; `mutations` breaks them in small ways;
`rounds` turns each into a request, for every way there is to write an object; `servers` asks; `normal` takes out of an
answer what no two servers have in common; `causes` groups what is left by what seems to be behind it.
"""
