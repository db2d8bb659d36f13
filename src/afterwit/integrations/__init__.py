"""Afterwit behind the interfaces of agent frameworks; each module needs the extra of its name."""
