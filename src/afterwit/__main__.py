"""`python -m afterwit`: the command line."""

from afterwit.cli import main

if __name__ == "__main__":
    main()
