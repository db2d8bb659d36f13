"""The `afterwit` command: parses, calls the service, prints. Nothing heavy is imported before a
command needs it, so that `--help` answers at once."""

from afterwit.cli.root import cli, main

__all__ = ["cli", "main"]
