"""The version, for who must know it without importing more."""

VERSION = "0.1.0"
