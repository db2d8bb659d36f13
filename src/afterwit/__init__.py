"""Afterwit: long-term memory for LLM agents that turns what has happened into what to do next time."""
