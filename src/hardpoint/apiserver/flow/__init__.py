"""Who is served when there is too much to do: flows, levels, seats, turns."""
