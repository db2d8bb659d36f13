"""Packages that some tests need and that an installation may lack."""

import importlib.util
import os

import pytest


def need(*modules: str) -> None:
    """Skip the whole test module, loudly, where one of the modules is not installed; fail where all are required."""
    missing = [module for module in modules if importlib.util.find_spec(module) is None]
    if missing:
        reason = f"{' and '.join(missing)} is not installed; run: make test, or pip install -e '.[dev]'"
        if os.environ.get("AFTERWIT_REQUIRE_CLIENTS"):
            pytest.fail(reason, pytrace=False)
        pytest.skip(reason, allow_module_level=True)
