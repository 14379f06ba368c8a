"""`hardpoint` that says everything it has to say: `python verbose.py up ...`."""

from __future__ import annotations

import logging

from hardpoint.cli import logs, main

if __name__ == "__main__":
    to_stderr = logs.to_stderr
    logs.to_stderr = lambda level=0: to_stderr(logging.DEBUG)
    main()
