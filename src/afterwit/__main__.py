"""`afterwit` and `python -m afterwit`: the fast door where it will do, else the whole command line."""

import sys

from afterwit import door


def main() -> None:
    """Run and exit."""
    if door.run(sys.argv[1:]):
        return
    if sys.flags.no_site:
        import site  # noqa: PLC0415  hooks start without, see `cli.clients.launch`

        site.main()
    from afterwit.cli import main as whole  # noqa: PLC0415  a fifth of a second that the fast door does not need

    whole()


if __name__ == "__main__":
    main()
