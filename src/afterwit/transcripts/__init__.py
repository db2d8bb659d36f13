"""Readers of the session files that agents' clients keep: what was asked, done, said and came back, as steps of tasks.

What each client writes into the user's name without the user having said it (hook output, instruction files,
reminders, summaries) is told apart, and never given as the user's words. Secrets are still in it: logging steps takes
them out.
"""

from afterwit.transcripts.clients import CLIENTS, Client, client_named, detect, find_sessions, sessions_in
from afterwit.transcripts.nouns import Cursor, Header, Item, Reading, SessionFile, Turn
from afterwit.transcripts.reading import read_session

__all__ = [
    "CLIENTS",
    "Client",
    "Cursor",
    "Header",
    "Item",
    "Reading",
    "SessionFile",
    "Turn",
    "client_named",
    "detect",
    "find_sessions",
    "read_session",
    "sessions_in",
]
