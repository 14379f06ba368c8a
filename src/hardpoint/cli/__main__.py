"""`python -m hardpoint.cli`, for where no script is installed."""

from hardpoint.cli import main

if __name__ == "__main__":
    main()
